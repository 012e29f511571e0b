# SPDX-License-Identifier: Apache-2.0
"""Plots of DDP over limited links: pytorch-exchange.svg, pytorch-200mbit.svg, pytorch-1gbit.svg.

Grey is Gloo, green and red are its hooks, blue is gradnic.
"""

import statistics

from plots import caption
from plotting import canvas, label, legend, light, line, plt, svg, ticks
from pytorch import learned_cases, milliseconds, rates, runs, step_rows
from results import rate_words

STYLES = {
    "gloo": ("Gloo", "grey", "-", "o"),
    "gloo-fp16": ("Gloo, fp16", "green", "-", "^"),
    "gloo-powersgd": ("Gloo, PowerSGD", "red", "-", "X"),
    "gradnic-none": ("gradnic, uncompressed", "grey", "--", "D"),
    "gradnic": ("gradnic", "blue", "-", "s"),
    "gradnic-hook": ("gradnic.hook", "blue", "--", "D"),
}


def bars(results):
    """Exchange and step of 25 MB, at each rate."""
    found = step_rows(results)
    notes = caption(results["pytorch"], "25 MB of gradients, 4 hosts that share the cores. A step has its exchange.")
    figure, panels = canvas(640, len(rates(results)), notes, left=190, right=90, space=0.42)
    for axes, rate in zip(panels, rates(results)):
        axes.set_title(f"Exchange and step at {rate_words(rate)}")
        rows = [found[rate, "wide", case] for case in STYLES]
        places = range(len(rows))
        axes.barh(places, [row["step_ms"] for row in rows], 0.74, color=light("rule"), label="step")
        colours = [light(STYLES[row["case"]][1]) for row in rows]
        axes.barh(places, [row["exchange_ms"] for row in rows], 0.4, color=colours, label="exchange alone")
        for place, row in zip(places, rows):
            label(axes, max(row["step_ms"], row["exchange_ms"]), place, f"{row['exchange_ms']:.0f} ms", "quiet", 8)
        ticks(axes.yaxis, list(places), [STYLES[case][0] for case in STYLES])
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:g} ms")
        axes.locator_params(axis="x", nbins=5)
    return svg(
        figure,
        "Exchange and step of DDP",
        "Time of an exchange of 25 MB and of a step, for Gloo, its hooks and gradnic, at each rate of the links.",
    )


def over_time(results, rate):
    """Accuracy over time, the mean of the seeds, for each task."""
    tasks = results["pytorch-learning"]["results"]["tasks"]
    notes = caption(
        results["pytorch"],
        f"Links of {rate_words(rate)}, 4 hosts that share the cores. Means of three seeds; the time is steps by the"
        " measured time of a step.",
    )
    figure, panels = canvas(820, len(tasks), notes, right=30, space=0.34)
    for axes, (task, described) in zip(panels, tasks.items()):
        axes.set_title(f"Accuracy over time: {described['words']}")
        most, least = [], []
        for case in learned_cases(results):
            words, role, dash, marker = STYLES[case]
            found = list(runs(results, task, case).values())
            steps = [step for step, _ in found[0]]
            xs = [milliseconds(results, rate, task, case, step) / 1e3 for step in steps]
            ys = [100 * statistics.mean(points[i][1] for points in found) for i in range(len(steps))]
            line(axes, xs, ys, dash, role, marker, markevery=5, label=words)
            most.append(max(ys))
            least.append(ys[len(ys) // 10])
        axes.set_xlim(left=0)
        axes.set_ylim(min(least) - 2, max(most) + 2)
        axes.yaxis.set_major_formatter(lambda y, _: f"{y:g} %")
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:g} s")
        legend(axes, "lower right")
    return svg(
        figure,
        f"Accuracy over time at {rate_words(rate)}",
        "Accuracy over seconds of training, for Gloo, its hooks and gradnic; a CNN above, a transformer below.",
    )


def draw(results):
    """All plots whose benchmarks have results."""
    plt.close("all")
    if "pytorch" not in results:
        return {}
    drawn = {"pytorch-exchange": bars(results)}
    if "pytorch-learning" in results:
        drawn.update({f"pytorch-{rate}": over_time(results, rate) for rate in rates(results)})
    return drawn
