#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""switch_noise.py ADDRESS TCP-PORT FIRST-LAST SECONDS: noise from a stranger.

It sends random datagrams to a switch's UDP ports, and random bytes to its TCP port."""
import os, random, socket, sys, time

address, tcp, ports, seconds = sys.argv[1:5]
first, last = map(int, ports.split("-"))
rng = random.Random(1)
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
end = time.monotonic() + float(seconds)
sent = connections = 0
while time.monotonic() < end:
    for _ in range(200):
        udp.sendto(os.urandom(rng.randrange(0, 300)), (address, rng.randrange(first, last + 1)))
        sent += 1
        if sent % 10 == 0:
            time.sleep(0.002)
    try:
        with socket.create_connection((address, int(tcp)), timeout=5) as s:
            s.sendall(rng.choice([b"", b"GNAD", b"GNAD\x05\x00"]) + os.urandom(rng.randrange(0, 700)))
            connections += 1
    except (ConnectionResetError, BrokenPipeError):
        connections += 1
print(sent, connections)
assert sent > 1000 and connections > 5
