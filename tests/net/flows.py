#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""flows.py serve|connect ADDRESS: a thousand marked connections at once.

16 KB of values go over each, and are checked at the far end. The connections stay until the input
of connect ends."""
import resource, selectors, socket, struct, sys

FLOWS, VALUES = 1000, 4000
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
values = struct.pack(f'<{VALUES}f', *((i % 97 - 48) / 1000 for i in range(VALUES)))


def serve(address):
    listener = socket.create_server((address, 7900), backlog=FLOWS)
    selector = selectors.DefaultSelector()
    got, done = {}, 0
    selector.register(listener, selectors.EVENT_READ)
    while done < FLOWS:
        for key, _ in selector.select():
            if key.fileobj is listener:
                connection, _ = listener.accept()
                got[connection] = b''
                selector.register(connection, selectors.EVENT_READ)
                continue
            connection = key.fileobj
            got[connection] += connection.recv(65536)
            if len(got[connection]) < len(values):
                continue
            pairs = zip(struct.unpack(f'<{VALUES}f', got[connection]), struct.unpack(f'<{VALUES}f', values))
            connection.sendall(b'y' if all(abs(a - b) <= 2 ** -10 for a, b in pairs) else b'n')
            selector.unregister(connection)
            done += 1


def connect(address):
    flows = []
    for _ in range(FLOWS):
        flow = socket.socket()
        flow.settimeout(30)
        flow.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0x28)
        flow.connect((address, 7900))
        flows.append(flow)
    for flow in flows:
        flow.sendall(values)
    wrong = sum(flow.recv(1) != b'y' for flow in flows)
    sys.stdin.read()
    sys.exit(f'{wrong} flows with wrong values' if wrong else 0)


{'serve': serve, 'connect': connect}[sys.argv[1]](sys.argv[2])
