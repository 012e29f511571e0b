# SPDX-License-Identifier: Apache-2.0
"""The C model of the NIC (model.c), and frames to send through it.

GRADNIC_MODEL names the shared library. Frames are made by Scapy, which shares nothing with gradnic.
"""
import ctypes
import os
import struct

from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether

TOS = 0x28
ROOM = 1 << 17
MTU, MAX_RESTORED, LONGEST = 0x18, 0x1C, 9200  # registers, and what model.c has in both

_library = ctypes.CDLL(os.environ["GRADNIC_MODEL"])
for _name in ("model_tx", "model_rx"):
    _function = getattr(_library, _name)
    _function.restype = ctypes.c_long
    _function.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]


def begin(lanes):
    """As after a reset: no TCP flow is known."""
    assert _library.model_begin(lanes) == 0


begin(1)


def tx(frame):
    """What leaves for the wire. TCP flows are remembered: once for a frame, in order."""
    out = ctypes.create_string_buffer(ROOM)
    length = _library.model_tx(frame, len(frame), out, ROOM)
    return out.raw[:length]


def rx(frame):
    """What the host gets; b"" when the frame is dropped."""
    out = ctypes.create_string_buffer(ROOM)
    length = _library.model_rx(frame, len(frame), out, ROOM)
    return out.raw[:length]


def udp(payload, tos=TOS, port=2):
    return bytes(Ether(src="5A:51:52:53:54:55", dst="DA:D1:D2:D3:D4:D5") / IP(src="192.0.2.1", dst="192.0.2.2", tos=tos)
                 / UDP(sport=1, dport=port) / payload)


def tcp(payload, tos=TOS, flags="A", seq=7, port=2):
    return bytes(Ether(src="5A:51:52:53:54:55", dst="DA:D1:D2:D3:D4:D5") / IP(src="192.0.2.1", dst="192.0.2.2", tos=tos)
                 / TCP(sport=1, dport=port, flags=flags, seq=seq) / payload)


def gradient(count, sigma, random):
    return struct.pack(f"<{count}f", *[random.gauss(0, sigma) for _ in range(count)])


def checksums_hold(frame):
    """Whether Scapy comes to the same checksums of IP and UDP."""
    seen = Ether(frame)
    again = Ether(frame)
    del again[IP].chksum, again[UDP].chksum
    again = Ether(again.build())
    return (again[IP].chksum, again[UDP].chksum) == (seen[IP].chksum, seen[UDP].chksum)
