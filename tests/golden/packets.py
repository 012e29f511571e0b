#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes packets.txt: a second implementation of docs/wire.md and docs/codec.md.

Written from the documents, slow and plain. It shares nothing with the C code. `packets.py --check`
compares instead of writing. The file is committed; the C tests read it.
"""
import functools
import struct
import sys
from fractions import Fraction

import vectors

PAPER, LATTICE, DENSE = 1, 2, 3  # kinds: profile + 1
NAMES = {PAPER: "paper", LATTICE: "lattice", DENSE: "dense"}


# The codec: one value's (tag, payload bytes), and back.

def paper_encode(bits, k):
    exponent, sign, mantissa = bits >> 23 & 255, bits >> 31, bits & 0x7FFFFF
    bound = 127 - k
    if exponent >= 127:
        return 3, struct.pack("<I", bits)
    if exponent < bound:
        return 0, b""
    magnitude = (1 << 23 | mantissa) >> (127 - exponent)
    if exponent >= bound + (127 - bound + 1) // 2:
        return 2, struct.pack("<H", sign << 15 | magnitude >> 8)
    return 1, bytes([sign << 7 | magnitude >> 16])


def paper_decode(tag, payload):
    if tag == 3:
        return payload
    width = 8 * len(payload) - 1
    code = int.from_bytes(payload, "little")
    magnitude = code & ((1 << width) - 1) if payload else 0
    if not magnitude:
        return bytes(4)
    value = Fraction(magnitude, 1 << width) * (-1 if code >> width else 1)
    return struct.pack("<f", float(value))


@functools.cache
def lattice_integer(bits, k):
    """q; None for a value that is kept raw."""
    if bits >> 23 & 255 == 255:
        return None
    value = Fraction(struct.unpack("<f", struct.pack("<I", bits))[0]) * Fraction(2) ** (k - 1)
    q = round(value)  # Fraction rounds to nearest, ties to even
    return q if abs(q) <= 32767 else None


def lattice_encode(bits, k):
    q = lattice_integer(bits, k)
    if q is None:
        return 3, struct.pack("<I", bits)
    if q == 0:
        return 0, b""
    return (1, struct.pack("<b", q)) if abs(q) <= 127 else (2, struct.pack("<h", q))


def lattice_decode(tag, payload, k):
    if tag == 3:
        return payload
    q = int.from_bytes(payload, "little", signed=True) if payload else 0
    return struct.pack("<f", float(q * Fraction(2) ** (1 - k)))


def code_of(kind, bits, k):
    return paper_encode(bits, k) if kind == PAPER else lattice_encode(bits, k)


def records(kind, k, words):
    """paper and lattice: for every 8 values their tags, and the bytes that those announce."""
    out = b""
    for at in range(0, len(words), 8):
        codes = [code_of(kind, word, k) for word in words[at:at + 8]]
        tags = sum(tag << 2 * lane for lane, (tag, _) in enumerate(codes))
        out += struct.pack("<H", tags) + b"".join(payload for _, payload in codes)
    return out


PLANES = dict([(c, c) for c in range(9)] + [(9, 1), (10, 2), (11, 3), (12, 10), (13, 12), (14, 16), (15, 32)])


def dense_class(integers):
    if None in integers:
        return 15
    bits = max((~q if q < 0 else q).bit_length() for q in integers)
    if not any(integers):
        return 0
    if min(integers) >= 0 and bits <= 3:
        return 8 + bits
    return min((c for c in (1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14) if PLANES[c] >= bits + 1))


def dense_group(words, k):
    """A group's class, and its bit planes."""
    integers = [lattice_integer(word, k) for word in words]
    number = dense_class(integers)
    lanes = [word if q is None else q for word, q in zip(words, integers)]
    planes = [sum((lane >> p & 1) << j for j, lane in enumerate(lanes)) for p in range(PLANES[number])]
    if number == 15:
        planes.append(sum((q is None) << j for j, q in enumerate(integers)))
    return number, bytes(planes)


def dense(k, words):
    """For every 32 values the classes of 4 groups and their planes; zeros as runs."""
    out, zeros = b"", 0
    for at in range(0, len(words), 32):
        groups = [dense_group(words[g:g + 8], k) for g in range(at, min(at + 32, len(words)), 8)]
        header = sum(number << 4 * g for g, (number, _) in enumerate(groups))
        if header == 0:
            zeros += 1
            continue
        out += zero_runs(zeros) + struct.pack("<H", header) + b"".join(planes for _, planes in groups)
        zeros = 0
    return out + zero_runs(zeros)


