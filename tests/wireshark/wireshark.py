#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The dissector beside the C side.

    wireshark.py same FIELDS CAPTURE MINIMUM   each field as FIELDS reads it, in MINIMUM packets
    wireshark.py golden PACKETS OUT            the packets of tests/golden as a capture
    wireshark.py mutate SEED COUNT IN OUT      COUNT packets with damage; half have checks made anew
    wireshark.py repeat COUNT IN OUT           COUNT packets
    wireshark.py crowd OUT                     packets full of what looks like datagrams
"""
import os
import random
import struct
import subprocess
import sys
import zlib

SHIM = ["version", "kind", "k", "length", "head"]
AGG = ["type", "flags", "flags.float", "flags.poison", "flags.resent", "flags.ecn", "flags.late", "flags.halves", "job", "gen",
       "copy", "slot", "psn", "bitmap", "level", "fanin", "priority", "exponent", "next", "values"]
WRONG = ["gradnic.malformed", "gradnic_agg.malformed", "gradnic_agg.check"]
NAMES = ["gradnic." + n for n in SHIM] + ["gradnic_agg." + n for n in AGG]


def read(path):
    data = open(path, "rb").read()
    order = "<" if data[:1] in b"\xd4\x4d" else ">"
    at, packets = 24, []
    while at < len(data):
        count, = struct.unpack_from(order + "I", data, at + 8)
        packets.append(data[at + 16:at + 16 + count])
        at += 16 + count
    return struct.unpack_from(order + "I", data, 20)[0], packets


def write(path, link, packets):
    """Packets are bytes, or (bytes, the length before the capture cut them)."""
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, link))
        for n, p in enumerate(packets):
            p, whole = p if isinstance(p, tuple) else (p, len(p))
            out.write(struct.pack("<IIII", n // 1000, n % 1000, len(p), whole) + p)


def cut(row):
    """The datagrams of a row: the sender's kernel had not cut them yet when they were captured."""
    lengths, at, out = [int(n) for n in row[3].split(",") if n], 0, []
    if not lengths:
        return [row]
    columns = [value.split(",") for value in row]
    for n, length in enumerate(lengths):
        out.append([row[0][2 * at:2 * (at + length)]] + [c[n] if len(c) == len(lengths) else ",".join(c) for c in columns[1:]])
        at += length
    assert 2 * at == len(row[0]), f"{at} bytes of {row[0]}"
    return out


def same(fields, capture, minimum):
    names = ["udp.payload", "tcp.payload", "gradnic_agg.rank", "gradnic_agg.length"] + WRONG + NAMES
    rows = subprocess.run([os.environ["TSHARK"], "-C", "gradnic", "-n", "-X", "lua_script:" + os.environ["LUA"], "-r", capture,
                           "-T", "fields"] + [w for n in names for w in ("-e", n)],
                          check=True, capture_output=True, text=True).stdout.split("\n")[:-1]
    rows = [r.split("\t") for r in rows]
    rows = [one for r in rows if r[0] or r[1] for one in cut(r)]
    said = subprocess.run([fields], check=True, capture_output=True, text=True,
                          input="".join(f"{'udp ' + r[0] if r[0] else 'tcp ' + r[1]}\n" for r in rows)).stdout.split("\n")[:-1]
    assert len(said) == len(rows), (len(said), len(rows))
    ours, fine = 0, 4 + len(WRONG)
    for row, wanted in zip(rows, said):
        got, wanted = row[fine:], wanted.split("\t")
        priority = NAMES.index("gradnic_agg.priority")
        got[priority] = got[priority] or row[2]  # with FLOAT it is the rank
        assert got == wanted, "\n".join(f"{n}: dissector {g}, C {w}" for n, g, w in zip(NAMES, got, wanted) if g != w) + f"\n{row[:2]}"
        assert not any(row[4:fine]), f"{row[4:fine]} in {row[:2]}"
        ours += any(wanted)
    assert ours >= int(minimum), f"{ours} packets are ours, not {minimum}"


def golden(packets, out):
    wires = [bytes.fromhex(line.split()[1]) for line in open(packets) if line.startswith("wire ")]
    write(out, 101, wires)  # 101: raw IP


def crc8(data):
    c = 0
    for byte in data:
        c ^= byte
        for _ in range(8):
            c = c << 1 ^ (0x107 if c & 0x80 else 0)
    return c


def mutate(seed, count, source, out):
    rng = random.Random(int(seed))
    link, packets = read(source)
    start = {1: 14, 101: 0}[link]
    damaged = []
    for _ in range(int(count)):
        p = bytearray(rng.choice(packets))
        l4 = start + 20
        at = l4 + (8 if p[start + 9] == 17 else 20)
        if p[start] >> 4 != 4 or at + 8 > len(p):
            continue
        for _ in range(rng.randint(1, 4)):
            where = rng.randrange(at, min(len(p), at + rng.choice([8, 48, 2000])))
            p[where] = rng.choice([0, 1, 0xFF, 0x80, rng.randrange(256)])
        if rng.random() < 0.5:  # damage that the checks do not see
            header = at
            if rng.random() < 0.8 and p[at:at + 2] == b"GN":
                p[at + 7] = crc8(p[at:at + 7])
                header += 8
            if header + 32 <= len(p):
                p[header + 28:header + 32] = struct.pack(">I", zlib.crc32(p[header:header + 28]))
        whole = len(p)
        if rng.random() < 0.3:
            p = p[:rng.randrange(start, len(p))]
        damaged.append((bytes(p), whole))
    write(out, link, damaged)


def repeat(count, source, out):
    link, packets = read(source)
    write(out, link, (packets * (int(count) // len(packets) + 1))[:int(count)])


def header():
    """A contribution without values."""
    head = struct.pack(">BBHHHIQHHbbH", 0x10, 0, 1, 1, 0, 0, 1, 2, 0, 0, 0, 0)
    return head + struct.pack(">I", zlib.crc32(head))


def stored(payload):
    head = struct.pack(">HBbHB", 0x474E, 0x10, 0, len(payload), 0)
    return head + bytes([crc8(head)]) + payload


def udp(payload):
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, 28 + len(payload), 0, 0, 64, 17, 0, 0xC0000201, 0xC0000202)
    return ip + struct.pack(">HHHH", 7777, 7777, 8 + len(payload), 0) + payload


def crowd(out):
    few, many = (header() + b"GN" * n for n in (100, 1000))
    write(out, 101, [udp(header() * 100), udp(header() * 2000), udp(stored(few) * 2), udp(stored(many) * 2)])


if __name__ == "__main__":
    {"same": same, "golden": golden, "mutate": mutate, "repeat": repeat, "crowd": crowd}[sys.argv[1]](*sys.argv[2:])
