#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of fuzz_sum: pairs of the streams of dense that fuzz_stream has.

usage: seed_sum.py FOLDER
"""
import pathlib
import struct
import sys

here = pathlib.Path(__file__).parent
folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
streams = {}
for path in sorted((here / "corpus" / "stream").iterdir()):
    data = path.read_bytes()
    if len(data) >= 4 and data[0] & 6 == 4:  # dense, with a count
        streams.setdefault(struct.unpack_from("<H", data, 2)[0], []).append((path.name, data[4:]))
for count, some in streams.items():
    for i, (name, first) in enumerate(some[:24]):
        second = some[(i + 1) % len(some)][1]
        head = struct.pack("<BBHH", (i * 4 | i & 3) & 255, 41 if i % 3 else i, count, len(first))
        (folder / f"{count}-{i}").write_bytes(head + first + second)
