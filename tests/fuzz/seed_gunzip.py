#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of fuzz_gunzip: gzip files good and bad, and bytes that are not gzip.

The files have every kind of block and header.

usage: seed_gunzip.py CORPUS
"""
import pathlib
import random
import struct
import sys
import zlib

folder = pathlib.Path(sys.argv[1]) / "gunzip"
folder.mkdir(parents=True, exist_ok=True)
random.seed(1952)
NAME, COMMENT, EXTRA, HEADER_CRC = 8, 16, 4, 2


def member(plain, level=9, strategy=zlib.Z_DEFAULT_STRATEGY, flags=0):
    header = b"\x1f\x8b\x08" + bytes([flags]) + struct.pack("<IBB", 0, 0, 3)
    header += (struct.pack("<H", 5) + b"extra") * bool(flags & EXTRA) + b"name\0" * bool(flags & NAME) + b"said\0" * bool(flags & COMMENT)
    header += struct.pack("<H", zlib.crc32(header) & 0xFFFF) * bool(flags & HEADER_CRC)
    packer = zlib.compressobj(level, zlib.DEFLATED, -15, 9, strategy)
    return header + packer.compress(plain) + packer.flush() + struct.pack("<II", zlib.crc32(plain), len(plain))


text = b"".join(struct.pack("<f", random.gauss(0, 0.01)) for _ in range(60)) + bytes(300)
good = member(text)
seeds = {
    "dynamic": good,
    "fixed": member(b"gradients and gradients", strategy=zlib.Z_FIXED),
    "stored": member(random.randbytes(100), level=0),
    "empty": member(b""),
    "fields": member(b"gradnic", flags=NAME | COMMENT | EXTRA | HEADER_CRC),
    "two": member(b"first") + member(b"second"),
    "empty_between": member(b"a") + member(b"") + member(b"b"),
    "padded": member(b"on a tape") + bytes(100),
    "padded_then_more": member(b"on a tape") + bytes(100) + member(b"x"),
    "garbage_behind": member(b"good") + b"garbage",
    "half_magic_behind": member(b"good") + b"\x1f\x8b",
    "reserved_flag": b"\x1f\x8b\x08\xe0" + good[4:],
    "header_crc_wrong": member(b"x", flags=HEADER_CRC)[:10] + b"\0\0" + member(b"x")[10:],
    "crc_wrong": good[:-8] + bytes([good[-8] ^ 1]) + good[-7:],
    "length_wrong": good[:-1] + b"\1",
    "cut_in_header": member(b"x", flags=NAME)[:12],
    "cut_in_block": good[: len(good) // 2],
    "cut_in_trailer": good[:-3],
    "damaged": good[:40] + bytes([good[40] ^ 0xFF]) + good[41:],
    "bomb": member(bytes(200_000)),
    "plain": text,
    "three_bytes": b"\x1f\x8b\x08",
}
for name, data in seeds.items():
    (folder / name).write_bytes(data)
