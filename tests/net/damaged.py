#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Datagrams of which some were damaged on their way to the host that forwards them.

  damaged.py send SOURCE DESTINATION PORT TOS   40 with the right checksum, and 40 with a wrong one
  damaged.py receive ADDRESS PORT               prints how many came with each
"""

import random
import socket
import struct
import sys
import time

COUNT = 40
VALUES = 300
DAMAGE = struct.pack("<f", 12345.0)


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF or 0xFFFF


def datagram(source, destination, port, tos, index, damaged):
    values = bytearray(struct.pack(f"<{VALUES}f", *(random.gauss(0, 1) for _ in range(VALUES))))
    udp = [5000, port, 8 + len(values)]
    pseudo = source + destination + struct.pack("!BBH", 0, socket.IPPROTO_UDP, udp[2])
    right = checksum(pseudo + struct.pack("!HHHH", *udp, 0) + values)
    if damaged:
        values[100:104] = DAMAGE
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, tos, 20 + udp[2], index, 0x4000, 64, socket.IPPROTO_UDP, 0, source, destination)
    return ip + struct.pack("!HHHH", *udp, right) + values


def send(source, destination, port, tos):
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as out:
        for index in range(2 * COUNT):
            out.sendto(datagram(socket.inet_aton(source), socket.inet_aton(destination), port, tos, index, index % 2),
                       (destination, 0))
            time.sleep(0.002)


def receive(address, port):
    came = [0, 0]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as heard:
        heard.bind((address, port))
        heard.settimeout(30)
        while sum(came) < 2 * COUNT:
            try:
                data = heard.recv(65536)
            except TimeoutError:
                break
            came[data[100:104] == DAMAGE] += 1
            heard.settimeout(3)
    print(*came)


def main():
    what, *rest = sys.argv[1:]
    if what == "send":
        send(rest[0], rest[1], int(rest[2]), int(rest[3], 0))
    else:
        receive(rest[0], int(rest[1]))


if __name__ == "__main__":
    main()
