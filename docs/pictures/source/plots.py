# SPDX-License-Identifier: Apache-2.0
"""The plots, from docs/lab/results.

exchange-rate.svg, loss.svg, accuracy-time.svg, error-bound.svg and codec-speed.svg. One colour is
one codec in all of them: blue is dense, green is lattice, red is paper, grey is none.
"""

import math
import textwrap

from plotting import canvas, end_labels, label, legend, light, line, plt, svg, ticks
from results import codec_rows, doubts, origin

RATES = {1e8: "100 Mbit/s", 2e8: "200", 5e8: "500", 1e9: "1 Gbit/s", 2e9: "2", 5e9: "5", 1e10: "10"}


def caption(result, about):
    """Lines for the foot of a plot: doubts first, what it shows, and where it is from."""
    first = doubts(result)
    rest = [sentence for sentence in origin(result, mark="") if sentence not in first]
    lines = list(first)
    for sentence in (about, *rest):
        if len(lines) > len(first) and len(lines[-1]) + len(sentence) < 96:
            lines[-1] += " " + sentence
        else:
            lines += textwrap.wrap(sentence, 96)
    return lines


def curve(rows, name, size):
    """[(bits a second, milliseconds)] of a case, by rate."""
    return sorted((r["rate_bits"], r["time_ms"]) for r in rows if r["name"] == name and r["size"] == size)


def crossing(first, second):
    """The rate above which the second curve is slower; None when it is not at the highest rate.

    Straight lines between points, on logarithmic scales.
    """
    later = dict(second)
    pairs = [(x, math.log(a), math.log(later[x])) for x, a in first if x in later]
    if len(pairs) < 2 or pairs[-1][2] <= pairs[-1][1]:
        return None
    for (x1, a1, b1), (x2, a2, b2) in reversed(list(zip(pairs, pairs[1:]))):
        if a1 >= b1 and a2 < b2:
            share = (a1 - b1) / ((a1 - b1) + (b2 - a2))
            return math.exp(math.log(x1) + share * (math.log(x2) - math.log(x1)))
    return pairs[0][0]


def exchange_rate(results):
    """Time of a sum against the rate of the links, and where NICs in software stop paying."""
    result = results["exchange"]
    rows = result["results"]["results"]
    size = min(r["size"] for r in rows)
    series = (
        ("ring", "ring", "grey", "-", "o"),
        ("ring-library", "ring, dense in the ranks", "green", "-", "v"),
        ("ring-dense-fill", "ring, dense in NICs", "blue", "-", "s"),
        ("switch", "switch", "grey", "--", "^"),
        ("switch-dense", "switch, dense", "blue", "--", "D"),
    )
    notes = caption(
        result,
        f"{result['results']['hosts']} hosts share the cores with their NICs and the switch. Bound"
        f" {power(result['results']['k'])}.",
    )
    figure, (axes,) = canvas(540, caption=notes, right=36, top=66)
    axes.set_title(f"Time to sum {size / 1e6:.0f} MB over {result['results']['hosts']} hosts", pad=34)
    curves = {}
    for name, words, role, dash, marker in series:
        points = curve(rows, name, size)
        if not points:  # measured before there was this case
            continue
        curves[name] = points
        line(axes, [x for x, _ in points], [y for _, y in points], dash, role, marker, label=words)
    axes.set_xscale("log")
    axes.set_yscale("log")
    rates = sorted({x for points in curves.values() for x, _ in points})
    ticks(axes.xaxis, rates, [RATES.get(x, f"{x / 1e9:g}") for x in rates])
    times = [
        t
        for t in (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
        if t < 1.3 * max(y for points in curves.values() for _, y in points)
    ]
    ticks(axes.yaxis, times, [f"{t} ms" if t < 1000 else f"{t / 1000:g} s" for t in times])
    axes.set_ylim(bottom=0.8 * min(y for points in curves.values() for _, y in points))
    axes.set_xlabel("rate of every link")
    legend(axes, "upper right")
    point = crossing(curves["ring"], curves["ring-dense-fill"])
    words = "NICs in software pay at all of these rates"
    if point:
        axes.axvline(point, color=light("red"), linewidth=1.8, linestyle=":", zorder=1)
        words = f"Above {point / 1e9:.1f} Gbit/s NICs in software no longer pay here"
    words += "."
    own = crossing(curves["ring"], curves.get("ring-library", []))
    if own:
        words = f"{words[:-1]}, and above {own / 1e9:.1f} Gbit/s the ranks' codec."
    axes.text(0, 1.02, words, transform=axes.transAxes, color=light("red"), fontsize=15)
    return svg(
        figure, "Time of a sum against the rate of the links", f"Ring and switch, uncompressed and with dense. {words}"
    )


def loss(results):
    """What lost packets cost, against no loss."""
    result = results["loss"]
    rows = result["results"]["results"]
    notes = caption(
        result,
        f"{rows[0]['size'] / 1e6:.0f} MB, {result['results']['workers']} workers, links of"
        f" {result['results']['rate'].replace('mbit', ' Mbit/s')}. Packets are lost in both directions.",
    )
    figure, (axes,) = canvas(430, caption=notes, right=130)
    axes.set_title("Time of a sum through the switch, against no loss")
    ends = []
    losses = sorted({r["loss"] for r in rows}, key=lambda x: float(x.rstrip("%")))
    for name, words, role, dash, marker in (
        ("dense", "dense", "blue", "-", "s"),
        ("int32", "uncompressed", "grey", "--", "o"),
    ):
        found = {r["loss"]: r["inflation"] for r in rows if r["format"] == name}
        ys = [found[x] for x in losses]
        line(axes, range(len(losses)), ys, dash, role, marker)
        ends.append((ys[-1], words, role))
    ticks(axes.xaxis, range(len(losses)), ["none"] + [x.replace("%", " %") for x in losses[1:]])
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:g} ×")
    axes.set_xlabel("packets that are lost")
    end_labels(axes, len(losses) - 1, ends)
    return svg(
        figure,
        "What lost packets cost",
        "Time of a sum through the switch with lost packets, relative to the time without, uncompressed and with"
        " dense.",
    )


