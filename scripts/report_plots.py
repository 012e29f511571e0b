# SPDX-License-Identifier: Apache-2.0
"""The plots of a demo's report, each as SVG text. scripts/demo-report reads the figures.

Colours are those of Okabe and Ito without yellow, and two more. The colour-blind can tell them
apart, too. Each line also has a marker and a dash of its own. On a dark screen a style sheet
changes the colours.
"""
import io
import re

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

# The colour on light and on dark ground. Each light colour has one name only.
COLOURS = {
    "ink": ("#1c2330", "#e6e9ee"),
    "soft": ("#5b6472", "#9aa4b2"),
    "grid": ("#d9dde3", "#2d3542"),
    "line0": ("#010101", "#ffffff"),
    "line1": ("#d55e00", "#f08040"),
    "line2": ("#e69f00", "#f2bc4a"),
    "line3": ("#56b4e9", "#9ad4f7"),
    "line4": ("#0072b2", "#3f97d6"),
    "line5": ("#cc79a7", "#e6a9c9"),
    "line6": ("#882255", "#d0527f"),
    "line7": ("#009e73", "#2bc49a"),
    "line8": ("#7a2fe0", "#9a5cff"),
    "part0": ("#c3c9d2", "#6b7482"),
    "part1": ("#e79f01", "#e79f01"),
    "part2": ("#029e73", "#029e73"),
    "part3": ("#0173b2", "#2f86c8"),
    "part4": ("#cc79a8", "#cc79a8"),
    "bar": ("#0072b3", "#5aa9e6"),
    "zero": ("#8a8f99", "#7d8592"),
    "mark": ("#d55e01", "#f08041"),
    "on_dark": ("#ffffff", "#ffffff"),
    "on_light": ("#1c2331", "#0e1217"),
}
LIGHT = {name: light for name, (light, dark) in COLOURS.items()}
LINES = [LIGHT[f"line{i}"] for i in range(9)]
MARKERS = ["o", "X", "P", "s", "D", "^", "v", "*", "h", "<", ">"]
DASHES = [
    "-", (0, (5, 2)), (0, (8, 2, 2, 2)), "-", (0, (3, 3)), (0, (9, 3)), (0, (1, 3)), (0, (6, 6)), (0, (5, 1, 1, 1)),
]
WIDTH = 760  # of a plot, in units that are pixels on a wide screen

plt.rcParams.update({
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "gradnic",  # the same figures make the same bytes
    "font.size": 12,
    "axes.labelsize": 12,
    "text.color": LIGHT["ink"],
    "axes.labelcolor": LIGHT["soft"],
    "axes.edgecolor": LIGHT["grid"],
    "xtick.color": LIGHT["soft"],
    "ytick.color": LIGHT["soft"],
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": LIGHT["grid"],
    "grid.linewidth": 0.8,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "legend.frameon": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
})


def dark_rules():
    """What changes the colours of plots where the reader's screen is dark, as CSS."""
    rules = [f'[style*="{what}: {light}"]{{{what}:{dark} !important}}'
             for light, dark in COLOURS.values() if light != dark for what in ("fill", "stroke")]
    return "@media(prefers-color-scheme:dark){%s}" % "".join(rules)


def _figure(height):
    return plt.subplots(figsize=(WIDTH / 72, height / 72))