def zero_runs(quads):
    rest = quads % 256
    return bytes([0, 0, 255]) * (quads // 256) + (bytes([0, 0, rest - 1]) if rest else b"")


def encode(kind, k, values):
    """The stream of a bytes object of whole values."""
    words = struct.unpack(f"<{len(values) // 4}I", values)
    return dense(k, words) if kind == DENSE else records(kind, k, words)


def quantise(kind, k, values):
    words = struct.unpack(f"<{len(values) // 4}I", values)
    codes = [code_of(kind, word, k) for word in words]
    return b"".join(paper_decode(*c) if kind == PAPER else lattice_decode(*c, k) for c in codes)


# The shim.

def crc8(data):
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ 0x107) if crc & 0x80 else crc << 1
    return crc


def shim(kind, bound, length, head, version=1):
    first = struct.pack(">HBbHB", 0x474E, version << 4 | kind, bound, length, head)
    return first + bytes([crc8(first)])


def stored(payload):
    return shim(0, 0, len(payload), 0) + payload


def transform(kind, k, head, payload):
    """What leaves for a payload; head None: stored."""
    count = (len(payload) - head) // 4 if head is not None else 0
    if count <= 0:
        return stored(payload)
    end = head + 4 * count
    body = payload[:head] + encode(kind, k, payload[head:end]) + payload[end:]
    return shim(kind, k, len(payload), head) + body if len(body) < len(payload) else stored(payload)


def seen(kind, k, head, payload):
    """What the receiver hands over for a payload."""
    if transform(kind, k, head, payload)[2] & 15 == 0:
        return payload
    end = head + (len(payload) - head) // 4 * 4
    return payload[:head] + quantise(kind, k, payload[head:end]) + payload[end:]


# Packets.

def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return 0xFFFF - total


class Packet:
    def __init__(self, version=4, udp=False, tos=0x28, seq=1, flags=0x10, ident=0x1234, ip_options=b"", options=b"",
                 port=5000):
        self.version, self.udp, self.tos, self.seq, self.flags, self.ident = version, udp, tos, seq, flags, ident
        self.ip_options, self.options, self.port = ip_options, options, port

    def header_bytes(self):
        return (40 if self.version == 6 else 20 + len(self.ip_options)) + (8 if self.udp else 20 + len(self.options))

    def build(self, payload, partial=False):
        if self.udp:
            l4 = struct.pack(">HHHH", 40000, self.port, 8 + len(payload), 0)
        else:
            l4 = struct.pack(">HHIIBBHHH", 40000, self.port, self.seq & 0xFFFFFFFF, 0x01020304,
                             (20 + len(self.options)) << 2, self.flags, 501, 0, 0) + self.options
        length = len(l4) + len(payload)
        protocol = 17 if self.udp else 6
        if self.version == 6:
            addresses = bytes.fromhex("fd000001" + "00" * 11 + "01" + "fd000002" + "00" * 11 + "02")
            ip = struct.pack(">IHBB", 6 << 28 | self.tos << 20 | 0xABCDE, length, protocol, 64) + addresses
        else:
            addresses = bytes([10, 0, 0, 1, 10, 0, 1, 2])
            size = 20 + len(self.ip_options)
            ip = struct.pack(">BBHHHBBH", 0x40 | size // 4, self.tos, size + length, self.ident & 0xFFFF, 0x4000, 64, protocol, 0)
            ip += addresses + self.ip_options
            ip = ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:]
        pseudo = addresses + struct.pack(">HH", protocol, length)
        value = 0xFFFF - checksum(pseudo) if partial else checksum(pseudo + l4 + payload)
        if self.udp and not partial:
            value = value or 0xFFFF
        at = 6 if self.udp else 16
        return ip + l4[:at] + struct.pack(">H", value) + l4[at + 2:] + payload


# Cuts of a segment.

def head_of(packet, first_head, done):
    return first_head if packet.udp else (first_head - done) % 4


def piece_size(room, h, done, rest, gso, within):
    """Payload bytes of the next packet with the cut mtu."""
    if gso <= room:
        return gso
    if not within:
        return room // 4 * 4
    piece = min(gso - done % gso, rest)
    return piece if piece <= room else h + (room - h) // 4 * 4