def accuracy_time(results):
    """Accuracy of the demo's trainings over the time that they took."""
    result = results["demo"]
    runs = result["results"]["runs"]
    wanted = (
        ("worker-aggregator, no compression", "worker-aggregator, none", "grey", ":", "v"),
        ("ring, no compression", "ring, none", "grey", "-", "o"),
        ("ring, dense 2^-10, feedback", "ring, dense", "blue", "-", "s"),
        ("switch, dense 2^-10, feedback", "switch, dense", "blue", "--", "D"),
        ("ring, paper 2^-10, feedback", "ring, paper, feedback", "red", "--", "P"),
        ("ring, paper 2^-10", "ring, paper", "red", "-", "X"),
    )
    notes = caption(
        result,
        f"The demo: {result['results']['workers']} hosts, links of"
        f" {result['results']['rate'].replace('gbit', ' Gbit/s').replace('mbit', ' Mbit/s')},"
        f" {result['results']['steps']} steps each. Computing and evaluating are included. dense with feedback.",
    )
    figure, (axes,) = canvas(520, caption=notes, right=30, bottom=42)
    axes.set_title("Accuracy on the test images over time")
    found = {run["name"]: run for run in runs}
    for name, words, role, dash, marker in wanted:
        if name not in found:
            raise SystemExit(f"figures: accuracy-time: the demo has no run '{name}'; mend plots.py")
        points = found[name]["train"]["checkpoints"]
        xs, ys = [c["seconds"] for c in points], [c["accuracy"] * 100 for c in points]
        line(axes, xs, ys, dash, role, marker, markevery=(0, 2), label=words)
    axes.set_xlim(left=0)
    axes.set_ylim(0, 102)
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:g} %")
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g} s")
    legend(axes, "center right", 0.66)  # between those that learn and the one that does not
    return svg(
        figure,
        "Accuracy over time",
        "Accuracy on the test images over seconds of training, for exchanges with and without compression.",
    )


def power(k):
    """2 to the minus k, as people write it."""
    return "2" + "".join("⁻" if c == "-" else "⁰¹²³⁴⁵⁶⁷⁸⁹"[int(c)] for c in f"-{k}")


def error_bound(results):
    """Ratio and error of every codec against the bound."""
    result = results["ratio"]
    part = result["results"]["all"]
    rows = [r for r in part["results"] if "bound_exp" in r]
    notes = caption(
        result,
        f"All {part['files']} dumps of tests/data/gradients, {part['values'] / 1e6:.1f} million values. dense and"
        " lattice have the same errors.",
    )
    figure, (top, low) = canvas(860, 2, notes, space=0.36, right=110, left=84)
    ks = sorted({r["bound_exp"] for r in rows})

    def series(codec, key):
        found = {r["bound_exp"]: r[key] for r in rows if r["codec"] == codec}
        return [found[k] for k in ks]

    top.set_title("How much smaller gradients get")
    for codec, role, marker in (
        ("dense", "blue", "s"),
        ("lattice", "green", "^"),
        ("paper", "red", "X"),
        ("zfp", "purple", "D"),
    ):
        line(top, ks, series(codec, "ratio"), "-" if codec != "paper" else "--", role, marker)
        if codec != "lattice":  # its errors are those of dense
            low.plot(ks, series(codec, "rms_error"), ":", color=light(role), linewidth=2.2)
            line(low, ks, series(codec, "max_error"), "-", role, marker)
    top.set_yscale("log")
    ticks(top.yaxis, [4, 16, 100, 1000, 10000], ["4", "16", "100", "1000", "10 000"])
    low.set_yscale("log", base=2)
    low.plot(ks, [2.0**-k for k in ks], "-", color=light("rule"), linewidth=9, zorder=1, solid_capstyle="round")
    low.set_title("How far values are off")
    powers = list(range(4, 21, 2))
    ticks(low.yaxis, [2.0**-k for k in powers], [power(k) for k in powers])
    for axes in (top, low):
        ticks(axes.xaxis, ks[::2], [power(k) for k in ks[::2]])
        axes.set_xlim(ks[0] - 0.3, ks[-1] + 0.2)
    low.set_xlabel("bound")
    at, end = ks.index(7), ks[-1]
    label(top, 7, series("dense", "ratio")[at], "dense", "blue", 12, 12, weight="bold")
    label(top, end, series("zfp", "ratio")[-1], "zfp", "purple", 12, 0, weight="bold")
    label(top, ks[0], series("lattice", "ratio")[0], "lattice, paper", "green", 4, -18, weight="bold")
    end_labels(
        low,
        end,
        [
            (series(codec, "max_error")[-1], codec, role)
            for codec, role in (("paper", "red"), ("dense", "blue"), ("zfp", "purple"))
        ],
    )
    for style, words, width in (("-", "largest error", 2.6), (":", "rms error", 2.2)):
        low.plot([], [], style, color=light("grey"), linewidth=width, label=words)
    low.plot([], [], "-", color=light("rule"), linewidth=9, label="the bound")
    legend(low, "lower left")
    return svg(
        figure,
        "Ratio and error against the bound",
        "Above: compression ratios of dense, lattice, paper and zfp. Below: their largest and root-mean-square errors. "
        "dense and lattice stay within the bound; paper does not below 2^-7.",
    )


