# SPDX-License-Identifier: Apache-2.0
"""Compares captures: host.pcap, `gradnic pcap --direction tx` of it, and rx of that again.

usage: pcap.py HOST WIRE BACK K KIND [--cut MTU]
Without --cut, packet i of one capture is packet i of the others. With it, TCP packets above the MTU
were cut. TCP is then compared as streams of bytes.
"""
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "golden"))
import packets  # noqa: E402  (a second implementation of the wire format)


def read_capture(path):
    data = pathlib.Path(path).read_bytes()
    unit = {0xA1B2C3D4: 1000, 0xA1B23C4D: 1}[struct.unpack_from("<I", data)[0]]
    assert struct.unpack_from("<I", data, 20)[0] == 1, "EN10MB"
    at, frames = 24, []
    while at < len(data):
        seconds, fraction, captured, length = struct.unpack_from("<IIII", data, at)
        assert captured == length
        frames.append((seconds * 10**9 + fraction * unit, data[at + 16:at + 16 + captured]))
        at += 16 + captured
    return frames


class Frame:
    """The fields of a frame that the comparison needs. `payload` is None without TCP and UDP."""

    def __init__(self, frame):
        self.frame, self.payload, self.marked, self.l4 = frame, None, False, 0
        kind, ip = frame[12:14], frame[14:]
        if kind == b"\x08\x00":
            size, total, protocol, tos = ip[0] % 16 * 4, ip[2] << 8 | ip[3], ip[9], ip[1]
            assert packets.checksum(ip[:size]) == 0
            self.addresses = ip[12:20]
        elif kind == b"\x86\xdd":
            size, total, protocol, tos = 40, 40 + (ip[4] << 8 | ip[5]), ip[6], (ip[0] << 4 | ip[1] >> 4) & 255
            self.addresses = ip[8:40]
        else:
            return
        if protocol not in (6, 17):
            return
        l4 = ip[size:total]
        self.tcp, self.marked, self.ip, self.l4_bytes = protocol == 6, tos & 0xFC == 0x28, ip[:size], l4
        self.l4 = l4[:l4[12] // 16 * 4] if self.tcp else l4[:8]
        self.payload = l4[len(self.l4):]
        self.flow = self.addresses + l4[:4]
        self.seq = struct.unpack_from(">I", l4, 4)[0] if self.tcp else None
        self.syn = self.tcp and bool(l4[13] & 2)
        self.protocol = protocol

    def checksum_holds(self):
        if self.payload is None:
            return True
        pseudo = self.addresses + struct.pack(">HH", self.protocol, len(self.l4_bytes))
        return packets.checksum(pseudo + self.l4_bytes) == 0


def masked(data, *places):
    data = bytearray(data)
    for begin, end in places:
        data[begin:end] = bytes(end - begin)
    return bytes(data)


def headers(f):
    """Headers without lengths and checksums.

    Those of the restored packet are compared by their meaning.
    """
    ip = masked(f.ip, (2, 4), (10, 12)) if len(f.ip) != 40 else masked(f.ip, (4, 6))
    return ip, masked(f.l4, (16, 18)) if f.tcp else masked(f.l4, (4, 8))


def check_pairs(host, wire, back, kind, k):
    """Packet by packet. @return how many were compressed, stored, passed."""
    assert len(host) == len(wire) == len(back), (len(host), len(wire), len(back))
    isn, counts = {}, [0, 0, 0]
    for (time, h), (wire_time, w), (back_time, b) in zip(host, wire, back):
        assert time == wire_time == back_time
        before, sent, after = Frame(h), Frame(w), Frame(b)
        if before.payload is not None and before.syn:
            isn[before.flow] = before.seq
        if not before.payload or not before.marked:
            assert h == w == b
            counts[2] += 1
            continue
        head = (isn[before.flow] + 1 - before.seq) % 4 if before.tcp else 0
        assert sent.payload == packets.transform(kind, k, head, before.payload)
        assert after.payload == packets.seen(kind, k, head, before.payload)
        assert headers(before) == headers(sent) == headers(after)
        assert before.checksum_holds() and sent.checksum_holds() and after.checksum_holds()
        counts[0 if sent.payload[2] & 15 else 1] += 1
        end = head + (len(before.payload) - head) // 4 * 4
        for at in range(head, end, 4):
            x, = struct.unpack_from("<f", before.payload, at)
            y, = struct.unpack_from("<f", after.payload, at)
            assert abs(x - y) <= 2.0**-k
    return counts


def streams(frames):
    """The bytes of every TCP flow, by sequence number; every packet's checksum holds."""
    flows = {}
    for _, frame in frames:
        f = Frame(frame)
        if f.payload is None or not f.tcp:
            continue
        if f.syn:
            flows[f.flow] = (f.marked, f.seq + 1, {})
        for i, byte in enumerate(f.payload):
            flows[f.flow][2][f.seq + i] = byte
    return flows


def check_streams(host, wire, back, k, mtu):
    assert max(len(frame) for _, frame in host) > mtu + 14 >= max(len(frame) for _, frame in wire)
    for frames in wire, back:
        assert all(Frame(frame).checksum_holds() for _, frame in frames)
    before, after = streams(host), streams(back)
    assert before.keys() == after.keys() and len(before) >= 6
    values = 0
    for flow, (marked, start, data) in before.items():
        got = after[flow][2]
        assert got.keys() == data.keys()
        if not marked:
            assert got == data
            continue
        for at in range(start, start + len(data) - 3, 4):
            x, = struct.unpack("<f", bytes(data[at + i] for i in range(4)))
            y, = struct.unpack("<f", bytes(got[at + i] for i in range(4)))
            assert abs(x - y) <= 2.0**-k
            values += x != y
    assert values > 1000


def main():
    captures = [read_capture(path) for path in sys.argv[1:4]]
    k, kind = int(sys.argv[4]), int(sys.argv[5])
    if "--cut" in sys.argv:
        check_streams(*captures, k, int(sys.argv[7]))
        return
    compressed, stored, passed = check_pairs(*captures, kind, k)
    assert compressed > 20 and stored > 0 and passed > 40, (compressed, stored, passed)


main()