def pieces(packet, payload, kind, k, head, cut, gso, mtu):
    """(payload bytes taken, bytes on the wire) for each packet."""
    room, done = mtu - packet.header_bytes() - 8, 0
    within = not packet.udp and (head or (gso < len(payload) and gso % 4))  # the host cuts within values
    if within and gso < len(payload):
        cut = "mtu"
    while done < len(payload):
        rest, h = payload[done:], head_of(packet, head, done)
        if cut == "mtu" or packet.udp:  # a datagram stays one
            taken = rest[:piece_size(room, h, done, len(rest), gso, within)]
            yield taken, transform(kind, k, h, taken), h
        elif len(rest) <= room:
            taken = rest
            yield taken, transform(kind, k, h, taken), h
        else:
            count, tail = (len(rest) - h) // 4, (len(rest) - h) % 4
            values = 0
            while values < count and len(encode(kind, k, rest[h:h + 4 * min(values + 8, count)])) <= room - h - tail:
                values = min(values + 8, count)
            plain = h + (room - h) // 4 * 4
            if h + 4 * values <= plain:
                taken = rest[:plain]
                yield taken, stored(taken), None
            else:
                taken = rest if values == count else rest[:h + 4 * values]
                end = h + 4 * values
                yield taken, shim(kind, k, len(taken), h) + rest[:h] + encode(kind, k, rest[h:end]) + taken[end:], h
        done += len(taken)


def cut_segment(packet, payload, kind, k, head, cut, gso, mtu):
    out, done, flags = [], 0, packet.flags
    for index, (taken, wire, h) in enumerate(pieces(packet, payload, kind, k, head, cut, gso, mtu)):
        last = done + len(taken) == len(payload)
        one = Packet(packet.version, packet.udp, packet.tos, packet.seq + done,
                     flags & ~(0 if last else 0x09) & ~(0x80 if index else 0), packet.ident + index,
                     packet.ip_options, packet.options, packet.port)
        out.append((one.build(wire), one.build(seen(kind, k, h, taken))))
        done += len(taken)
    return out


# The cases.

def gradient(count, seed=1):
    """Values of all classes, many of them zero or small.

    None is exact in decimal. They are the same everywhere.
    """
    words = []
    for _ in range(count):
        seed = seed * 1103515245 + 12345 & 0x7FFFFFFF
        exponent = (0, 100, 116, 117, 118, 119, 120, 121, 122, 124, 126, 127, 117, 116, 0, 133)[seed >> 20 & 15]
        words.append((seed >> 7 & 1) << 31 | exponent << 23 | (seed * 2654435761 & 0x7FFFFF if exponent else 0))
    return struct.pack(f"<{count}I", *words)


EDGES = struct.pack("<16I", 0x3F800000, 0xBF7FFFFF, 0x3E800000, 0x3E7F0000, 0x3D000000, 0x3CFFFFFF, 0x3B000000, 0x3A800000,
                    0x3B400000, 0xBB000000, 0x3A7FFFFF, 0x00000001, 0x80000000, 0x7F800000, 0x7FC00001, 0x42800000)
SMALL = struct.pack("<32I", *[0x3B000000 + 4099 * i if i % 5 == 0 else 0 for i in range(32)])
NOISE = struct.pack("<16I", *[0x43000000 + 77777 * i for i in range(16)])
# At 2^-10: groups of every class but 15. Each has the largest value of its class and the most
# negative one in turn.
WIDTHS = b"".join(struct.pack("<8f", *([(2**(w - 1) - 1) / 512, -2**(w - 1) / 512] * 4)) for w in (1, 2, 3, 4, 5, 6, 7, 8, 10, 12))
WIDTHS += struct.pack("<8f", *([32767 / 512, -32767 / 512] * 4)) + b"".join(struct.pack("<8f", *([q / 512] * 8)) for q in (0, 1, 3, 7))
NOPS = bytes([1, 1, 1, 0])
TIMESTAMPS = bytes.fromhex("0101080a0011223300445566")


def rule(kind=LATTICE, k=10, head=0):
    return f"tos=0x28,proto=any,port=any,profile={NAMES[kind]},k={k},head={head}"


