# SPDX-License-Identifier: Apache-2.0
"""Tables of DDP over limited links, and of what it learns with each exchange."""

import statistics

from markdown import claims_table, digits, percent, table, times
from results import rate_words

CASES = {
    "gloo": "Gloo",
    "gloo-fp16": "Gloo, fp16 hook",
    "gloo-powersgd": "Gloo, PowerSGD hook",
    "gradnic-none": "gradnic, uncompressed",
    "gradnic": "**gradnic**",
    "gradnic-hook": "`gradnic.hook` over Gloo",
}
TARGET = 0.98  # of the accuracy that Gloo has at the end with the same seed


def rates(results):
    """The rates of the links, as tc writes them."""
    return list(dict.fromkeys(row["rate"] for row in results["pytorch"]["results"]["steps"]))


def step_rows(results):
    """Rows by (rate, task, case)."""
    return {(r["rate"], r["task"], r["case"]): r for r in results["pytorch"]["results"]["steps"]}


def exchange(results):
    """Exchange and step of the network with 25 MB of gradients."""
    found = step_rows(results)
    lines = []
    for case, words in CASES.items():
        own = [found[rate, "wide", case] for rate in rates(results)]
        cells = []
        for row in own:
            for key in ("exchange", "step"):
                ratio = "" if case == "gloo" else f" ({times(row[f'{key}_faster'], 1)})"
                cells.append(f"{row[f'{key}_ms']:.0f}{ratio}")
        lines.append((words, *cells, digits(own[0]["ratio"], 1) if case.startswith("gradnic") else ""))
    heads = [f"{rate_words(rate)}: {what}" for rate in rates(results) for what in ("exchange", "step")]
    row = found[rates(results)[0], "wide", "gloo"]
    return table(
        ("milliseconds", *heads, "ratio"),
        lines,
        results["pytorch"],
        f"{row['gradient_bytes'] / 1e6:.0f} MB of gradients, {results['pytorch']['results']['hosts']} hosts that share"
        f" the cores. Medians of {results['pytorch']['results']['rounds']} rounds. In brackets: how many times as fast"
        f" as Gloo in the same round. Computing alone takes {row['compute_ms']:.0f} ms. PowerSGD has rank"
        f" {results['pytorch']['results']['powersgd_rank']}.",
    )


def collectives(results):
    """Sums of one tensor, without DDP."""
    rows = {(r["rate"], r["collective"], r["backend"]): r for r in results["pytorch"]["results"]["collectives"]}
    lines = []
    for backend in ("gloo", "gradnic-none", "gradnic"):
        cells = []
        for rate in rates(results):
            for collective in ("allreduce", "reduce_scatter"):
                row = rows[rate, collective, backend]
                cells.append(f"{row['ms']:.0f}" + ("" if backend == "gloo" else f" ({times(row['faster'], 1)})"))
        lines.append((CASES[backend], *cells))
    heads = [f"{rate_words(rate)}: {name}" for rate in rates(results) for name in ("allreduce", "reduce_scatter")]
    size = next(iter(rows.values()))["bytes"]
    return table(
        ("milliseconds", *heads),
        lines,
        results["pytorch"],
        f"One tensor of {size / 1e6:.0f} MB with normal values. In brackets: how many times as fast as Gloo.",
    )


def overhead(results):
    """What a bucket costs beside its values."""
    rows = [
        (CASES[row["case"]], digits(row["python_us"], 0), digits(row["processor_us"], 0))
        for row in results["pytorch"]["results"]["overhead"]
    ]
    return table(
        ("us for a bucket", "time of backward()", "processors, all threads"),
        rows,
        results["pytorch"],
        "DDP with 40 buckets of 16 KiB in a group of one rank, less backward() without DDP, and less the library's own"
        " sum.",
    )


def claims(results):
    """What was wanted, and what was found."""
    return claims_table(
        results["pytorch"]["results"]["claims"], results["pytorch"], "Medians of the rounds' own ratios."
    )


def runs(results, task, case):
    """The runs of a case, by seed: [(step, accuracy)]."""
    found = results["pytorch-learning"]["results"]["runs"]
    return {run["seed"]: run["points"] for run in found if run["task"] == task and run["case"] == case}


def learned_cases(results):
    """The cases that were trained."""
    return list(dict.fromkeys(run["case"] for run in results["pytorch-learning"]["results"]["runs"]))


def learning(results):
    """Accuracy at the end: mean, and each seed."""
    found = results["pytorch-learning"]["results"]
    lines = []
    for case in learned_cases(results):
        cells = []
        for task in found["tasks"]:
            ends = [points[-1][1] for points in runs(results, task, case).values()]
            cells += [percent(statistics.mean(ends), 2), " ".join(f"{100 * end:.2f}" for end in ends)]
        lines.append((CASES[case], *cells))
    heads = [f"{task['words']}{what}" for task in found["tasks"].values() for what in ("", ", by seed")]
    return table(
        ("accuracy at the end", *heads),
        lines,
        results["pytorch-learning"],
        f"{found['ranks']} ranks; shares of what is not trained with: test images, characters that are expected."
        f" PowerSGD has rank {found['powersgd_rank']}, and begins after {found['exact_share']:.0%} of the steps.",
    )


def milliseconds(results, rate, task, case, step):
    """The time of the first steps of a case. PowerSGD begins as Gloo, without compression."""
    found = step_rows(results)
    each = found[rate, task, case]["step_ms"]
    if case != "gloo-powersgd":
        return step * each
    last = runs(results, task, case)
    exact = round(results["pytorch-learning"]["results"]["exact_share"] * next(iter(last.values()))[-1][0])
    return min(step, exact) * found[rate, task, "gloo"]["step_ms"] + max(step - exact, 0) * each


def reached(results, task, case):
    """By seed: the first step at which a run has the target's accuracy; None if it never has."""
    ends = {seed: points[-1][1] for seed, points in runs(results, task, "gloo").items()}
    return [
        next((step for step, accuracy in points if accuracy >= TARGET * ends[seed]), None)
        for seed, points in runs(results, task, case).items()
    ]


def time(results):
    """Time to the same accuracy."""
    found = results["pytorch-learning"]["results"]
    lines = []
    for case in learned_cases(results):
        cells = []
        for task in found["tasks"]:
            steps = reached(results, task, case)
            cells.append(" ".join(str(step or "never") for step in steps))
            for rate in rates(results):
                if None in steps:
                    cells.append("never")
                else:
                    cells.append(f"{milliseconds(results, rate, task, case, statistics.median(steps)) / 1e3:.1f} s")
        lines.append((CASES[case], *cells))
    heads = []
    for task in found["tasks"].values():
        heads += [f"{task['words']}: steps", *(rate_words(rate) for rate in rates(results))]
    return table(
        ("time to the same accuracy", *heads),
        lines,
        results["pytorch"],
        f"{TARGET:.0%} of the accuracy that Gloo has at the end with the same seed. Steps: each seed's first such"
        " evaluation, of one every ten steps. Times: the median of the steps by the median time of a step.",
    )


TABLES = {
    "pytorch-exchange": exchange,
    "pytorch-collectives": collectives,
    "pytorch-overhead": overhead,
    "pytorch-claims": claims,
    "pytorch-learning": learning,
    "pytorch-time": time,
}