def codec_speed(results):
    """Ratio and speed beside other compressors."""
    result = results["codec"]
    best = codec_rows(results, "files", "memory")
    notes = caption(result, "Real gradients, one core, larger than the caches; lossy codecs at a bound of 2⁻¹⁰.")
    figure, (axes,) = canvas(560, caption=notes, left=92, right=40)
    axes.set_title("Ratio and speed beside other compressors")
    roles = {"dense": ("blue", "s"), "lattice": ("green", "^"), "paper": ("red", "X"), "zfp": ("purple", "D")}
    for codec, r in best.items():
        role, marker = roles.get(codec, ("grey", "o"))
        x, fast, back = r["ratio"], r["compress_bytes_per_second"] / 1e9, r["decompress_bytes_per_second"] / 1e9
        axes.plot([x, x], [fast, back], "-", color=light(role), linewidth=2)
        axes.plot(
            [x], [fast], marker, color=light(role), markersize=11, markeredgecolor=light("page"), markeredgewidth=1
        )
        axes.plot(
            [x], [back], marker, color=light("page"), markersize=10, markeredgecolor=light(role), markeredgewidth=2.2
        )
    memcpy = sum(r["memcpy_bytes_per_second"] for r in best.values()) / len(best) / 1e9
    axes.axhline(memcpy, color=light("rule"), linewidth=2, linestyle="--", zorder=1)
    axes.set_xscale("log")
    axes.set_yscale("log")
    ticks(axes.xaxis, [1.5, 2, 3, 5, 7, 10, 17], ["1.5", "2", "3", "5", "7", "10", "17"])
    ticks(axes.yaxis, [0.05, 0.1, 0.3, 1, 3, 10, 30], ["0.05 GB/s", "0.1", "0.3", "1", "3", "10", "30 GB/s"])
    axes.set_xlim(1.2, 22)
    axes.set_ylim(0.03, 40)
    axes.set_xlabel("compression ratio")
    label(axes, 2.6, memcpy, f"memcpy, {memcpy:.0f} GB/s", "quiet", 0, -12, size=14)
    places = {
        "dense": (-14, 26, "right"),
        "lattice": (12, 18, "left"),
        "paper": (-14, -18, "right"),
        "zfp": (14, 0, "left"),
        "zstd:1": (14, -8, "left"),
        "lz4": (14, 6, "left"),
        "snappy": (-10, 20, "right"),
        "zlib:6": (14, 0, "left"),
    }
    for codec, r in best.items():
        dx, dy, ha = places.get(codec, (12, 0, "left"))
        label(
            axes,
            r["ratio"],
            r["compress_bytes_per_second"] / 1e9,
            codec.replace(":", " -"),
            roles.get(codec, ("grey",))[0],
            dx,
            dy,
            ha,
            weight="bold",
        )
    axes.plot([], [], "o", color=light("grey"), markersize=10, label="compress")
    axes.plot(
        [],
        [],
        "o",
        color=light("page"),
        markeredgecolor=light("grey"),
        markeredgewidth=2.2,
        markersize=10,
        label="decompress",
    )
    axes.legend(loc="lower right", frameon=False, fontsize=15, labelcolor=light("ink"), handletextpad=0.2)
    return svg(
        figure,
        "Ratio and speed beside other compressors",
        "Compression ratio against compression and decompression speed of dense, lattice, paper, zfp, zstd, lz4, snappy"
        " and zlib on real gradients.",
    )


PLOTS = {
    "exchange-rate": ("exchange", exchange_rate),
    "loss": ("loss", loss),
    "accuracy-time": ("demo", accuracy_time),
    "error-bound": ("ratio", error_bound),
    "codec-speed": ("codec", codec_speed),
}


def draw(results):
    """All plots whose benchmark has a result."""
    plt.close("all")
    return {name: plot(results) for name, (benchmark, plot) in PLOTS.items() if benchmark in results}
