# SPDX-License-Identifier: Apache-2.0
"""planes.svg: how profile dense writes eight values of a real gradient plane by plane.

And 32 of them as one record. All numbers come from the library (bench/dense_example); none are
worked out here.
"""

from drawing import Picture

COLOURS = ("blue", "green", "purple", "red")  # of the four groups
LEFT, COLUMN = 122, 64  # where lane 0 begins; width of a lane


def signed(value, text):
    """With a real minus sign."""
    return ("−" if value < 0 else "") + text


def lane_x(lane):
    return LEFT + COLUMN * lane + COLUMN / 2


def values_part(p, values, steps):
    """Eight values, and the integers that they become."""
    p.text(16, 34, "1. Eight values become whole numbers of steps", bold=True)
    p.text(16, 66, "lane", 15, "quiet")
    p.text(16, 94, "value", 15, "quiet")
    p.text(16, 128, "in steps", 15, "quiet")
    p.rect(LEFT, 106, 8 * COLUMN, 32, "blue-soft", None, 4)
    for lane in range(8):
        p.text(lane_x(lane), 66, str(lane), 15, "quiet", "middle")
        p.text(lane_x(lane), 94, signed(values[lane], f"{abs(values[lane]):.4f}"), 14, "ink", "middle")
        p.text(lane_x(lane), 129, signed(steps[lane], str(abs(steps[lane]))), 19, "ink", "middle", bold=True)
    p.text(LEFT + 8 * COLUMN + 8, 128, "2⁻⁹ each", 14, "quiet")


def planes_part(p, planes, steps):
    """The integers' bits: a row is a plane, and a plane is a byte. The highest one is the sign."""
    top = 196
    p.text(16, 178, "2. Bit p of all eight is plane p: one byte", bold=True)
    for row, plane in enumerate(range(len(planes) - 1, -1, -1)):
        y = top + 38 * row
        p.text(16, y + 23, f"plane {plane}" + (", sign" if row == 0 else ""), 15, "quiet")
        for lane in range(8):
            bit = planes[plane] >> lane & 1
            p.rect(LEFT + COLUMN * lane + 3, y, COLUMN - 6, 32, "blue" if bit else "grey-soft", None, 4)
            p.text(lane_x(lane), y + 22, str(bit), 17, "page" if bit else "quiet", "middle", bold=bool(bit))
        p.line(LEFT + 8 * COLUMN + 2, y + 16, LEFT + 8 * COLUMN + 22, y + 16, "blue", 2)
        p.text(LEFT + 8 * COLUMN + 30, y + 22, f"{planes[plane]:02x}", 18, "ink", bold=True, mono=True)
    y = top + 38 * len(planes) + 18
    widest = max(steps, key=lambda step: step if step >= 0 else -step - 1)
    p.text(
        16,
        y,
        f"Lane 0 is the lowest bit of a byte. The widest number is {signed(widest, str(abs(widest)))}: it needs"
        f" {len(planes)} bits",
        15,
        "quiet",
    )
    p.text(16, y + 20, f"with its sign, so all eight lanes keep {len(planes)} planes.", 15, "quiet")


def about_class(group, planes):
    """What a group's class says, in words."""
    if group == 0:
        return "class 0: all zero", "no byte"
    words = f"class {group}: {planes} plane{'s' if planes > 1 else ''}"
    return words, "no negative value" if 9 <= group <= 11 else "with a sign"


def record_part(p, stream, groups):
    """The record of four groups, byte by byte."""
    top, cell = 448, 58
    p.text(16, top - 24, "3. Four groups make a record", bold=True)
    x = 16
    for i, byte in enumerate(stream[:2]):
        p.rect(x, top, cell - 4, 40, "grey-soft", "grey", 4)
        p.text(x + cell / 2 - 2, top + 27, f"{byte:02x}", 18, "ink", "middle", bold=True, mono=True)
        x += cell
    p.text(16, top + 62, "classes", 15, "quiet")
    for i, colour in enumerate(reversed(COLOURS)):
        p.text(16 + 14 * i, top + 86, f"{stream[1]:02x}{stream[0]:02x}"[i], 20, colour, bold=True, mono=True)
    where = []
    for group, colour in zip(groups, COLOURS):
        x += 8 if group["bytes"] else 0
        where.append((x, cell * len(group["bytes"])))
        for byte in group["bytes"]:
            p.rect(x, top, cell - 4, 40, colour + "-soft", colour, 4)
            p.text(x + cell / 2 - 2, top + 27, f"{byte:02x}", 18, "ink", "middle", bold=True, mono=True)
            x += cell
    for i, (group, colour) in enumerate(zip(groups, COLOURS)):
        words, more = about_class(group["class"], len(group["bytes"]))
        left = 110 + 150 * i
        p.rect(left, top + 96, 144, 70, colour + "-soft", colour, 6)
        p.text(left + 72, top + 118, f"group {i}", 15, "ink", "middle", bold=True)
        p.text(left + 72, top + 137, words, 14, "quiet", "middle")
        p.text(left + 72, top + 155, more, 14, "quiet", "middle")
        if group["bytes"]:
            begin, width = where[i]
            middle = begin + width / 2 - 2
            p.line(middle, top + 44, left + 72 if abs(middle - left - 71) > 60 else middle, top + 94, colour, 1.5)
    p.text(
        16, top + 192, f"32 values take {len(stream)} bytes instead of 128. 8192 zeros in a row take 3.", 15, "quiet"
    )


def draw(results):
    example = results["planes"]["results"]
    stream, steps = example["stream"], example["steps"]
    header = stream[0] | stream[1] << 8
    groups, at = [], 2
    for g in range(4):
        kind = header >> 4 * g & 15
        count = kind if kind <= 8 else kind - 8  # the example has no other classes; bench/dense_example makes it so
        groups.append({"class": kind, "bytes": stream[at : at + count]})
        at += count
    assert at == len(stream), "the example has classes that this picture does not know"
    p = Picture(
        658,
        "The bit planes of profile dense",
        f"Eight values of a real gradient as integers: {steps[:8]}. Bit p of all lanes is one byte, plane p; as many"
        " planes are kept as the widest lane needs. Four groups make a record: two bytes of classes, then the planes.",
    )
    values_part(p, example["values"], steps)
    planes_part(p, groups[0]["bytes"], steps[:8])
    record_part(p, stream, groups)
    return p.svg()
