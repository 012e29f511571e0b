# SPDX-License-Identifier: Apache-2.0
"""system.svg: gradnic at one look, for the README.

A worker's gradient goes through the exchange and a compressing NIC; workers sum over a ring or
through a switch.
"""

import math

from drawing import Picture


def worker_panel(p, bits):
    """One worker: program, exchange, NIC. A thin arrow is what compression leaves."""
    p.rect(12, 12, 696, 240, "panel", None, 10)
    p.text(28, 40, "One worker", bold=True)
    p.box(24, 78, 136, 118, ["training", "your program:", "C today,", "PyTorch planned"], "page", "rule")
    p.box(230, 78, 150, 118, ["exchange", "libgradnic-comm,", "a C library"], "blue-soft", "blue")
    p.rect(448, 54, 176, 166, "orange-soft", "orange")
    p.text(536, 78, "NIC", anchor="middle", bold=True)
    p.text(536, 99, "compress, restore", 15, "quiet", "middle")
    p.box(460, 107, 152, 42, ["software", "`gradnic nic`"], "page", "orange", 15)
    p.text(536, 163, "same bytes", 13, "quiet", "middle", italic=True)
    p.box(460, 169, 152, 42, ["hardware", "Verilog, rtl/"], "page", "orange", 15)
    for x in (159, 379):
        p.line(x + 3, 137, x + 54, 137, "grey", 16)
        p.add("path", "f-grey", d=f"M{x + 52} 120L{x + 69} 137L{x + 52} 154z")
        p.lines(x + 36, 176, ["32 bits", "a value"], 14, 17, role="quiet", anchor="middle")
    p.arrow([(625, 137), (702, 137)], "blue", 3)
    p.lines(664, 160, [f"{bits:.1f} bits", "a value"], 14, 17, role="blue", anchor="middle", bold=True)
    p.text(664, 124, "link", 14, "quiet", "middle")
    p.text(
        28, 241, "What comes in takes the same way back. For a switch, the library may compress instead.", 14, "quiet"
    )


def node(p, x, y, name):
    """A worker with its NIC, seen from the network."""
    p.add("circle", "f-orange-soft s-orange", cx=x, cy=y, r=25, stroke_width=1.5)
    p.text(x, y + 6, name, 17, anchor="middle", bold=True)


def ring_panel(p):
    """Four workers in a ring."""
    p.rect(12, 262, 340, 280, "panel", None, 10)
    p.text(28, 290, "Sum over a ring", bold=True)
    p.text(28, 312, "Each worker adds, and passes it on.", 15, "quiet")
    cx, cy, radius = 182, 434, 76
    for i in range(4):
        begin, end = math.radians(90 * i - 90 + 27), math.radians(90 * i - 27)
        x1, y1, x2, y2 = (
            cx + radius * math.cos(begin),
            cy + radius * math.sin(begin),
            cx + radius * math.cos(end),
            cy + radius * math.sin(end),
        )
        p.arrow(f"M{x1:.1f} {y1:.1f}A{radius} {radius} 0 0 1 {x2:.1f} {y2:.1f}", "blue", 3)
    for i in range(4):
        angle = math.radians(90 * i - 90)
        node(p, round(cx + radius * math.cos(angle)), round(cy + radius * math.sin(angle)), f"W{i}")


def switch_panel(p):
    """Four workers around a switch."""
    p.rect(368, 262, 340, 280, "panel", None, 10)
    p.text(384, 290, "Sum in a switch", bold=True)
    p.text(384, 312, "It adds streams without restoring", 15, "quiet")
    p.text(384, 331, "floats. Once up, once down.", 15, "quiet")
    p.box(446, 348, 184, 58, ["switch: Σ", "`gradnic switch`"], "green-soft", "green")
    for i in range(4):
        x = 412 + 84 * i
        p.arrow([(478 + 40 * i, 409), (x + (6 - 4 * i), 474)], "blue", 3, both=True)
        node(p, x, 502, f"W{i}")


def draw(results):
    ratio = next(
        r["ratio"]
        for r in results["ratio"]["results"]["all"]["results"]
        if r["codec"] == "dense" and r["bound_exp"] == 10
    )
    p = Picture(
        584,
        "gradnic: the system",
        "A training program gives its gradient to the exchange, libgradnic-comm. A NIC, in software or in hardware,"
        f" compresses what leaves from 32 to about {32 / ratio:.1f} bits a value. Workers sum over a ring, or a switch"
        " sums in the network. All workers end with the same bits.",
    )
    worker_panel(p, 32 / ratio)
    ring_panel(p)
    switch_panel(p)
    p.text(360, 569, "Every worker ends with the same bits. You choose the bound of the error.", 16, anchor="middle")
    return p.svg()
