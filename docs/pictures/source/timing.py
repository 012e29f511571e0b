# SPDX-License-Identifier: Apache-2.0
"""timing-*.svg: what happens at the hardware's interfaces, cycle by cycle, for rtl/README.md.

timing/*.json are WaveDrom's text, and WaveDrom draws them too. tests/rtl/waves/waves.py makes them
from a simulation. This draws of WaveDrom's letters what they use: p 0 1 x = . |
"""

import json
import pathlib

from drawing import Picture

NAMES, ROW, WAVE, LEFT = 176, 26, 18, 16  # pixels: of the names, of a row, of a wave in it, of the margin
RIGHT = 16


def states(letters, words):
    """Of each cycle: letter and word, whether they are as before, whether it is a gap."""
    letter, word, left, found = "", "", list(words), []
    for now in letters:
        same = now in ".|" or now == letter and now != "="
        if not same:
            letter, word = now, left.pop(0) if now == "=" else ""
        found.append((letter, word, same, now == "|"))
    return found


def runs(cycles):
    """Cycles of one state: first, how many, letter, word."""
    at = 0
    while at < len(cycles):
        end = at + 1
        while end < len(cycles) and cycles[end][2]:
            end += 1
        yield at, end - at, *cycles[at][:2]
        at = end


def clock(p, y, step, count):
    """A clock that rises where each cycle begins."""
    x, path = LEFT + NAMES, []
    for n in range(count):
        path.append(f"M{x + n * step:.1f} {y + WAVE}V{y}h{step / 2:.1f}V{y + WAVE}h{step / 2:.1f}")
    p.add("path", "s-grey", d="".join(path), fill="none", stroke_width=1.5)


def levels(p, y, step, cycles):
    """A bit: high, low, or of no matter."""
    x, before = LEFT + NAMES, None
    for first, count, letter, _ in runs(cycles):
        left, right = x + first * step, x + (first + count) * step
        if letter == "x":
            p.rect(left, y, right - left, WAVE, "grey-soft", None, 0)
        else:
            height = y if letter == "1" else y + WAVE
            if letter == "1":
                p.rect(left, y, right - left, WAVE, "blue-soft", None, 0)
            p.line(left, height, right, height, "blue")
            if before is not None and before not in (letter, "x"):
                p.line(left, y, left, y + WAVE, "blue")
        before = letter


def values(p, y, step, cycles):
    """Words: a box each, grey where they do not count."""
    x = LEFT + NAMES
    for first, count, letter, word in runs(cycles):
        left, width = x + first * step, count * step
        if letter == "x":
            p.rect(left, y, width, WAVE, "grey-soft", None, 0)
            continue
        p.rect(left + 0.75, y, width - 1.5, WAVE, "orange-soft", "orange", 4)
        size = 13 if len(word) * 7.2 < width - 4 else 10
        p.text(left + width / 2, y + WAVE - 4.5, word, size, "ink", "middle")


def gaps(p, top, bottom, step, cycles):
    """Cycles that are left out, of all signals."""
    for n, (_, _, _, gap) in enumerate(cycles):
        if gap:
            x = LEFT + NAMES + n * step
            p.rect(x + step / 2 - 4, top, 8, bottom - top, "page", None, 0)
            p.line(x + step / 2 - 4, top, x + step / 2 - 4, bottom, "grey", 1, "3 3")
            p.line(x + step / 2 + 4, top, x + step / 2 + 4, bottom, "grey", 1, "3 3")


def diagram(text):
    """One picture of WaveDrom's text."""
    source = json.loads(text)
    signals, count = source["signal"], len(source["signal"][0]["wave"])
    step = max(46, (720 - LEFT - NAMES - RIGHT) / count)
    heights = [ROW if signal else ROW / 2 for signal in signals]
    title = source["head"]["text"]
    top = 48
    bottom = top + sum(heights)
    p = Picture(
        round(bottom + 34),
        title,
        "A timing diagram, from a simulation of the hardware. "
        + "; ".join(described(signal) for signal in signals if signal),
        round(LEFT + NAMES + count * step + RIGHT),
    )
    p.text(LEFT, 28, title, 16, bold=True)
    for n in range(count + 1):
        p.line(LEFT + NAMES + n * step, top - 6, LEFT + NAMES + n * step, bottom, "rule", 0.75)
    y = top
    for signal, height in zip(signals, heights):
        if signal:
            p.text(LEFT, y + WAVE - 4, signal["name"], 13, mono=True)
            if signal["wave"].startswith("p"):
                clock(p, y, step, count)
            else:
                cycles = states(signal["wave"], signal.get("data", ()))
                is_bit = "data" not in signal and not set(signal["wave"]) <= set("x.|")
                (levels if is_bit else values)(p, y, step, cycles)
        y += height
    gaps(p, top - 6, bottom, step, states(signals[0]["wave"], ()))
    p.text(LEFT, bottom + 20, "What is offered is taken in a cycle with valid and ready. Grey does not count.", 13, "quiet")
    return p.svg()


def described(signal):
    """A signal in words, for those who do not see the picture."""
    return signal["name"] + " " + (", ".join(signal["data"]) if "data" in signal else signal["wave"])


def draw(_):
    """All pictures: name and text."""
    folder = pathlib.Path(__file__).resolve().parent / "timing"
    return {f"timing-{path.stem}": diagram(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}
