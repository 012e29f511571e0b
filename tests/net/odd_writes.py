#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Streams of marked values in writes of any size, so that TCP's segments end within values.

  odd_writes.py serve PORT STREAMS            checks each value of them; prints how many are wrong
  odd_writes.py connect ADDRESS PORT STREAMS  sends them, one after the other
"""
import array
import random
import socket
import sys

VALUES = 200_000
BOUND = 2.0 ** -10
SECONDS = 60


def values(seed):
    """The same at both ends. They are large against the bound, and neighbours differ."""
    chosen = random.Random(seed)
    return array.array("f", (chosen.gauss(0, 0.01) for _ in range(VALUES)))


def serve(port, streams):
    wrong = 0
    with socket.create_server(("0.0.0.0", port)) as listener:
        listener.settimeout(SECONDS)
        for seed in range(streams):
            connection = listener.accept()[0]
            connection.settimeout(SECONDS)
            got = bytearray()
            while len(got) < 4 * VALUES and (piece := connection.recv(1 << 16)):
                got += piece
            if len(got) != 4 * VALUES:
                sys.exit(f"{len(got)} bytes of {4 * VALUES} came")
            arrived = array.array("f", bytes(got))
            wrong += sum(abs(a - b) > BOUND for a, b in zip(arrived, values(seed)))
            connection.sendall(b"y")
            connection.close()
    print(wrong)


def connect(address, port, streams):
    for seed in range(streams):
        data, sizes, at = values(seed).tobytes(), random.Random(seed + 1000), 0
        with socket.socket() as out:
            out.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0x28)
            out.settimeout(SECONDS)
            out.connect((address, port))
            while at < len(data):
                out.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, sizes.randrange(2))
                size = sizes.randrange(1, 9000)
                out.sendall(data[at:at + size])
                at += size
            if out.recv(1) != b"y":
                sys.exit("the far end closed the connection")


def main():
    what, *rest = sys.argv[1:]
    if what == "serve":
        serve(int(rest[0]), int(rest[1]))
    else:
        connect(rest[0], int(rest[1]), int(rest[2]))


main()
