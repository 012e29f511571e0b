#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints one line of hexadecimal per packet of a capture, without time stamps.

The capture is a classic pcap on standard input."""
import struct, sys

data = sys.stdin.buffer.read()
order = '<' if data[:4] in (b'\xd4\xc3\xb2\xa1', b'\x4d\x3c\xb2\xa1') else '>'
at = 24
while at < len(data):
    length = struct.unpack(order + 'I', data[at + 8:at + 12])[0]
    print(data[at + 16:at + 16 + length].hex())
    at += 16 + length
