#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tensors.gn, a .gn file of version 2, and the arrays that are in it.

Written from docs/container.md. It shares nothing with the C code. `container.py --check` compares
instead of writing; `container.py --npz FILE` writes the arrays, which are exact at 2^-10, so that
the program makes the same bytes of them (tests/tools/tensors.sh).
"""
import pathlib
import struct
import sys
import zlib

HERE = pathlib.Path(__file__)
FLOAT32, FLOAT16, BFLOAT16, FLOAT64 = range(4)
BLOCK = 262144


def values(count):
    """Multiples of 2^-9 that profile lattice keeps in 16 bits, and some zeros."""
    return [0.0 if i % 4 == 3 else (200 + i) / 512 for i in range(count)]


# name, type, Fortran order, shape
TENSORS = [
    ("layer.0/weight", FLOAT32, 0, (3, 4)),
    ("transposed", FLOAT64, 1, (2, 3)),
    ("empty", FLOAT32, 0, (0, 5)),
    ("scalar", FLOAT32, 0, ()),
    ("half \u00fc", FLOAT16, 0, (9,)),
]


def size(shape):
    count = 1
    for n in shape:
        count *= n
    return count


def record(group):
    """Eight values of profile lattice: tag 0 is zero, tag 2 an integer of 16 bits."""
    integers = [round(v * 512) for v in group]
    tags = sum((2 if q else 0) << 2 * i for i, q in enumerate(integers))
    return struct.pack("<H", tags) + b"".join(struct.pack("<h", q) for q in integers if q)


def entry(name, dtype, order, shape):
    text = name.encode()
    return (
        struct.pack("<HBBBBBB", len(text), dtype, order, len(shape), 0, 0, 0)
        + struct.pack(f"<{len(shape)}Q", *shape)
        + text
    )


def container():
    directory = struct.pack("<I", len(TENSORS)) + b"".join(entry(*t) for t in TENSORS)
    directory += struct.pack("<I", zlib.crc32(directory))
    count = sum(size(t[3]) for t in TENSORS)
    header = struct.pack("<8sBbHIQQI", b"GRADNIC2", 1, 10, 0, BLOCK, count, 1, len(directory))
    header += struct.pack("<I", zlib.crc32(header))
    everything = values(count)
    stream = b"".join(record(everything[at:at + 8]) for at in range(0, count, 8))
    return header + directory + struct.pack("<II", len(stream), zlib.crc32(stream)) + stream


def write_arrays(path):
    import numpy as np
    types = {FLOAT32: "<f4", FLOAT16: "<f2", FLOAT64: "<f8"}
    everything, at, arrays = values(sum(size(t[3]) for t in TENSORS)), 0, {}
    for name, dtype, order, shape in TENSORS:
        n = size(shape)
        arrays[name] = np.array(everything[at:at + n], types[dtype]).reshape(shape, order="F" if order else "C")
        at += n
    np.savez(path, **arrays)


if __name__ == "__main__":
    golden = HERE.parent / "tensors.gn"
    if sys.argv[1:2] == ["--npz"]:
        write_arrays(sys.argv[2])
    elif sys.argv[1:] == ["--check"]:
        sys.exit(None if golden.read_bytes() == container() else f"{golden} is not what container.py makes")
    else:
        golden.write_bytes(container())
