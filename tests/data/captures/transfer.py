# SPDX-License-Identifier: Apache-2.0
"""The two ends of the transfers in the captures of this folder (see capture.sh).

- marked TCP over IPv4 and IPv6: the float bytes of a gradient, written in pieces, with ToS 0x28
  set before connect and listen
- unmarked TCP: text, on a port of its own
- marked UDP: datagrams of 350 floats
- unmarked UDP
"""
import gzip
import socket
import sys
import time

TOS = 0x28
HOST4, HOST6 = "10.77.0.2", "fd77::2"
TEXT = b"This is not a gradient, and it has to arrive as it is. " * 100


def mark(sock):
    if sock.family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, TOS)
    else:
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, TOS)
    return sock


def listen(family, host, port, marked):
    sock = socket.socket(family, socket.SOCK_STREAM)
    if marked:
        mark(sock)
    sock.bind((host, port))
    sock.listen(1)
    return sock


def read_all(listener):
    peer, _ = listener.accept()
    total = 0
    while got := peer.recv(1 << 16):
        total += len(got)
    peer.sendall(b"done")
    peer.close()
    return total


def receive():
    listeners = [listen(socket.AF_INET, HOST4, 5000, True), listen(socket.AF_INET6, HOST6, 5001, True),
                 listen(socket.AF_INET, HOST4, 5002, False)]
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind((HOST4, 5003))
    print([read_all(listener) for listener in listeners])
    udp.settimeout(10)
    print(sum(len(udp.recv(65536)) for _ in range(8)))


def send_tcp(family, host, port, data, piece, marked):
    sock = socket.socket(family, socket.SOCK_STREAM)
    if marked:
        mark(sock)
    sock.connect((host, port))
    for at in range(0, len(data), piece):
        sock.sendall(data[at:at + piece])
        if piece < 10000:
            time.sleep(0.002)
    sock.shutdown(socket.SHUT_WR)
    assert sock.recv(100) == b"done"
    sock.close()


def send(path, scale):
    with gzip.open(path) as packed:
        data = packed.read()[128 + 400000:]  # behind the .npy header: little-endian binary32
    send_tcp(socket.AF_INET, HOST4, 5000, data[:20000 * scale], 20000 * scale, True)
    # Pieces that are no multiple of 4: segments begin and end within values.
    send_tcp(socket.AF_INET6, HOST6, 5001, data[20000 * scale:30000 * scale], 3001, True)
    send_tcp(socket.AF_INET, HOST4, 5002, TEXT, len(TEXT), False)
    for marked in (True, False):
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        if marked:
            mark(udp)
        for i in range(4):
            udp.sendto(data[i * 1400:(i + 1) * 1400], (HOST4, 5003))
            time.sleep(0.01)


if sys.argv[1] == "receive":
    receive()
else:
    send(sys.argv[2], int(sys.argv[3]))
