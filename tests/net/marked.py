#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A program that marks its traffic with ToS 0x28 although it sends no gradients.

  marked.py receive PORT FILE BYTES            waits for one TCP connection, writes what it brings
  marked.py send ADDRESS PORT FILE             sends the file over TCP, in writes of odd sizes
  marked.py receive-datagrams PORT FILE BYTES  the same with datagrams, one every 2 ms
  marked.py send-datagrams ADDRESS PORT FILE
"""

import socket
import sys
import time

SECONDS = 30
DATAGRAM = 1000


def marked(address, kind):
    six = ":" in address
    out = socket.socket(socket.AF_INET6 if six else socket.AF_INET, kind)
    out.setsockopt(*((socket.IPPROTO_IPV6, socket.IPV6_TCLASS) if six else (socket.IPPROTO_IP, socket.IP_TOS)), 0x28)
    out.settimeout(SECONDS)
    return out


def send(address, port, path, datagrams):
    with open(path, "rb") as file, marked(address, socket.SOCK_DGRAM if datagrams else socket.SOCK_STREAM) as out:
        out.connect((address, port))
        size = DATAGRAM if datagrams else 100_001
        while piece := file.read(size):
            out.sendall(piece)
            if datagrams:
                time.sleep(0.002)


def receive(port, path, count, datagrams):
    kind = socket.SOCK_DGRAM if datagrams else socket.SOCK_STREAM
    with socket.socket(socket.AF_INET6, kind) as heard, open(path, "wb") as file:
        heard.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        heard.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        heard.settimeout(SECONDS)
        heard.bind(("::", port))
        if not datagrams:
            heard.listen()
        source = heard if datagrams else heard.accept()[0]
        source.settimeout(SECONDS)
        while count > 0 and (piece := source.recv(65536)):
            file.write(piece)
            count -= len(piece)
    return 0 if count == 0 else f"{count} bytes are missing"


def main():
    what, *rest = sys.argv[1:]
    datagrams = what.endswith("-datagrams")
    if what.startswith("send"):
        return send(rest[0], int(rest[1]), rest[2], datagrams)
    return receive(int(rest[0]), rest[1], int(rest[2]), datagrams)


if __name__ == "__main__":
    sys.exit(main())
