#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tcp_noise.py ADDRESS SECONDS PORT...: connections of a stranger to TCP ports.

Some send random bytes, some nothing, some stay open for a while. A port without a listener is no
fault: a rendezvous is open for moments only."""
import os, random, socket, sys, time

address, seconds, ports = sys.argv[1], float(sys.argv[2]), [int(port) for port in sys.argv[3:]]
rng = random.Random()
held = []
end = time.monotonic() + seconds
while time.monotonic() < end:
    connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    connection.settimeout(1)
    try:
        connection.connect((address, rng.choice(ports)))
        connection.sendall(rng.choice([b"", b"GNRV", b"GET / HTTP/1.1\r\n\r\n"]) + os.urandom(rng.randrange(0, 700)))
        held.append(connection)
    except OSError:
        connection.close()
    if len(held) > 20 or (held and rng.random() < 0.3):
        held.pop(0).close()
    time.sleep(0.005)
