#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""datagrams.py send|receive ADDRESS PORT: 200 marked datagrams of known content.

The last half goes through UDP_SEGMENT."""
import ipaddress, random, socket, struct, sys, time

what, address, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
six = ipaddress.ip_address(address).version == 6
head, bound = (12, 2 ** -10) if port == 6000 else (0, 2 ** -8)
UDP_SEGMENT = 103


def content(index):
    rng = random.Random(index)
    count = rng.choice([1, 2, 7, 8, 9, 63, 200, 340]) if index < 100 else 300
    header = bytes(rng.randrange(256) for _ in range(12))
    tail = b'' if index >= 100 else bytes(rng.randrange(256) for _ in range(rng.randrange(4)))
    return (header if head else b'') + struct.pack(f'<{count}f', *(rng.gauss(0, 0.01) for _ in range(count))) + tail


def check(index, got):
    want = content(index)
    if len(got) != len(want) or got[:head] != want[:head]:
        return f'datagram {index}: {len(got)} bytes instead of {len(want)}, or another header'
    count = (len(want) - head) // 4
    values = zip(struct.unpack_from(f'<{count}f', got, head), struct.unpack_from(f'<{count}f', want, head))
    if any(abs(a - b) > bound for a, b in values) or got[head + 4 * count:] != want[head + 4 * count:]:
        return f'datagram {index}: a value beyond the bound, or another tail'
    return None


def send(out):
    level, option = (socket.IPPROTO_IPV6, socket.IPV6_TCLASS) if six else (socket.IPPROTO_IP, socket.IP_TOS)
    out.setsockopt(level, option, 0x28)
    out.connect((address, port))
    for index in range(100):
        out.send(content(index))
        time.sleep(0.001)
    out.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, len(content(100)))
    for first in range(100, 200, 20):
        out.send(b''.join(content(index) for index in range(first, first + 20)))
        time.sleep(0.02)


def receive(into):
    into.bind((address, port))
    into.settimeout(10)
    for index, got in enumerate([into.recv(65536) for _ in range(200)]):
        wrong = check(index, got)
        if wrong:
            sys.exit(wrong)


{'send': send, 'receive': receive}[what](socket.socket(socket.AF_INET6 if six else socket.AF_INET, socket.SOCK_DGRAM))
