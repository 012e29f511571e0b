#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes streams.txt: streams of profile dense.

The second implementation in packets.py writes them. The file also has streams that no encoder
writes, with what this reader makes of them.

Written from docs/codec.md, slow and plain. It shares nothing with the C code. `streams.py --check`
compares instead of writing. The file is committed; the C tests read it.
"""
import gzip
import pathlib
import random
import struct
import sys
import zlib
from fractions import Fraction

import packets
import vectors

HERE = pathlib.Path(__file__)
DUMP_VALUES = 32768  # of each dump: Python is slow
SIGNED = (1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14)


# A reader.

def class_bytes(number):
    return packets.PLANES[number] + (number == 15)


def lane_of(payload, number, lane):
    """(is it raw, integer or bits)"""
    word = sum((payload[p] >> lane & 1) << p for p in range(packets.PLANES[number]))
    if number == 15:
        raw = payload[32] >> lane & 1
        return bool(raw), word if raw or word < 1 << 31 else word - (1 << 32)
    top = 1 << packets.PLANES[number] >> 1
    return False, word - 2 * top if number in SIGNED and word & top else word


def read(stream, count):
    """All lanes; or what is wrong and where."""
    lanes, at, quads = [], 0, (count + 31) // 32
    while len(lanes) < 32 * quads:
        item = stream[at:]
        if len(item) < 3:
            return "truncated", at
        header = item[0] | item[1] << 8
        if not header:
            lanes += [(False, 0)] * 32 * (item[2] + 1)
            at += 3
            if len(lanes) > 32 * quads:
                return "corrupt", at - 3
            continue
        numbers = [header >> 4 * g & 15 for g in range(4)]
        end = 2 + sum(class_bytes(number) for number in numbers)
        if end > len(item):
            return "truncated", at
        payload = 2
        for number in numbers:
            if number and len(lanes) >= count:
                return "corrupt", at
            lanes += [lane_of(item[payload:], number, lane) for lane in range(8)]
            payload += class_bytes(number)
        if any(raw or word for raw, word in lanes[count:]):
            return "corrupt", at
        at += end
    return lanes[:count] if at == len(stream) else ("corrupt", at)


def nearest(q, k):
    """q * 2^(1-k) as binary32: 24 bits, ties to even."""
    size = max(abs(q).bit_length() - 24, 0)
    return struct.pack("<f", float(round(Fraction(q, 1 << size)) * (1 << size) * Fraction(2) ** (1 - k)))


def decoded(lanes, k):
    return b"".join(struct.pack("<I", word) if raw else nearest(word, k) for raw, word in lanes)


# Sums.

def integer_group(integers):
    """As dense_group(), where integers can be beyond what a value quantises to."""
    large = any(abs(q) > 32767 for q in integers)
    number = 15 if large else packets.dense_class(integers)
    planes = [sum((q >> p & 1) << lane for lane, q in enumerate(integers)) for p in range(packets.PLANES[number])]
    return number, bytes(planes) + b"\0" * large


def integer_stream(integers):
    out, zeros = b"", 0
    for at in range(0, len(integers), 32):
        groups = [integer_group(integers[g:g + 8]) for g in range(at, min(at + 32, len(integers)), 8)]
        header = sum(number << 4 * g for g, (number, _) in enumerate(groups))
        zeros += not header
        if header:
            out += packets.zero_runs(zeros) + struct.pack("<H", header) + b"".join(planes for _, planes in groups)
            zeros = 0
    return out + packets.zero_runs(zeros)


# The cases.

def value_cases():
    def case(name, values, k=10):
        stream = packets.encode(packets.DENSE, k, values)
        yield from (("name", name), ("k", k), ("values", values), ("stream", stream), ("decoded", decoded(read(stream, len(values) // 4), k)))

    yield case("every class", packets.WIDTHS)
    yield case("edges", packets.EDGES)
    yield case("edges at 2^-6", packets.EDGES, 6)
    for k in (-31, -3, 1, 10, 24, 31):
        yield case(f"mixed, k = {k}", packets.gradient(150, 40 + k), k)
    for count in (1, 7, 8, 9, 31, 33, 63):
        yield case(f"{count} values", packets.gradient(count, count))
    yield case("a run in between", packets.SMALL + bytes(4 * 32 * 3) + packets.SMALL + bytes(4 * 40))


def dump_cases():
    for name in ("cnn-it30-w1", "cnn-it100-w0", "mlp-it1000-w0"):
        values = gzip.open(HERE.parent.parent / "data" / "gradients" / f"{name}.npy.gz").read()[-4 * 262144:][:4 * DUMP_VALUES]
        for k in (6, 10, 15):
            stream = packets.encode(packets.DENSE, k, values)
            yield [("name", f"{name}, k = {k}"), ("k", k), ("dump", name), ("count", DUMP_VALUES), ("length", len(stream)), ("crc", f"{zlib.crc32(stream):08x}")]


def stream_cases():
    def case(name, count, stream, k=10):
        lanes = read(stream, count)
        yield from (("name", name), ("k", k), ("count", count), ("stream", stream))
        yield ("fault", f"{lanes[0]} {lanes[1]}") if isinstance(lanes, tuple) else ("decoded", decoded(lanes, k))

    random.seed(32)
    for number in range(1, 16):
        header = struct.pack("<H", number << 12 | number)
        planes = random.randbytes(2 * class_bytes(number))
        yield case(f"any planes in class {number}", 32, header + planes)
        yield case(f"class {number}, cut", 32, header + planes[:-1])
        yield case(f"class {number}, a byte behind", 32, header + planes + b"\0")
        yield case(f"class {number}, missing group", 24, header + planes)
        yield case(f"class {number}, missing lane", 31, header + planes[:-1] + b"\x80")
        yield case(f"class {number}, lanes 0 to 2", 27, struct.pack("<H", number << 12) + bytes(b & 7 for b in planes[:class_bytes(number)]))
    yield case("words, rounded", 8, b"\x0f\0" + integer_group([16777217, 16777219, -16777217, 2**31 - 1, -2**31, 33554431, -32768, 65536])[1])
    yield case("words, rounded, k = 31", 8, b"\x0f\0" + integer_group([2**30 + 64, 2**30 + 65, 2**30 + 192, -2**30 - 64, 5, -5, 0, 1])[1], 31)
    yield case("the least of 16 planes", 8, b"\x0e\0" + bytes(15) + b"\x81")
    yield case("runs in pieces", 96, bytes(3) * 3)
    yield case("a run too long", 96, bytes([0, 0, 3]))
    yield case("a run cut", 96, bytes(2))
    yield case("a run too few", 97, bytes([0, 0, 2]))
    yield case("nothing", 1, b"")
    yield case("behind nothing", 0, b"\0")


def integer_cases():
    def case(name, integers):
        yield from (("name", name), ("k", 10), ("integers", struct.pack(f"<{len(integers)}i", *integers)), ("stream", integer_stream(integers)))

    random.seed(31)
    yield case("sums, edges", [32767, -32767, 0, 0, 0, 0, 0, 0, 32768, 0, 0, 0, 0, 0, 0, 0, -32768, 0, 0, 0, 0, 0, 0, 0, 2**31 - 1, -2**31, 5])
    for bits in range(1, 32, 3):
        yield case(f"sums of {bits} bits", [random.randrange(-1 << bits, 1 << bits) for _ in range(45)])
    yield case("sums, a run", [0] * 8200 + [70000])


if __name__ == "__main__":
    sys.exit(vectors.main(__file__, "docs/codec.md", "test_golden_streams.c", (value_cases(), dump_cases(), stream_cases(), integer_cases())))
