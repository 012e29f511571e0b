# SPDX-License-Identifier: Apache-2.0
"""Plots by Matplotlib in the style of the other pictures.

720 wide, the colours of theme.py, words as words, the same bytes every time.
"""

import io
import re

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend is chosen first)

from drawing import document  # noqa: E402
from theme import ROLES, light  # noqa: E402

WIDTH, DOTS = 720, 72  # a point of Matplotlib is a pixel here

plt.rcParams.update(
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "gradnic",
        "font.family": "DejaVu Sans",
        "font.size": 15,
        "axes.edgecolor": light("rule"),
        "axes.labelcolor": light("quiet"),
        "axes.titlecolor": light("ink"),
        "text.color": light("ink"),
        "axes.titlelocation": "left",
        "axes.titlesize": 17,
        "axes.titleweight": "bold",
        "axes.titlepad": 14,
        "axes.labelsize": 15,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "axes.facecolor": light("page"),
        "figure.facecolor": light("page"),
        "axes.grid": True,
        "grid.color": light("rule"),
        "grid.linewidth": 0.8,
        "xtick.color": light("rule"),
        "ytick.color": light("rule"),
        "xtick.labelcolor": light("quiet"),
        "ytick.labelcolor": light("quiet"),
        "xtick.labelsize": 15,
        "ytick.labelsize": 15,
        "lines.linewidth": 2.6,
        "lines.markersize": 8,
        "xtick.minor.size": 0,
        "ytick.minor.size": 0,
        "axes.unicode_minus": True,
    }
)


def canvas(height, rows=1, caption=("",), bottom=62, top=44, left=74, right=24, space=0.4):
    """A figure with axes below each other, and the caption's lines at its foot."""
    figure, axes = plt.subplots(rows, 1, figsize=(WIDTH / DOTS, height / DOTS), squeeze=False)
    foot = 18 * len(caption) + 10
    figure.patch.set_visible(False)
    figure.subplots_adjust(
        left=left / WIDTH, right=1 - right / WIDTH, top=1 - top / height, bottom=(bottom + foot) / height, hspace=space
    )
    for i, words in enumerate(reversed(caption)):
        figure.text(
            16 / WIDTH,
            (12 + 18 * i) / height,
            words,
            fontsize=13,
            color=light("red" if words.startswith("SHORT") else "quiet"),
        )
    return figure, [row[0] for row in axes]


def line(axes, xs, ys, dash, role, marker, **more):
    """A line with markers that stand out from it and from each other."""
    axes.plot(
        xs, ys, dash, color=light(role), marker=marker, markeredgecolor=light("page"), markeredgewidth=1, **more
    )


def label(axes, x, y, words, role, dx=10, dy=0, ha="left", va="center", size=15, weight="normal"):
    """Words at a point of the data, some pixels away from it."""
    axes.annotate(
        words,
        (x, y),
        xytext=(dx, dy),
        textcoords="offset points",
        color=light(role),
        ha=ha,
        va=va,
        fontsize=size,
        fontweight=weight,
        annotation_clip=False,
    )


def end_labels(axes, x, items, apart=19):
    """Words right of the ends of lines, [(y, words, role)], moved so that none covers another."""
    axes.figure.canvas.draw()
    places = sorted((axes.transData.transform((x, y))[1], y, words, role) for y, words, role in items)
    scale = DOTS / axes.figure.dpi
    at = [place[0] * scale for place in places]
    for _ in range(50):
        for i in range(len(at) - 1):
            short = apart - (at[i + 1] - at[i])
            if short > 0.01:
                at[i], at[i + 1] = at[i] - short / 2, at[i + 1] + short / 2
    for new, (old, y, words, role) in zip(at, places):
        label(axes, x, y, words, role, 14, new - old * scale, weight="bold")


def legend(axes, where, height=None):
    """Names of the lines, in a box; with a height (0 to 1) as the place of its middle."""
    axes.legend(
        loc=where,
        bbox_to_anchor=None if height is None else (1, height),
        frameon=True,
        facecolor=light("page"),
        edgecolor=light("rule"),
        framealpha=1,
        fontsize=15,
        handlelength=2.6,
        labelcolor=light("ink"),
    )


def ticks(axis, values, words):
    """These ticks and no others."""
    axis.set_ticks(values, labels=words)
    axis.set_ticks([], minor=True)


def by_role(tag):
    """Moves a tag's colours out of its style, into classes of their roles."""
    style = re.search(r' style="([^"]*)"', tag)
    if not style:
        return tag
    kept, classes = [], []
    for rule in filter(None, (part.strip() for part in style[1].split(";"))):
        name, _, value = rule.partition(": ")
        role = next((role for role in ROLES if light(role) == value), None)
        if name in ("fill", "stroke") and role:
            classes.append(f"{name[0]}-{role}")
        elif name == "font":
            size = re.search(r"([\d.]+)px", value)[1]
            kept.append(f"font-size: {size}px")
            if re.match(r"(bold|[6-9]00)\b", value):
                classes.append("bold")
        else:
            kept.append(rule)
    if re.match(r"<text\b", tag) and not any(name.startswith("f-") for name in classes):
        classes.append("f-ink")
    text = (f' class="{" ".join(classes)}"' if classes else "") + (f' style="{"; ".join(kept)}"' if kept else "")
    return tag.replace(style[0], text)


def svg(figure, title, description):
    """The figure as SVG: with title and description, and colours by role."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    plt.close(figure)
    text = out.getvalue()
    text = text[text.index("<svg") :]
    view = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text)
    body = re.sub(r"<metadata>.*?</metadata>\s*", "", text[text.index(">") + 1 :], flags=re.S)
    body = re.sub(r"<defs>\s*<style[^>]*>.*?</style>\s*</defs>", "", body, count=1, flags=re.S)
    body = re.sub(r"<[a-z][^<>]*>", lambda match: by_role(match[0]), body)
    body = re.sub(r"<!--.*?-->\s*", "", body, flags=re.S)
    body = body.removesuffix("</svg>\n").strip()
    return document(
        f"{float(view[1]):g}", f"{float(view[2]):g}", title, description, [body], "*{stroke-linejoin:round}"
    )


__all__ = ["canvas", "end_labels", "label", "legend", "light", "line", "plt", "svg", "ticks"]