def single_cases():
    def case(name, packet, payload, kind=LATTICE, k=10, head=0, padding=b""):
        yield "name", name
        yield "rule", rule(kind, k, head if packet.udp and head is not None else 0)
        yield "head", "stored" if head is None else str(head)
        yield "host", packet.build(payload) + padding
        yield "wire", packet.build(transform(kind, k, head, payload))
        yield "back", packet.build(seen(kind, k, head, payload))

    yield case("lattice over TCP and IPv4", Packet(), SMALL)
    yield case("lattice over TCP and IPv6", Packet(version=6), SMALL)
    yield case("lattice over UDP and IPv4", Packet(udp=True), SMALL)
    yield case("lattice over UDP and IPv6", Packet(version=6, udp=True), SMALL)
    yield case("paper over TCP and IPv4", Packet(), SMALL, PAPER)
    yield case("every class, lattice", Packet(udp=True), EDGES + SMALL)
    yield case("every class, paper", Packet(udp=True), EDGES + SMALL, PAPER)
    yield case("another bound", Packet(udp=True), EDGES + SMALL, LATTICE, 6)
    yield case("bound above one", Packet(udp=True), NOISE, LATTICE, -3)
    yield case("dense over TCP and IPv4", Packet(), SMALL, DENSE)
    yield case("dense over UDP and IPv6", Packet(version=6, udp=True), SMALL, DENSE)
    yield case("every class, dense", Packet(udp=True), WIDTHS + EDGES + SMALL, DENSE)
    yield case("dense, another bound", Packet(udp=True), EDGES + SMALL, DENSE, 6)
    yield case("dense, not a multiple of 8 values, and a tail", Packet(udp=True), SMALL[:44] + b"xyz", DENSE)
    yield case("dense, a single zero", Packet(udp=True), bytes(4), DENSE)
    yield case("dense, phase 1", Packet(seq=2), SMALL[1:], DENSE, head=3)
    yield case("dense, no gain", Packet(), NOISE, DENSE)
    yield case("dense, head of a datagram", Packet(udp=True), b"application!" + SMALL, DENSE, head=12)
    yield case("dense, a large payload", Packet(), gradient(350), DENSE)
    yield case("not a multiple of 8 values", Packet(udp=True), SMALL[:44])
    yield case("a tail", Packet(udp=True), SMALL + b"xyz")
    yield case("phase 1", Packet(seq=2), SMALL[1:], head=3)
    yield case("phase 2", Packet(seq=3), SMALL[2:127], head=2)
    yield case("phase 3", Packet(seq=4), SMALL[3:126], head=1)
    yield case("SYN not seen", Packet(), SMALL, head=None)
    yield case("no gain", Packet(), NOISE)
    yield case("a single byte", Packet(), b"!")
    yield case("a single zero", Packet(udp=True), bytes(4))
    yield case("head of a datagram", Packet(udp=True), b"application!" + SMALL, head=12)
    yield case("datagram shorter than its head", Packet(udp=True), b"short", head=12)
    yield case("options", Packet(options=TIMESTAMPS), SMALL)
    yield case("ECN bits", Packet(tos=0x2B), SMALL)
    yield case("Ethernet padding", Packet(udp=True), bytes(12), padding=bytes(6))
    yield case("a large payload", Packet(), gradient(350))


def pass_cases():
    """Packets that nothing happens to, in either direction: the counter of the sender."""
    def case(name, counter, packet, payload=SMALL):
        yield "name", name
        yield "rule", rule()
        yield "pass", counter
        yield "host", packet.build(payload)

    for name, options in (("no operation", NOPS), ("router alert", bytes([148, 4, 0, 0])),
                          ("loose source route", bytes([131, 7, 4, 10, 0, 9, 9, 0])),
                          ("strict source route", bytes([137, 7, 4, 10, 0, 9, 9, 0])), ("40 bytes", NOPS * 10)):
        for udp in (False, True):
            yield case(f"IPv4 options, {name}, {'UDP' if udp else 'TCP'}", "pass_extension", Packet(udp=udp, ip_options=options))
    yield case("IPv4 options ahead of a shim", "pass_extension", Packet(udp=True, ip_options=NOPS), transform(LATTICE, 10, 0, SMALL))
    yield case("no payload", "pass_empty", Packet(), b"")
    yield case("another mark", "pass_no_rule", Packet(udp=True, tos=0x2C))


