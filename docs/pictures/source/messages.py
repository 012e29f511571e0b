# SPDX-License-Identifier: Apache-2.0
"""ring.svg and switch-messages.svg: who sends what to whom.

For docs/collectives.md and docs/switch.md. The order of blocks is that of ring/ring.c.
"""

from drawing import Picture


def lifelines(p, names, xs, top, bottom, width):
    """The parties side by side, and the time that goes down below them."""
    for (name, colour), x in zip(names, xs):
        p.line(x, top + 40, x, bottom, "rule", 2)
        p.box(x - width / 2, top, width, 40, [name], colour + "-soft", colour, 17 if len(name) < 10 else 15)


def ring_step(p, xs, y, step, ranks):
    """One step of the ring: everybody sends at the same time."""
    adds = step < ranks - 1
    p.text(16, y + 6, f"step {step}", 16, bold=True)
    p.text(16, y + 28, "adds" if adds else "stores", 15, "quiet")
    for rank in range(ranks):
        block = (rank - step) % ranks  # ring.c: rank r sends block r - s
        x1, x2 = xs[rank], xs[rank + 1]
        whole = step >= ranks - 1
        p.arrow([(x1 + 3, y), (x2 - 4, y)], "green" if whole else "blue", 2.5)
        p.text((x1 + x2) / 2, y - 8, f"block {block}", 15, "ink", "middle")
        parts = [(block + i) % ranks for i in range(step + 2)]
        done = len(parts) >= ranks
        words = "whole" if done else " + ".join(str(r) for r in parts)
        colour = "green" if done else "blue"
        p.rect(x2 - 52, y + 12, 104, 28, colour + "-soft", colour, 14)
        p.text(x2, y + 32, f"{block}: {words}", 15, "ink", "middle")


def ring():
    ranks, xs, top = 3, (136, 306, 476, 646), 16
    steps = 2 * (ranks - 1)
    bottom = 152 + 78 * steps
    p = Picture(
        bottom + 84,
        "A ring of three ranks",
        "In step s rank r sends block r - s to its right neighbour. In the first two steps what arrives is added to the"
        " rank's own block; after them each block is whole at one rank. In the last two steps the whole blocks go round"
        " and are stored.",
    )
    names = [
        (f"rank {r % ranks}" + (", again" if r == ranks else ""), "grey" if r == ranks else "orange")
        for r in range(ranks + 1)
    ]
    lifelines(p, names, xs, top, bottom - 26, 118)
    p.text(16, 92, "control", 16, "quiet")
    for x1, x2 in zip(xs, xs[1:]):
        p.arrow([(x1 + 3, 87), (x2 - 3, 87)], "grey", 1.5, "5 4", both=True)
        p.rect((x1 + x2) / 2 - 18, 76, 36, 22, "page")
        p.text((x1 + x2) / 2, 92, "OP", 15, "quiet", "middle")
    for step in range(steps):
        ring_step(p, xs, 138 + 78 * step, step, ranks)
    p.lines(
        16,
        bottom + 8,
        [
            "“0: 0 + 1” is block 0, with the values of ranks 0 and 1 in it. Blocks have no headers: a",
            "connection is one stream. A rank sends on what has come while the rest of a block is",
            "still on its way. N ranks take 2(N − 1) steps; each link carries 2(N − 1)/N of a vector.",
        ],
        15,
        22,
        role="quiet",
    )
    return p.svg()


def message(p, x1, x2, y, words, colour="blue", dash=None, side=None):
    """An arrow with its name above. With side, the name stands at that end."""
    p.arrow(
        [(x1 + (4 if x2 > x1 else -4), y), (x2 + (-4 if x2 > x1 else 4), y)], colour, 2.5 if not dash else 1.8, dash
    )
    p.text((x1 + x2) / 2 if side is None else side, y - 8, words, 15, "ink", "middle")


def lost(p, x1, x2, y, words):
    """A message that does not arrive."""
    p.line(x1 + (4 if x2 > x1 else -4), y, x2, y, "red", 2.5)
    for dx in (-8, 8):
        p.line(x2 - 8, y - dx, x2 + 8, y + dx, "red", 2.5)
    p.text((x1 + x2) / 2, y - 8, words, 15, "ink", "middle")


def note(p, x, y, words, colour="green", width=196):
    """What somebody does, on its life line."""
    p.rect(x - width / 2, y, width, 28, colour + "-soft", colour, 14)
    p.text(x, y + 19, words, 14, "ink", "middle")


def switch():
    w0, sw, w1 = 106, 360, 614
    p = Picture(
        760,
        "Messages between two workers and a switch",
        "Workers join over TCP and are welcomed when all have come. Then each sends its chunk by UDP; the switch adds"
        " and sends the result to all. When a packet is lost on its way up, both workers send again after their"
        " timeout; what has been added already is dropped.",
    )
    lifelines(p, [("worker 0", "orange"), ("switch", "green"), ("worker 1", "orange")], (w0, sw, w1), 16, 690, 150)

    p.text(16, 92, "TCP", 15, "quiet")
    message(p, w0, sw, 100, "JOIN", "grey", "5 4")
    message(p, w1, sw, 128, "JOIN", "grey", "5 4")
    message(p, sw, w0, 158, "WELCOME", "grey", "5 4")
    message(p, sw, w1, 158, "WELCOME", "grey", "5 4")

    p.text(16, 202, "UDP", 15, "quiet")
    message(p, w0, sw, 210, "GRADIENT, psn 0")
    note(p, sw, 220, "slot 0 opens", "blue")
    message(p, w1, sw, 276, "GRADIENT, psn 0")
    note(p, sw, 286, "all here: whole", "green")
    message(p, sw, w0, 342, "RESULT, psn 0", "green")
    message(p, sw, w1, 342, "RESULT, psn 0", "green")

    message(p, w0, sw, 392, "GRADIENT, psn s")
    note(p, sw, 402, "slot 0, its other copy", "blue")
    lost(p, w1, 470, 456, "GRADIENT, psn s")
    note(p, w0, 470, "timeout", "orange", 110)
    note(p, w1, 470, "timeout", "orange", 110)
    message(p, w0, sw, 526, "GRADIENT, RESENT")
    note(p, sw, 536, "has it already: dropped", "grey")
    message(p, w1, sw, 592, "GRADIENT, RESENT")
    note(p, sw, 602, "all here: whole", "green")
    message(p, sw, w0, 656, "RESULT, psn s", "green")
    message(p, sw, w1, 656, "RESULT, psn s", "green")
    p.lines(
        16,
        718,
        [
            "s chunks are under way at a time, one a slot: chunk psn is in slot psn mod s. Values are",
            "compressed here; a job of int32 first agrees on exponents. At the end all say LEAVE.",
        ],
        15,
        22,
        role="quiet",
    )
    return p.svg()


def draw(_results):
    return {"ring": ring(), "switch-messages": switch()}