def _svg(figure, name, title):
    """The figure as SVG for a page: no prologue, ids of its own, two decimals."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    plt.close(figure)
    svg = out.getvalue()
    svg = svg[svg.index("<svg"):]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.S)
    view = re.search(r'viewBox="[^"]*"', svg).group()
    spaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    head = f'<svg {view} role="img" aria-label="{title}" {spaces}>'
    svg = re.sub(r"<svg.*?>", head, svg, count=1, flags=re.S)
    ids = {old: f"{name}-{i}" for i, old in enumerate(dict.fromkeys(re.findall(r'\bid="([^"]*)"', svg)))}
    svg = re.sub(r'(\bid="|href="#|url\(#)([^")]*)', lambda m: m.group(1) + ids[m.group(2)], svg)
    svg = re.sub(r"-?\d+\.\d{3,}", lambda m: f"{float(m.group()):.2f}".rstrip("0").rstrip("."), svg)
    svg = re.sub(r"font: ([^;\"]*px) '[^;\"]*", r"font: \1 system-ui, sans-serif", svg)
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def _stacked(axes, names, parts, shares, text_of, least):
    """Horizontal bars made of parts; a part as wide as `least` or more says its value."""
    left = np.zeros(len(names))
    for i, part in enumerate(parts):
        width = np.array([share[i] for share in shares])
        axes.barh(range(len(names)), width, left=left, height=0.66, color=LIGHT[f"part{i}"], label=part)
        inside = LIGHT["on_dark"] if i in (2, 3) else LIGHT["on_light"]
        for row, value in enumerate(width):
            if value >= least:
                axes.text(
                    left[row] + value / 2, row, text_of(value), ha="center", va="center", fontsize=10, color=inside
                )
        left += width
    axes.set_yticks(range(len(names)), names, color=LIGHT["ink"])
    axes.invert_yaxis()
    axes.grid(False, axis="y")
    axes.spines["bottom"].set_visible(False)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncol=len(parts), handlelength=1, columnspacing=1.4)
    return left


def _plain(name):
    """A name from a file. Dollars would make a formula of it."""
    return name.replace("$", r"\$")


def time_by_phase(runs):
    """Where the time of a step goes: a bar for each run."""
    figure, axes = _figure(64 + 30 * len(runs))
    parts = list(runs[0].parts_ms)
    shares = [[run.parts_ms[part] for part in parts] for run in runs]
    most = max(max(sum(share) for share in shares), 1e-9)
    ends = _stacked(axes, [_plain(run.name) for run in runs], parts, shares, lambda ms: f"{ms:.0f}", most * 0.045)
    for row, end in enumerate(ends):
        axes.text(end + most * 0.012, row, f"{end:.1f} ms", va="center", fontsize=11)
    axes.set_xlim(0, most * 1.13)
    axes.set_xlabel("milliseconds of a step")
    figure.tight_layout(pad=0.4)
    return _svg(figure, "time", "Time of a step by phase, one bar for each variant")


def _share_text(value, _=None):
    return f"{100 * value:.4g} %"


def accuracy(runs, over, label, name, title):
    """Accuracy on the test images, a line for each run. `over` gives the places of its points."""
    figure, axes = _figure(340 + 11 * len(runs))
    places = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999]
    low, high = 1.0, 0.0
    for i, run in enumerate(runs):
        edge = 0.5 / run.test_images  # 0 % and 100 % have no place on this scale
        share = np.clip(run.accuracies, edge, 1 - edge)
        low, high = min(low, share.min()), max(high, share.max())
        axes.plot(over(run), share, color=LINES[i % len(LINES)], linestyle=DASHES[i % len(DASHES)], linewidth=1.8,
                  marker=MARKERS[i % len(MARKERS)], markersize=6, markeredgewidth=0, zorder=3 + i,
                  markevery=(i % 3, 3),  # so that lines that coincide show in turn
                  label=f"{_plain(run.name)}: {_share_text(round(run.accuracy, 4))}")
    axes.set_yscale("logit")
    axes.set_ylim(low * 0.9, 1 - (1 - high) * 0.8)
    axes.yaxis.set_major_locator(FixedLocator(places))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(_share_text))
    axes.set_xlim(left=0)
    axes.set_xlabel(label)
    axes.grid(False, axis="x")
    axes.legend(
        loc="upper left", bbox_to_anchor=(-0.06, -0.13), ncol=2, handlelength=3.4, fontsize=11, columnspacing=1.6
    )
    figure.tight_layout(pad=0.4)
    return _svg(figure, name, title)


def histogram(magnitudes):
    """Share of values by magnitude, a bar for each power of two."""
    figure, axes = _figure(270)
    shares = magnitudes.shares
    places = range(magnitudes.LOW, magnitudes.HIGH + 1)
    axes.bar(magnitudes.LOW - 1.6, 100 * magnitudes.zero_share, width=0.84, color=LIGHT["zero"])
    axes.bar([place + 0.5 for place in places], 100 * shares, width=0.84, color=LIGHT["bar"])
    for k in (10, 6):
        axes.axvline(-k, color=LIGHT["mark"], linewidth=1.5, linestyle=(0, (5, 4)))
        axes.text(-k + 0.2, 1.0, f"2^-{k}", transform=axes.get_xaxis_transform(), va="bottom", color=LIGHT["mark"])
    ticks = [place for place in places if place % 4 == 0]
    axes.set_xticks([magnitudes.LOW - 1.6] + ticks[1:], ["zero"] + [f"2^{place}" for place in ticks[1:]])
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g} %"))
    axes.grid(False, axis="x")
    axes.set_xlabel("magnitude: each bar goes from one power of two to the next")
    figure.tight_layout(pad=0.4)
    return _svg(figure, "histogram", "Share of gradient values by magnitude")


def bits_kept(rows):
    """What is kept of values, a bar for each profile and bound: (name, shares by bits, ratio)."""
    figure, axes = _figure(64 + 30 * len(rows))
    parts = list(rows[0][1])
    shares = [[100 * row[1][part] for part in parts] for row in rows]
    _stacked(axes, [row[0] for row in rows], parts, shares, lambda share: f"{share:.0f}", 5)
    for at, row in enumerate(rows):
        axes.text(101.5, at, f"ratio {row[2]:.1f}", va="center", fontsize=11)
    axes.set_xlim(0, 116)
    axes.set_xticks(range(0, 101, 20))
    axes.set_xlabel("percent of the values")
    figure.tight_layout(pad=0.4)
    return _svg(figure, "bits", "Bits kept of the values, by profile and bound")
