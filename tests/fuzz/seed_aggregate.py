#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seeds for fuzz_aggregate: rows of packets that get somewhere."""
import struct
import sys
import zlib
from pathlib import Path


def header(kind, job, slot, psn, bitmap, values, flags=0, following=0, fanin=2, version=0, level=0, exponent=0, priority=0):
    h = struct.pack(">BBHHHIQHHbbH", 0x10 | kind, flags, job, 1, version << 15 | slot, psn, bitmap, level << 12 | fanin, priority,
                    exponent, following, values)
    return h + struct.pack(">I", zlib.crc32(h))


def shimmed(kind, length, rest):
    return b"GN" + struct.pack(">BbHBB", 0x10 | kind, 10 if kind else 0, length, 32 if kind else 0, 0) + rest


def row(first, *packets):
    return bytes([first]) + b"".join(struct.pack(">BH", port, len(p)) + p for port, p in packets)


words = struct.pack("<3i", 1, -2, 2**31 - 1)
dense = shimmed(3, 32 + 4 * 32, header(0, 2, 0, 0, 1, 32, following=10) + b"\0\0\0")
dense2 = shimmed(3, 32 + 4 * 32, header(0, 2, 0, 0, 2, 32, following=10) + b"\1\0\xff")
stored = shimmed(0, 32 + 12, header(0, 2, 1, 1, 1, 3, following=10) + struct.pack("<3f", 1, 2, float("nan")))
seeds = {
    "sum": row(0, (0, header(0, 0, 0, 0, 1, 3) + words), (1, header(0, 0, 0, 0, 2, 3) + words)),
    "phases": row(0, *[(w, header(0, 0, 0, 2 * n, 1 << w, 3, version=n & 1) + words[:8] + b"\0\0\0\0") for n in range(3) for w in (0, 1)]),
    "dense": row(2, (0, dense), (1, dense2), (0, dense)),
    "stored": row(2, (0, stored), (1, stored)),
    "poison": row(0, (0, header(0, 0, 0, 0, 1, 0, flags=2)), (1, header(0, 0, 0, 0, 2, 3) + words),
                  (1, header(0, 0, 0, 0, 2, 3, flags=1, priority=1) + words), (0, header(6, 0, 0, 0, 3, 0))),
    "leaf": row(1, (0, shimmed(2, 32 + 32, header(0, 1, 0, 0, 1, 8, following=10) + b"\0\0")), (1, shimmed(2, 32 + 32, header(0, 1, 0, 0, 2, 8, following=10) + b"\0\0")),
                (2, shimmed(2, 32 + 32, header(1, 1, 0, 0, 3, 8, following=10, level=1) + b"\0\0"))),
}
folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "corpus" / "aggregate")
folder.mkdir(parents=True, exist_ok=True)
for name, data in seeds.items():
    (folder / name).write_bytes(data)
