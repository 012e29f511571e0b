#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seeds for fuzz_admission: rows of frames."""
import struct
import sys
from pathlib import Path


def frame(kind, body=b""):
    return b"GNAD" + struct.pack(">BBH", 5, kind, len(body)) + body


def join(rank, ports, level=0, children=2, parent=(0, 0), leader=0, bits=0, form=2, bound=10, asker=0, below=()):
    is_switch = asker != 0
    return frame(0, struct.pack(">48sHH8BbHHHBHIIB", b"train-1", rank, 2, level, rank, children, *parent, leader, bits, form, bound, 256, 512, 0,
                                asker, 7777 * is_switch, 12345678 * is_switch, 30000, len(ports))
                 + struct.pack(f">{len(ports)}H", *ports) + bytes(below))


NOT = 255  # not below
welcome = frame(1, struct.pack(">BBHBB6H", 1, 2, 512, 2, 4, 1, 77, 4000, 2, 77, 4001))
seeds = {
    "join": join(0, [5000]) + join(1, [5000, 5001]),
    "leaf": join(0, [5000], level=1, parent=(1, 2), leader=64, form=0, bound=0, asker=1, below=[0, NOT]),
    "shares": join(0, [5000], parent=(1, 2), bits=1, asker=1, below=[0, NOT]) + join(1, [5000], bits=1, asker=1, below=[NOT, 0]),
    "root": join(0, [5000], level=1, asker=2, below=[1, 0]),
    "welcome": welcome + frame(3) + frame(4) + frame(4, b"rank 1 has not come") + frame(6) + frame(5, b"rank 1 has left"),
    "refused": frame(2, b"slots: rank 0 says 512, rank 1 says 256"),
    "short": join(0, [5000])[:-1],
    "stranger": join(0, [5000], level=1, asker=2, below=[1, 2]),
}
folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "corpus" / "admission")
folder.mkdir(parents=True, exist_ok=True)
for name, data in seeds.items():
    (folder / name).write_bytes(data)
