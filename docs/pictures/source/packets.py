# SPDX-License-Identifier: Apache-2.0
"""packet-shim.svg, packet-aggregation.svg and packet-admission.svg: what lies where in a packet.

For docs/wire.md and docs/switch.md. Fields are those of cmodel/shim.c, switch/packet.h and
switch/admission.c, in their order.
"""

from drawing import Picture

LEFT, BYTE, ROW = 64, 160, 46  # a row is four bytes wide


def strip(p, y, pieces, height=52):
    """The parts of a packet side by side: (words, more words, width, colour)."""
    x = 16
    for words, more, width, colour in pieces:
        p.rect(x, y, width - 4, height, colour + "-soft", colour, 4)
        p.text(x + width / 2 - 2, y + (22 if more else 31), words, 15, "ink", "middle", bold=True)
        if more:
            p.text(x + width / 2 - 2, y + 41, more, 13, "quiet", "middle")
        x += width
    return x


def grid(p, y, rows):
    """Rows of four bytes. A field: (words, more words, bytes, colour); bytes may be a half."""
    for i in range(4):
        p.text(LEFT + BYTE * (i + 0.5), y - 7, f"+{i}", 13, "quiet", "middle")
    top = y - ROW
    for offset, fields, *height in rows:
        top, x, high = top + ROW, LEFT, (height or [1])[0] * ROW
        p.text(LEFT - 14, top + ROW / 2 + 5, str(offset), 14, "quiet", "end")
        for words, more, width, colour in fields:
            wide = width * BYTE
            middle = top + (high - ROW) / 2
            p.rect(x + 1, top + 1, wide - 3, high - 4, colour + "-soft", colour, 3)
            size = 15 if len(words) * 9 < wide else 13
            p.text(x + wide / 2, middle + (19 if more else 28), words, size, "ink", "middle", bold=True)
            if more:
                p.text(x + wide / 2, middle + 36, more, 13, "quiet", "middle")
            x += wide
        top += high - ROW
    return top + ROW


def shim():
    p = Picture(
        344,
        "The shim header, ahead of a compressed payload",
        "Eight bytes: magic 0x474E; version and kind, four bits each; the bound exponent k; L, the bytes before"
        " compression; head, the bytes that stay verbatim; a CRC-8. Then head verbatim bytes, the stream, and the last"
        " bytes verbatim.",
    )
    p.text(16, 32, "A packet with a compressed payload", bold=True)
    strip(
        p,
        46,
        [
            ("IP", None, 52, "grey"),
            ("TCP or UDP", None, 112, "grey"),
            ("shim", "8 bytes", 84, "orange"),
            ("head", "verbatim", 92, "grey"),
            ("stream", "compressed values", 216, "blue"),
            ("tail", "0–3 verbatim", 132, "grey"),
        ],
    )
    p.text(16, 140, "The shim, numbers big-endian", bold=True)
    bottom = grid(
        p,
        172,
        [
            (
                0,
                [
                    ("magic", "0x474E", 2, "orange"),
                    ("version", "1", 0.5, "orange"),
                    ("kind", "0–3", 0.5, "orange"),
                    ("k", "the bound is 2^-k", 1, "orange"),
                ],
            ),
            (
                4,
                [
                    ("L", "bytes before compression", 2, "orange"),
                    ("head", "verbatim bytes", 1, "orange"),
                    ("CRC-8", "of bytes 0–6", 1, "orange"),
                ],
            ),
        ],
    )
    p.lines(
        16,
        bottom + 28,
        [
            "Kind 0 is stored: L bytes follow as they were. 1 is paper, 2 is lattice, 3 is dense. The stream",
            "holds (L − head) / 4 values, rounded down; its length follows from the packet's.",
        ],
        14.5,
        21,
        role="quiet",
    )
    return p.svg()


