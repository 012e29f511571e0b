#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of fuzz_container with profile dense.

Good files, files with bad streams, and files of version 2.

usage: seed_container.py FOLDER
"""
import gzip
import pathlib
import struct
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "golden"))
import packets

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
DUMP = pathlib.Path(__file__).parent.parent / "data" / "gradients" / "cnn-it100-w0.npy.gz"


def container(count, per_block, streams, k=10):
    header = struct.pack("<8sBbHIQQ", b"GRADNIC1", 2, k, 0, per_block, count, len(streams))
    header += struct.pack("<II", zlib.crc32(header), 0)
    return header + b"".join(struct.pack("<II", len(s), zlib.crc32(s)) + s for s in streams)


def seed(name, seal, data):
    (folder / f"dense-{name}").write_bytes(bytes([seal]) + data)


def blocks(values, per_block, k):
    return [packets.encode(packets.DENSE, k, values[at:at + 4 * per_block]) for at in range(0, len(values), 4 * per_block)]


real = gzip.open(DUMP).read()[-400000:][:4 * 700]
for k in (6, 15):
    seed(f"real-{k}", 0, container(700, 256, blocks(real, 256, k), k))
seed("classes", 0, container(len(packets.WIDTHS) // 4, 64, blocks(packets.WIDTHS, 64, 10)))
seed("raw", 0, container(16, 8, blocks(packets.NOISE, 8, 10)))
seed("zeros", 0, container(8192 * 3, 8192, [bytes([0, 0, 255])] * 3))
seed("run-too-long", 1, container(256, 256, [bytes([0, 0, 255])]))
seed("cut", 1, container(700, 256, [s[:-1] for s in blocks(real, 256, 10)]))
seed("behind", 1, container(8, 8, [bytes([9, 0, 1, 0])]))
seed("missing-lane", 1, container(4, 8, [bytes([9, 0, 16])]))
seed("missing-group", 1, container(8, 8, [bytes([0x90, 0, 1])]))
seed("not-canonical", 1, container(64, 64, [bytes([8, 0, 1] + [0] * 7) + bytes(3)]))


def tensors(count, per_block, streams, entries, total=None):
    """Version 2. An entry is a name, a type, an order, a shape."""
    directory = struct.pack("<I", len(entries) if total is None else total)
    for name, dtype, order, shape in entries:
        directory += struct.pack("<HBBBBBB", len(name), dtype, order, len(shape), 0, 0, 0)
        directory += struct.pack(f"<{len(shape)}Q", *shape) + name
    directory += struct.pack("<I", zlib.crc32(directory))
    header = struct.pack("<8sBbHIQQI", b"GRADNIC2", 2, 10, 0, per_block, count, len(streams), len(directory))
    header += struct.pack("<I", zlib.crc32(header))
    return header + directory + b"".join(struct.pack("<II", len(s), zlib.crc32(s)) + s for s in streams)


real = blocks(gzip.open(DUMP).read()[-400000:][:4 * 40], 16, 10)
seed("tensors", 0, tensors(40, 16, real, [(b"a", 0, 0, (4, 5)), (b"b.weight", 1, 1, (2, 10)), (b"", 3, 0, (0,))]))
seed("tensors-scalars", 0, tensors(3, 8, [bytes([9, 0, 1])], [(b"x", 0, 0, ()), (b"y", 2, 0, ()), (b"z", 3, 0, (1,) * 64)]))
seed("tensors-twice", 1, tensors(2, 8, [bytes([9, 0, 1])], [(b"x", 0, 0, ()), (b"x", 0, 0, ())]))
seed("tensors-too-large", 1, tensors(2, 8, [bytes([9, 0, 1])], [(b"x", 0, 0, (1 << 32, 1 << 32))]))
seed("tensors-too-many", 1, tensors(2, 8, [bytes([9, 0, 1])], [(b"x", 0, 0, (2,))], 65536))
