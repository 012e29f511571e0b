# SPDX-License-Identifier: Apache-2.0
"""gains.svg: what `gradnic estimate` expects of compression and a switch, by the links' rate."""

from plotting import canvas, end_labels, light, line, plt, svg, ticks
from plots import caption

WAYS = (
    ("ring-hardware", "NICs in hardware", "purple", "-", "D"),
    ("ring-nic", "NICs in software", "blue", "-", "s"),
    ("switch-dense", "switch, compressed", "blue", "--", "^"),
    ("switch", "switch", "grey", "--", "o"),
    ("worker-aggregator", "worker-aggregator", "grey", ":", "v"),
)


def rate_words(bits):
    """'100M' or '2.5G'."""
    return f"{bits / 1e6:g}M" if bits < 1e9 else f"{bits / 1e9:g}G"


def draw(results):
    if "estimate" not in results:
        return {}
    plt.close("all")
    result = results["estimate"]
    found = result["results"]["gains"]
    notes = caption(
        result,
        f"gradnic estimate: {found['bytes'] / 2**20:.0f} MiB, {found['world_size']} hosts, {found['cores']:g} cores"
        f" each, ratio {found['ratio']['ring']:g}. A model, not a measurement.",
    )
    figure, (axes,) = canvas(540, caption=notes, right=196)
    axes.set_title("How much faster than a ring without compression")
    rates = [row["bits_per_s"] for row in found["rates"]]
    ends = []
    for way, words, role, dash, marker in WAYS:
        gains = [next(w["gain"] for w in row["ways"] if w["way"] == way) for row in found["rates"]]
        line(axes, rates, gains, dash, role, marker)
        ends.append((gains[-1], words, role))
    axes.axhline(1, color=light("red"), linewidth=1.8, linestyle=":", zorder=1)
    axes.set_xscale("log")
    axes.set_yscale("log")
    shown = [rate for rate in rates if rate in (1e8, 2e8, 5e8, 1e9, 2e9, 5e9, 1e10, 2.5e10, 1e11)]
    ticks(axes.xaxis, shown, [rate_words(rate) for rate in shown])
    ticks(axes.yaxis, [0.5, 1, 2, 5, 10, 20], ["0.5 ×", "1 ×", "2 ×", "5 ×", "10 ×", "20 ×"])
    axes.set_xlabel("rate of every link, bits per second")
    end_labels(axes, rates[-1], ends)
    return {
        "gains": svg(
            figure,
            "Expected gain by rate of the links",
            "Gain over a ring without compression, by the rate of the links, for NICs in software and in hardware, a"
            " switch with and without compression, and a worker-aggregator.",
        )
    }
