# SPDX-License-Identifier: Apache-2.0
"""A figure's plot as SVG text, in the colours of a demo's report (report_plots.py)."""
import io
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
for folder in (HERE.parent / "scripts", HERE.parent):  # in a checkout, installed
    if (folder / "report_plots.py").exists():
        sys.path.insert(0, str(folder))
        break

import numpy as np
import report_plots as style
from report_plots import plt


def draw(plot):
    figure, axes = plt.subplots(figsize=(7.6, 3.6))
    if plot.kind == "lines":
        _lines(axes, plot)
    else:
        _bars(axes, plot)
    axes.set_xlabel(plot.xlabel)
    axes.set_ylabel(plot.ylabel)
    if plot.log_x:
        axes.set_xscale("log", base=2)
    if plot.log_y:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
    if len(plot.series) > 1:
        axes.legend()
    return as_svg(figure)


def as_svg(figure):
    """Its text, the same each time, without a prologue: for a page, or for a file."""
    figure.tight_layout()
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    plt.close(figure)
    svg = text.getvalue()
    return svg[svg.index("<svg"):]


def _lines(axes, plot):
    few = len(plot.x) <= 20
    for i, (name, values) in enumerate(plot.series.items()):
        axes.plot(plot.x, [np.nan if value is None else value for value in values], label=name,
                  color=style.LINES[i % len(style.LINES)], dashes=(), linestyle=style.DASHES[i % len(style.DASHES)],
                  marker=style.MARKERS[i % len(style.MARKERS)] if few else None)


def _bars(axes, plot):
    width = 0.8 / len(plot.series)
    places = np.arange(len(plot.x))
    for i, (name, values) in enumerate(plot.series.items()):
        axes.bar(places + (i - (len(plot.series) - 1) / 2) * width, values, width, label=name,
                 color=style.LINES[(i + 1) % len(style.LINES)])
    axes.set_xticks(places, plot.x, rotation=20 if len(plot.x) > 5 else 0)
