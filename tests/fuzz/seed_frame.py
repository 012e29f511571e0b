#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of fuzz_frame_rx and fuzz_frame_tx, from the packets of tests/golden, and of fuzz_rules.

usage: seed_frame.py CORPUS
"""
import pathlib
import struct
import sys

corpus = pathlib.Path(sys.argv[1])
golden = pathlib.Path(__file__).parent.parent / "golden" / "packets.txt"
for target in ("frame_rx", "frame_tx", "rules"):
    (corpus / target).mkdir(parents=True, exist_ok=True)


def cases():
    case = []
    for line in golden.read_text().splitlines() + [""]:
        if line and line[0] != "#":
            case.append(tuple(line.split(" ", 1)))
        elif case:
            yield case
            case = []


for number, case in enumerate(cases()):
    first = dict(reversed(case))
    wire = bytes.fromhex(first["wire"])
    for flags in (0, 1) if number % 4 else (3, 5):
        (corpus / "frame_rx" / f"{number:02}-{flags}").write_bytes(bytes([flags]) + wire)
    if "host" not in first:
        continue
    host = bytes.fromhex(first["host"])
    cut, gso, mtu = first.get("cut", "mtu 0 1508").split()
    flags = (cut == "fill") | (2 if "cut" in first else 0) | (4 if number % 3 == 0 else 0) | (8 if number % 5 == 0 else 0) | 16
    head = 0 if first["head"] == "stored" else int(first["head"])
    setup = struct.pack("<BBBBHH", flags, 41, head, -head % 4, int(gso), int(mtu))
    (corpus / "frame_tx" / f"{number:02}").write_bytes(setup + host)

RULES = ["tos=0x28,proto=tcp,port=5000-5010,profile=lattice,k=10,head=0", "port=any", "k=-31,profile=lattice", "proto=udp,head=255",
         "tos=0xfc", "profile=paper,k=126", "port=0-65535,port=1", "tos=0x2a", "k=1e3", "=,=", "head=256"]
for number, rule in enumerate(RULES):
    (corpus / "rules" / f"{number:02}").write_text(rule)
