#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""flood.py SOURCE TARGET KIND SECONDS INNER_SOURCE INNER_TARGET

Sends hostile datagrams to a NIC's port, from port 7777. KIND is one of these:

random: random bytes of random length
source: whole IP packets that claim to come from elsewhere
shim: marked UDP packets of the peer, right down to the shim header, whose rest is impossible"""
import ipaddress, os, random, socket, struct, sys, time

source, target, kind, seconds, inner_source, inner_target = sys.argv[1:7]
rng = random.Random(1)


def checksum(data):
    if len(data) % 2:
        data += b'\0'
    total = sum(struct.unpack(f'!{len(data) // 2}H', data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def packet(src, dst, payload, tos=0x28, break_checksum=False):
    addresses = ipaddress.ip_address(src).packed + ipaddress.ip_address(dst).packed
    length = 8 + len(payload)
    udp = struct.pack('!HHHH', 4000, 4001, length, 0) + payload
    check = checksum(addresses + struct.pack('!HH', 17, length) + udp) or 0xffff
    if break_checksum:
        check = (check ^ 0x5555) or 1
    udp = udp[:6] + struct.pack('!H', check) + udp[8:]
    ip = struct.pack('!BBHHHBBH', 0x45, tos, 20 + length, 1, 0, 64, 17, 0) + addresses
    return ip[:10] + struct.pack('!H', checksum(ip)) + ip[12:] + udp


def crc8(data):
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ 0x07 if crc & 0x80 else crc << 1) & 0xff
    return crc


def shim(version=1, kind=2, bound=10, length=400, head=0):
    header = struct.pack('!HBbHB', 0x474e, version << 4 | kind, bound, length, head)
    return header + bytes([crc8(header)])


def malformed():
    which = rng.randrange(8)
    body = os.urandom(rng.randrange(1, 300))
    if which == 0:
        return shim(version=rng.choice([0, 2, 9, 15])) + body, False
    if which == 1:
        return shim(kind=rng.randrange(4, 16)) + body, False
    if which == 2:
        return shim(bound=rng.choice([-100, 60, 127])) + body, False
    if which == 3:
        return shim(length=8, head=200) + body, False
    if which == 4:
        return shim(kind=0, bound=0, length=9999) + body, False
    if which == 5:
        return shim(length=4 * 500) + b'\xff' * rng.randrange(1, 30), False
    if which == 6:  # dense: three bytes that claim more zeros than the length allows, or a record that is not there
        return shim(kind=3, length=4 * rng.randrange(1, 8160)) + rng.choice([b'\0\0\xff', b'\xff\xff\xff']), False
    return shim() + body, True


def make():
    if kind == 'random':
        return os.urandom(rng.randrange(0, 1400))
    if kind == 'source':
        src = rng.choice(['10.77.0.1', '10.77.0.3', '8.8.8.8', '127.0.0.1', '0.0.0.0', '10.77.0.255', '224.0.0.1'])
        return packet(src, inner_target, os.urandom(rng.randrange(1, 500)), tos=rng.choice([0, 0x28]))
    payload, broken = malformed()
    return packet(inner_source, inner_target, payload, break_checksum=broken)


out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.bind((source, 7777))
end = time.monotonic() + float(seconds)
while time.monotonic() < end:
    for _ in range(50):
        out.sendto(make(), (target, 7777))
    time.sleep(0.001)
