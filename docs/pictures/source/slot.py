# SPDX-License-Identifier: Apache-2.0
"""slot.svg: the life of a slot of the switch, for docs/switch.md.

Memory mode partitioned; the rules are those of switch/partitioned.h and switch/copy.h.
"""

from drawing import Picture

STATES = {  # name: left, width, colour
    "EMPTY": (16, 92, "grey"),
    "OPEN": (200, 116, "blue"),
    "UP": (408, 92, "orange"),
    "DONE": (588, 116, "green"),
}
TOP, HEIGHT = 106, 56


def states_part(p):
    """What a copy of a slot goes through."""
    p.text(16, 34, "A copy of a slot", bold=True)
    p.text(16, 56, "An arrow says whose packet came.", 15, "quiet")
    for name, (x, width, colour) in STATES.items():
        p.box(x, TOP, width, HEIGHT, [name], colour + "-soft", colour, 18)
    middle = TOP + HEIGHT / 2
    for begin, end, words in (
        ("EMPTY", "OPEN", ["first", "child"]),
        ("OPEN", "UP", ["last", "child"]),
        ("UP", "DONE", ["the parent's", "result"]),
    ):
        x1, x2 = STATES[begin][0] + STATES[begin][1], STATES[end][0]
        p.arrow([(x1 + 3, middle), (x2 - 3, middle)])
        p.lines((x1 + x2) / 2, middle - 27, words, 14, 17, role="quiet", anchor="middle")
    p.arrow(f"M258 {TOP - 3}C300 {TOP - 56},600 {TOP - 56},642 {TOP - 3}")
    p.text(470, 56, "last child, at the root", 14, "quiet", "middle")
    for name, rows in (
        ("OPEN", ["dropped"]),
        ("UP", ["the sum goes", "up again"]),
        ("DONE", ["the result,", "to it alone"]),
    ):
        x = STATES[name][0] + STATES[name][1] / 2
        p.text(x, TOP + HEIGHT + 24, "a child again:", 14, "quiet", "middle", italic=True)
        p.lines(x, TOP + HEIGHT + 43, rows, 14, 18, role="ink", anchor="middle")
    bottom, joins = TOP + HEIGHT + 112, TOP + HEIGHT - 12
    p.arrow(
        f"M646 {TOP + HEIGHT + 74}V{bottom - 10}Q646 {bottom} 636 {bottom}H166Q156 {bottom} 156"
        f" {bottom - 10}V{joins + 10}Q156 {joins} 166 {joins}H197"
    )
    p.text(400, bottom + 21, "the next use of this copy", 14, "quiet", "middle")


def copies_part(p):
    """Why a slot has two copies: a result stays until everybody has it."""
    top = 352
    p.text(16, top, "The two copies of a slot", bold=True)
    p.text(16, top + 24, "Time goes to the right. Use u is in copy u mod 2.", 15, "quiet")
    rows = (
        (
            "copy 0",
            (
                (92, 128, "blue", "use u"),
                (222, 222, "green", "result of use u, kept"),
                (446, 128, "blue", "use u + 2"),
                (576, 128, "green", "result"),
            ),
        ),
        (
            "copy 1",
            (
                (92, 178, "green", "result of use u − 1"),
                (272, 128, "blue", "use u + 1"),
                (402, 302, "green", "result of use u + 1, kept"),
            ),
        ),
    )
    for i, (name, spans) in enumerate(rows):
        y = top + 44 + 56 * i
        p.text(16, y + 27, name, 15, "quiet")
        for x, width, colour, words in spans:
            p.rect(x, y, width, 42, colour + "-soft", colour, 4)
            p.text(x + 12, y + 27, words, 15, "ink")
    p.line(401, top + 36, 401, top + 168, "red", 2, "6 4")
    p.lines(
        401,
        top + 188,
        [
            "Here every child has contributed to use u + 1. So every child",
            "has the result of use u. Only now may use u + 2 overwrite it.",
        ],
        15,
        21,
        role="ink",
        anchor="middle",
    )


def draw(_results):
    p = Picture(
        582,
        "The life of a slot",
        "A copy of a slot is EMPTY, then OPEN from the first child's packet on. After the last child it is UP until the"
        " parent's result has come, or DONE at once at the root. A result is kept until all have contributed to the"
        " slot's next use, which is in the other copy.",
    )
    states_part(p)
    copies_part(p)
    return p.svg()
