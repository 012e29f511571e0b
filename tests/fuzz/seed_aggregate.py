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
halves = struct.pack("<3e", 1, -2.5, 65504)
sums = struct.pack("<3i", 1 << 16, -5 << 14, 2**31 - 1)
strange = struct.pack("<3H", 0x7C00, 0x7E00, 0xFC01)
for mode, name in ((0, "half"), (3, "half_shared"), (6, "half_preemptive")):
    seeds[name] = row(9 + mode, *[(w, header(0, 5, 0, 2 * n, 1 << w, 3, flags=32, version=n & 1) + halves) for n in range(2) for w in (0, 1)], (201, b""))
    seeds[name + "_strange"] = row(9 + mode, (0, header(0, 5, 0, 0, 1, 3, flags=32) + strange), (1, header(0, 5, 0, 0, 2, 3, flags=32) + halves),
                                   (200, header(2, 5, 1, 1, 1, 3, flags=32) + halves), (200, header(2, 5, 1, 1, 2, 3, flags=32) + sums), (201, b""))
few = struct.pack("<3e", 0.5, -3, 0)
seeds["half_leaf"] = row(9, *[(w, header(0, 6, 0, 0, 1 << w, 3, flags=32) + few) for w in (0, 1)],
                         (2, header(1, 6, 0, 0, 3, 3, flags=32, level=1) + strange), (2, header(1, 6, 0, 0, 3, 3, flags=32, level=1) + halves), (0, header(0, 6, 0, 0, 1, 3, flags=36) + halves))
seeds["half_elsewhere"] = row(0, (0, header(0, 0, 0, 0, 1, 3, flags=32) + halves), (0, header(0, 0, 0, 0, 1, 3, flags=32) + words),
                              (0, shimmed(3, 32 + 4 * 32, header(0, 2, 0, 0, 1, 32, flags=32, following=10) + b"\0\0\0")))
dense_round = dense[:8] + header(0, 2, 0, 0, 1, 32, following=10) + b"\0\0\0"
later = (201, b"")
for mode, name in ((3, "shared"), (6, "preemptive")):
    first, second = [header(0, 0, 0, 0, 1 << w, 3, priority=50) + words for w in (0, 1)]
    seeds[name + "_whole"] = row(mode, (0, first), (1, second), (1, second))
    seeds[name + "_collide"] = row(mode, *[(w, header(0, job, slot, slot, 1 << w, 3, priority=60 * slot + job) + words[:8] + b"\0\0\0\0")
                                           for w in (0, 1) for job in (0, 0) for slot in (0, 1)], later, later)
    seeds[name + "_dense"] = row(mode + 2, (0, dense_round), later, (1, dense2), later, later, (200, dense_round))
    seeds[name + "_parts"] = row(mode, (200, header(2, 0, 0, 0, 1, 3) + words), later, (1, header(5, 0, 0, 0, 2, 0)), (1, header(2, 0, 0, 0, 2, 3) + words),
                                 (3, header(4, 0, 0, 0, 3, 0)), (3, header(3, 0, 0, 0, 0, 0)), (3, header(1, 0, 1, 1, 3, 3) + words), later)
    lattice = [shimmed(2, 32 + 32, header(0, 3, 0, 0, 1 << w, 8, following=10) + b"\0\0") for w in (0, 1)]
    result = shimmed(3, 32 + 32, header(1, 3, 0, 0, 7, 8, following=10, fanin=3) + b"\0")
    seeds[name + "_leaf"] = row(mode, (0, lattice[0]), (2, header(3, 3, 0, 0, 0, 0, following=10, fanin=3)), (1, lattice[1]), (2, result),
                                (2, header(4, 3, 0, 0, 6, 0, following=10, fanin=3)))
    part, rest = [shimmed(k, 32 + 32, header(0, 4, 0, 0, b, 8, following=10, fanin=3) + b"\0\0") for k, b in ((2, 1), (3, 6))]
    seeds[name + "_root"] = row(mode, (0, part), (3, header(3, 4, 0, 0, 0, 0, following=10, fanin=3)), (1, rest), (1, header(2, 4, 0, 0, 2, 0, following=10, fanin=3)),
                                (3, header(4, 4, 0, 0, 6, 0, following=10, fanin=3)), (3, header(1, 4, 0, 0, 7, 0, following=10, fanin=3)))
folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "corpus" / "aggregate")
folder.mkdir(parents=True, exist_ok=True)
for name, data in seeds.items():
    (folder / name).write_bytes(data)