def aggregation():
    p = Picture(
        628,
        "The header of aggregation",
        "32 bytes, big-endian: version and type, flags, job; generation, version bit and slot; psn; bitmap; level and"
        " fan-in, priority; exponent, next exponent or k, number of values; a CRC-32. A compressed payload has the shim"
        " ahead of this header.",
    )
    p.text(16, 32, "A datagram between a worker and a switch", bold=True)
    strip(
        p,
        46,
        [
            ("IP", None, 52, "grey"),
            ("UDP", None, 68, "grey"),
            ("shim", "if compressed", 128, "orange"),
            ("header", "32 bytes", 168, "green"),
            ("values", "int32, binary32 or a stream", 272, "blue"),
        ],
    )
    p.text(16, 140, "The header, numbers big-endian", bold=True)
    bottom = grid(
        p,
        172,
        [
            (
                0,
                [
                    ("version", "1", 0.5, "green"),
                    ("type", "0–6", 0.5, "green"),
                    ("flags", None, 1, "green"),
                    ("job", None, 2, "green"),
                ],
            ),
            (
                4,
                [
                    ("generation", "new with every start of the job", 2, "green"),
                    ("version bit, slot", "1 bit, 15 bits", 2, "green"),
                ],
            ),
            (8, [("psn", "number of the chunk", 4, "purple")]),
            (12, [("bitmap", "8 bytes: a bit for each child that has contributed", 4, "purple")], 2),
            (
                20,
                [
                    ("level, bits", "4 bits, 12 bits", 2, "green"),
                    ("priority", "with FLOAT: the sender's rank", 2, "green"),
                ],
            ),
            (
                24,
                [
                    ("exponent", "int32: of the unit", 1, "blue"),
                    ("next", "or compressed: k", 1, "blue"),
                    ("values", "how many follow", 2, "blue"),
                ],
            ),
            (28, [("CRC-32", "of bytes 0–27", 4, "green")]),
        ],
    )
    p.lines(
        16,
        bottom + 28,
        [
            "Types: 0 GRADIENT, 1 RESULT, 2 EVICTED, 3 REMIND_SWITCH, 4 REMIND_WORKER, 5 QUERY,",
            "6 OVERFLOW. Flags: 1 FLOAT, 2 POISON, 4 RESENT, 8 ECN, 16 LATE, 32 HALVES. Values",
            "themselves are little-endian.",
        ],
        14.5,
        21,
        role="quiet",
    )
    return p.svg()


JOIN = [
    ("name", 48, "orange", 118),
    ("rank", 2, "orange", 84),
    ("ranks", 2, "orange", 84),
    ("level", 1, "green", 84),
    ("bit", 1, "green", 84),
    ("children", 1, "green", 100),
    ("parent_bit", 1, "green", 118),
    ("parent_children", 1, "green", 152),
    ("leader", 1, "green", 84),
    ("bits", 1, "purple", 84),
    ("format", 1, "blue", 84),
    ("k", 1, "blue", 60),
    ("packet_values", 2, "blue", 140),
    ("slots", 2, "blue", 84),
    ("priority", 2, "blue", 92),
    ("asker", 1, "purple", 84),
    ("listens", 2, "purple", 84),
    ("instance", 4, "purple", 100),
    ("patience", 4, "orange", 100),
    ("streams", 1, "blue", 96),
    ("udp_port", "2 each stream", "blue", 140),
    ("below", "1 each rank", "purple", 130),
]
WELCOME = [
    ("mode", 1, "blue", 84),
    ("streams", 1, "blue", 96),
    ("slots", 2, "blue", 84),
    ("bit", 1, "purple", 84),
    ("fanin", 1, "purple", 84),
]
OF_STREAM = [("job", 2, "blue", 84), ("generation", 2, "blue", 116), ("udp_port", 2, "blue", 100)]


def flow(p, y, fields, x=16, right=704):
    """Fields in their order, in as many rows as they take; with their bytes."""
    for words, size, colour, width in fields:
        if x + width > right + 4:
            x, y = 16, y + 54
        p.rect(x, y, width - 4, 48, colour + "-soft", colour, 4)
        p.text(x + width / 2 - 2, y + 20, words, 15, "ink", "middle", bold=True)
        p.text(x + width / 2 - 2, y + 39, str(size), 13, "quiet", "middle")
        x += width
    return x, y + 54


def admission():
    p = Picture(
        714,
        "Frames of admission",
        "Over TCP. Each frame: GNAD, version 5, type, length of the body. JOIN has the job's name, the worker's place,"
        " the format and UDP ports; WELCOME what was granted, and for each stream job, generation and UDP port.",
    )
    p.text(16, 32, "Every frame, by TCP at the switch's port", bold=True)
    grid(
        p,
        66,
        [
            (0, [("magic", "GNAD", 4, "grey")]),
            (4, [("version", "5", 1, "grey"), ("type", "0–6", 1, "grey"), ("length of body", "bytes", 2, "grey")]),
        ],
    )
    p.text(16, 196, "JOIN, type 0: fields in this order, with their bytes", bold=True)
    _, y = flow(p, 210, JOIN)
    p.text(16, y + 28, "WELCOME, type 1", bold=True)
    _, y = flow(p, y + 42, WELCOME)
    p.text(16, y + 18, "then for each stream:", 15, "quiet")
    _, y = flow(p, y + 30, OF_STREAM)
    p.lines(
        16,
        y + 24,
        [
            "Orange: who asks. Green: the place in the tree. Blue: what is asked for, and granted. Purple:",
            "for switches that ask; a worker has 0 there, and no “below”. Numbers are big-endian.",
            "REFUSED (2) and GONE (5) have a text that says why, PONG (4) a text or nothing, PING (3)",
            "and LEAVE (6) nothing.",
        ],
        14.5,
        21,
        role="quiet",
    )
    return p.svg()


def draw(_results):
    return {"packet-shim": shim(), "packet-aggregation": aggregation(), "packet-admission": admission()}