def fault_cases():
    def case(name, fault, payload, packet=Packet(udp=True), damage=None):
        wire = bytearray(packet.build(payload))
        if damage is not None:
            wire[damage] ^= 1
        yield "name", name
        yield "wire", bytes(wire)
        yield "fault", fault

    zeros = bytes(2)
    yield case("checksum", "bad_checksum", shim(2, 10, 32, 0) + zeros, damage=36)
    yield case("version", "bad_version", shim(2, 10, 32, 0, version=2) + zeros)
    yield case("kind", "bad_kind", shim(15, 10, 32, 0) + zeros)
    yield case("bound", "bad_bound", shim(2, 32, 32, 0) + zeros)
    yield case("bound of a stored payload", "bad_bound", shim(0, 10, 2, 0) + zeros)
    yield case("head", "bad_head", shim(2, 10, 32, 33) + bytes(33))
    yield case("head of a stored payload", "bad_head", shim(0, 0, 2, 1) + zeros)
    yield case("length of a stored payload", "bad_length", shim(0, 0, 3, 0) + zeros)
    yield case("length 0", "bad_length", shim(2, 10, 0, 0))
    yield case("shorter than head and tail", "bad_length", shim(2, 10, 11, 4) + bytes(6))
    yield case("stream cut short", "bad_stream", shim(2, 10, 64, 0) + bytes(3))
    yield case("stream too long", "bad_stream", shim(2, 10, 64, 0) + bytes(5))
    yield case("padding with a tag", "bad_stream", shim(2, 10, 4, 0) + bytes([4, 0, 1]))
    yield case("dense, bound", "bad_bound", shim(3, 32, 32, 0) + bytes(3))
    yield case("dense, a run beyond the length", "bad_stream", shim(3, 10, 128, 0) + bytes([0, 0, 1]))
    yield case("dense, a run of 256 quads for one value", "bad_stream", shim(3, 10, 4, 0) + bytes([0, 0, 255]))
    yield case("dense, a run cut short", "bad_stream", shim(3, 10, 128, 0) + bytes(2))
    yield case("dense, a run too few", "bad_stream", shim(3, 10, 256, 0) + bytes(3))
    yield case("dense, planes missing", "bad_stream", shim(3, 10, 128, 0) + bytes([0x08, 0, 1, 2, 3, 4, 5, 6, 7]))
    yield case("dense, bytes behind", "bad_stream", shim(3, 10, 128, 0) + bytes([0x09, 0, 1, 0]))
    yield case("dense, a missing lane", "bad_stream", shim(3, 10, 4, 0) + bytes([0x09, 0, 2]))
    yield case("dense, a missing group", "bad_stream", shim(3, 10, 32, 0) + bytes([0x90, 0, 1]))
    yield case("magic", "foreign", b"NG" + shim(2, 10, 32, 0)[2:] + zeros)
    yield case("check", "foreign", shim(2, 10, 32, 0)[:7] + b"\0" + zeros)
    yield case("no room for a shim", "foreign", b"GN\x10")


def segment_cases():
    def case(name, packet, payload, cut, gso, mtu, kind=LATTICE, k=10, head=0):
        yield "name", name
        yield "rule", rule(kind, k, head if packet.udp else 0)
        yield "cut", f"{cut} {gso} {mtu}"
        yield "head", str(head)
        yield "host", packet.build(payload, partial=True)
        for wire, back in cut_segment(packet, payload, kind, k, head, cut, gso, mtu):
            yield "wire", wire
            yield "back", back

    flags = 0x99  # CWR ACK PSH FIN
    wrap = Packet(seq=0xFFFFFF01, flags=flags, ident=0xFFFF, options=TIMESTAMPS)
    mixed = gradient(150, 5) + SMALL * 4 + NOISE * 3 + SMALL * 3
    for cut in ("mtu", "fill"):
        yield case(f"TCP over IPv4, cut {cut}", wrap, mixed, cut, 240, 300)
        yield case(f"TCP over IPv6, cut {cut}", Packet(version=6, seq=7, flags=0x18), mixed + b"ab", cut, 240, 320)
        yield case(f"TCP off phase, cut {cut}", Packet(seq=0x80000002), mixed[1:], cut, 239, 300, head=3)
        yield case(f"UDP, cut {cut}", Packet(udp=True), mixed, cut, 200, 300, head=8)
        yield case(f"paper, cut {cut}", Packet(), mixed, cut, 240, 300, kind=PAPER, k=8)
        yield case(f"dense, cut {cut}", wrap, mixed, cut, 240, 300, kind=DENSE)
        yield case(f"dense off phase, cut {cut}", Packet(seq=0x80000002), mixed[1:], cut, 239, 300, kind=DENSE, head=3)
        yield case(f"dense, odd pieces, cut {cut}", Packet(), mixed, cut, 242, 300, kind=DENSE)
        yield case(f"dense, a smaller MTU, cut {cut}", Packet(), mixed, cut, 600, 301, kind=DENSE)
        yield case(f"dense, zeros, cut {cut}", Packet(), bytes(4 * 300) + SMALL + bytes(4 * 700), cut, 900, 1000, kind=DENSE)


if __name__ == "__main__":
    sys.exit(vectors.main(__file__, "docs/wire.md and docs/codec.md", "test_golden.c", (single_cases(), segment_cases(), fault_cases(), pass_cases())))
