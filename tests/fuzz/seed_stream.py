#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of fuzz_stream, in the target's input format.

They are good and bad streams of all profiles.

usage: seed_stream.py FOLDER
"""
import gzip
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "golden"))
import packets

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
random.seed(2018)
BYTES = (0, 1, 2, 4)


def record(tags):
    word = sum(tag << 2 * lane for lane, tag in enumerate(tags))
    return struct.pack("<H", word) + b"".join(random.randbytes(BYTES[tag]) for tag in tags)


def stream(count, classes):
    tags = [random.choice(classes) for _ in range(count)] + [0] * (-count % 8)
    return b"".join(record(tags[i : i + 8]) for i in range(0, count, 8))


def seed(name, flags, k, count, data):
    (folder / name).write_bytes(struct.pack("<BBH", flags, k, count) + data)


for profile, k in ((0, 9), (1, 41)):  # 2^-10 in both
    for name, classes in (("zero", (0,)), ("short", (0, 1)), ("mixed", (0, 1, 2)), ("raw", (0, 1, 2, 3)), ("all-raw", (3,))):
        for count in (1, 8, 45, 362):
            seed(f"{profile}-{name}-{count}", profile, k, count, stream(count, classes))
    good = stream(362, (0, 0, 1, 2))
    seed(f"{profile}-cut", profile, k, 362, good[:-1])
    seed(f"{profile}-cut-tags", profile, k, 362, good[:201])
    seed(f"{profile}-behind", profile, k, 362, good + b"\0\0")
    seed(f"{profile}-padding", profile, k, 5, record([0] * 6 + [1, 0]))
    seed(f"{profile}-long", profile | 2, k, 0, stream(4000, (0, 0, 0, 1, 2)))
    seed(f"{profile}-natural", profile | 2, k + 3, 0, random.randbytes(600))
    seed(f"{profile}-empty", profile, k, 0, b"")


# dense: flag 4
PAYLOAD = [c - 8 if 9 <= c <= 11 else (10, 12, 16, 33)[c - 12] if c >= 12 else c for c in range(16)]


def quad(classes, present=32):
    header = sum(c << 4 * g for g, c in enumerate(classes))
    out = struct.pack("<H", header)
    for group, c in enumerate(classes):
        here = max(0, min(8, present - 8 * group))
        out += bytes(random.randrange(256) & (1 << here) - 1 for _ in range(PAYLOAD[c]))
    return out


def run(quads):
    return bytes([0, 0, quads - 1])


def dense(name, count, data, k=41, natural=0):
    seed(f"dense-{name}", 4 | 2 * natural, k, count, data)


VECTORS = {1: "000000", 33: "000001", 8192: "0000ff", 8193: "0000ff000000", 8: "0f00010101010101010101010101010101010101010101010103010301010101030102",
           32: "90010101", 40: "0000000a008080", 96: "090001000001"}
for count, stream_hex in VECTORS.items():
    dense(f"vector-{count}", count, bytes.fromhex(stream_hex))
for c in range(1, 16):
    dense(f"class-{c}", 32, quad((c, c, c, c)))
    dense(f"class-{c}-alone", 128, run(1) + quad((0, c, 0, 0)) + run(1) + quad((0, 0, 0, c)), k=31)
    dense(f"class-{c}-lanes", 13, quad((9, c, 0, 0), 13))
    dense(f"class-{c}-cut", 32, quad((c, 0, 0, c))[:-1])
    dense(f"class-{c}-missing-group", 8, quad((9, c, 0, 0), 8))
    dense(f"class-{c}-missing-lane", 8 + c % 7 + 1, quad((9, c, 0, 0), 16))
mixed = b"".join(quad([random.choice((0, 0, 1, 2, 9, 10, 3, 12)) for _ in range(3)] + [1]) + run(1 + n % 3) * (n % 2) for n in range(24))
dense("mixed", 32 * 60, mixed)
dense("mixed-natural", 0, mixed, natural=1)
dense("mixed-cut", 32 * 60, mixed[:-2])
dense("mixed-behind", 0, mixed + bytes(3), natural=1)
dense("words", 0, b"".join(quad((15, 15, 15, 15)) for _ in range(8)), natural=1)
dense("minimum", 8, bytes.fromhex("0e00" + "00" * 15 + "01"))
dense("run-too-long", 64, run(3))
dense("run-cut", 64, run(2)[:2])
dense("run-split", 64 * 8, run(5) + run(11))
dense("runs", 0, run(256) + quad((9, 0, 0, 0)) + run(256) + run(1), natural=1)
dense("bomb", 65535, run(256) * 8)
dense("empty", 0, b"")
dense("behind-nothing", 0, b"\0")
dense("any", 0, random.randbytes(700), natural=1)

# Real gradients: pieces of a dump, as they are compressed.
ROOT = pathlib.Path(__file__).parent.parent / "data" / "gradients"
for name in ("cnn-it100-w0", "mlp-it1000-w0"):
    values = gzip.open(ROOT / f"{name}.npy.gz").read()[-4 * 262144:]
    for k in (6, 10, 15):
        piece = values[400000:400000 + 4 * 362]
        for flags, profile in ((1, packets.LATTICE), (4, packets.DENSE)):
            seed(f"{name}-{flags}-{k}", flags, 31 + k, 362, packets.encode(profile, k, piece))
