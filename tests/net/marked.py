#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A program that marks its traffic with ToS 0x28 although it sends no gradients.

  marked.py receive PORT FILE BYTES   waits for one TCP connection, writes what it brings
  marked.py send ADDRESS PORT FILE    sends the file over TCP, in writes of odd sizes

More than TCP: receive-HOW and send-HOW, where HOW is

  datagrams   datagrams, one every 2 ms
  mptcp       a connection of MPTCP
  signed      TCP-MD5; `receive-signed` takes the sender's address, too

`marked.py can HOW` says whether this kernel can.
"""

import socket
import struct
import sys
import time

SECONDS = 30
DATAGRAM = 1000
IPPROTO_MPTCP = 262
TCP_MD5SIG = 14


def opened(family, how):
    if how == "datagrams":
        return socket.socket(family, socket.SOCK_DGRAM)
    return socket.socket(family, socket.SOCK_STREAM, IPPROTO_MPTCP if how == "mptcp" else 0)


def sign(out, far):
    """RFC 2385. All traffic with one address has one key."""
    key = b"nobody else has it"
    if ":" in far:
        address = struct.pack("=HHI16sI", socket.AF_INET6, 0, 0, socket.inet_pton(socket.AF_INET6, far), 0)
    else:
        address = struct.pack("=HH4s", socket.AF_INET, 0, socket.inet_aton(far))
    out.setsockopt(socket.IPPROTO_TCP, TCP_MD5SIG, struct.pack("=128sBBHi80s", address, 0, 0, len(key), 0, key))


def send(address, port, path, how):
    six = ":" in address
    with open(path, "rb") as file, opened(socket.AF_INET6 if six else socket.AF_INET, how) as out:
        out.setsockopt(*((socket.IPPROTO_IPV6, socket.IPV6_TCLASS) if six else (socket.IPPROTO_IP, socket.IP_TOS)),
                       0x28)
        out.settimeout(SECONDS)
        if how == "signed":
            sign(out, address)
        out.connect((address, port))
        size = DATAGRAM if how == "datagrams" else 100_001
        while piece := file.read(size):
            out.sendall(piece)
            if how == "datagrams":
                time.sleep(0.002)


def receive(port, path, count, how, far):
    # A key for an address of IPv4 counts for sockets of IPv4.
    family, everywhere = (socket.AF_INET, "0.0.0.0") if how == "signed" and ":" not in far else (socket.AF_INET6, "::")
    with opened(family, how) as heard, open(path, "wb") as file:
        if family == socket.AF_INET6:
            heard.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        heard.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if how == "signed":
            sign(heard, far)
        heard.settimeout(SECONDS)
        heard.bind((everywhere, port))
        if how != "datagrams":
            heard.listen()
        source = heard if how == "datagrams" else heard.accept()[0]
        source.settimeout(SECONDS)
        while count > 0 and (piece := source.recv(65536)):
            file.write(piece)
            count -= len(piece)
    return 0 if count == 0 else f"{count} bytes are missing"


def can(how):
    try:
        with opened(socket.AF_INET, how) as out:
            if how == "signed":
                sign(out, "127.0.0.1")
    except OSError as error:
        return f"this kernel has no {how} connections: {error}"
    return 0


def main():
    what, *rest = sys.argv[1:]
    action, _, how = what.partition("-")
    if action == "can":
        return can(rest[0])
    if action == "send":
        return send(rest[0], int(rest[1]), rest[2], how)
    return receive(int(rest[0]), rest[1], int(rest[2]), how, *(rest[3:] or [""]))



if __name__ == "__main__":
    sys.exit(main())
