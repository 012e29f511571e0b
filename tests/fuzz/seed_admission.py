#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seeds for fuzz_admission: rows of frames."""
import struct
import sys
from pathlib import Path


def frame(kind, body=b""):
    return b"GNAD" + struct.pack(">BBH", 2, kind, len(body)) + body


def join(rank, ports, level=0, children=2, parent=(0, 0), leader=0, bits=0, form=2, bound=10):
    return frame(0, struct.pack(">48sHH8BbHHHB", b"train-1", rank, 2, level, rank, children, *parent, leader, bits, form, bound, 256, 512, 0,
                                len(ports)) + struct.pack(f">{len(ports)}H", *ports))


welcome = frame(1, struct.pack(">BBHBB6H", 1, 2, 512, 2, 4, 1, 77, 4000, 2, 77, 4001))
seeds = {
    "join": join(0, [5000]) + join(1, [5000, 5001]),
    "leaf": join(0, [5000], level=1, parent=(1, 2), leader=64, form=0, bound=0),
    "shares": join(0, [5000], parent=(1, 2), bits=1) + join(1, [5000], bits=1),
    "welcome": welcome + frame(3) + frame(4) + frame(5, b"rank 1 has left"),
    "refused": frame(2, b"slots: rank 0 says 512, rank 1 says 256"),
    "short": join(0, [5000])[:-1],
}
folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "corpus" / "admission")
folder.mkdir(parents=True, exist_ok=True)
for name, data in seeds.items():
    (folder / name).write_bytes(data)
