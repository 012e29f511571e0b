#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of fuzz_stream: good and bad streams of both profiles, in the target's input format.

usage: seed_stream.py FOLDER
"""
import pathlib
import random
import struct
import sys

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
