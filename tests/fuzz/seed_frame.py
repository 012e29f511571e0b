#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of fuzz_frame_rx, fuzz_frame_tx, fuzz_too_big and fuzz_rules.

Those of the first three come from the packets of tests/golden.

usage: seed_frame.py CORPUS
"""
import pathlib
import struct
import sys

corpus = pathlib.Path(sys.argv[1])
golden = pathlib.Path(__file__).parent.parent / "golden" / "packets.txt"
for target in ("frame_rx", "frame_tx", "too_big", "rules"):
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
    wire = bytes.fromhex(first.get("wire") or first["host"])
    for flags in (0, 1) if number % 4 else (3, 5):
        (corpus / "frame_rx" / f"{number:02}-{flags}").write_bytes(bytes([flags]) + wire)
    if "host" not in first:
        continue
    host = bytes.fromhex(first["host"])
    cut, gso, mtu = first.get("cut", "mtu 0 1508").split()
    flags = (cut == "fill") | (2 if "cut" in first else 0) | number % 3 << 2 | 16
    head = 0 if first.get("head", "0") == "stored" else int(first.get("head", 0))
    setup = struct.pack("<BBBBHH", flags, 41, head, -head % 4, int(gso), int(mtu))
    (corpus / "frame_tx" / f"{number:02}").write_bytes(setup + host)
    if number % 4 == 0:
        (corpus / "too_big" / f"{number:02}").write_bytes(struct.pack(">H", 1280 + number) + host)


def ipv4(protocol, payload, fragment=0, source=10, destination=10, options=b""):
    addresses = bytes([source, 0, 0, 1, destination, 0, 0, 2])
    return struct.pack(">BBHHHBBH", 0x45 + len(options) // 4, 0, 20 + len(options) + len(payload), 1, fragment, 64, protocol, 0) + addresses + options + payload


def ipv6(following, payload, source=0xFD, destination=0xFD):
    return struct.pack(">IHBB", 6 << 28, len(payload), following, 64) + bytes([source] * 16 + [destination] * 16) + payload


# What gets an answer, and what must not have one: ICMP errors, later fragments, to or from many.
TOO_BIG = [ipv4(17, bytes(1472)), ipv4(17, bytes(60), options=bytes(40)), ipv4(1, b"\x08" + bytes(1400)), ipv4(1, b"\x03" + bytes(1400)), ipv4(1, b""),
           ipv4(6, bytes(600), fragment=0x2000), ipv4(6, bytes(600), fragment=1), ipv4(17, bytes(600), destination=224), ipv4(17, bytes(600), source=0),
           ipv6(17, bytes(1452)), ipv6(17, b""), ipv6(58, b"\x80" + bytes(1400)), ipv6(58, b"\x01" + bytes(1400)), ipv6(17, bytes(600), destination=0xFF),
           ipv6(17, bytes(600), source=0xFF), ipv6(17, bytes(600), source=0), ipv6(17, bytes(1195)), ipv4(17, bytes(532))]
for number, packet in enumerate(TOO_BIG):
    (corpus / "too_big" / f"made-{number:02}").write_bytes(b"\x05\x00" + packet)

RULES = ["tos=0x28,proto=tcp,port=5000-5010,profile=dense,k=10,head=0", "port=any", "k=-31,profile=lattice", "proto=udp,head=255",
         "tos=0xfc", "profile=paper,k=126", "port=0-65535,port=1", "tos=0x2a", "k=1e3", "=,=", "head=256"]
for number, rule in enumerate(RULES):
    (corpus / "rules" / f"{number:02}").write_text(rule)
