# SPDX-License-Identifier: Apache-2.0
"""Tables of what is learned: the training benchmark and the demo."""

import textwrap

from markdown import COLUMNS, digits, percent, table, times


def training(results):
    found = results["training"]["results"]
    lines = []
    for m in found["medians"]:
        seeds = [f"{run['accuracy'][-1] * 100:.1f}" for run in found["runs"] if run["name"] == m["name"]]
        lines.append(
            (
                m["name"],
                digits(m["ratio"]),
                *(percent(x, 2) for x in m["accuracy"]),
                " ".join(seeds),
                digits(m["test_loss"][-1], 3),
            )
        )
    epochs = len(found["medians"][0]["accuracy"])
    return table(
        ("exchange", "ratio", *(f"epoch {i + 1}" for i in range(epochs)), "at the end, by seed", "last test loss"),
        lines,
        results["training"],
        f"Accuracy on {found['test_images']} test images, median of the seeds. One image is"
        f" {100 / found['test_images']:.2f} %.",
    )


def demo(results):
    found = results["demo"]["results"]
    rows = [
        (
            run["name"],
            percent(run["train"]["accuracy"], 2),
            digits(run["train"]["exchange_ms_median"], 1, " ms"),
            digits(run["wire_bytes_per_step"] / 1e6, 2, " MB"),
            digits(run["ratio"]),
            times(run["speedup"]),
            "identical" if run["train"]["replicas_identical"] else "**differ**",
        )
        for run in found["runs"]
    ]
    lines = table(
        (
            "exchange",
            "accuracy",
            "time/step",
            "on the wire/step",
            "ratio",
            "speed-up",
            "replicas",
        ),
        rows,
        results["demo"],
        f"{found['workers']} workers, {found['steps']} steps, links of"
        f" {found['rate'].replace('gbit', ' Gbit/s').replace('mbit', ' Mbit/s')}.",
    )
    lines.append("")
    for note in found["notes"]:
        lines += textwrap.wrap(note, COLUMNS, initial_indent="* ", subsequent_indent="  ", break_on_hyphens=False)
    return lines


SUMMARY = (
    ("worker-aggregator, no compression", "worker-aggregator"),
    ("ring, no compression", "ring"),
    ("ring, dense 2^-10, feedback", "ring, `dense` in the NICs"),
    ("ring, dense 2^-10, feedback, in the library", "ring, `dense` in the library"),
    ("direct, dense 2^-10, feedback, in the library", "direct, `dense` in the library"),
    ("switch, no compression", "switch"),
    ("switch, dense 2^-10, feedback", "switch, `dense`"),
)


def demo_summary(results):
    """The demo in a few rows, for those who read no further."""
    found = results["demo"]["results"]
    runs = {run["name"]: run for run in found["runs"]}
    rows = [
        (
            words,
            percent(runs[name]["train"]["accuracy"], 1),
            digits(runs[name]["train"]["exchange_ms_median"], 0, " ms"),
            digits(runs[name]["wire_bytes_per_step"] / 1e6, 1, " MB"),
            times(runs[name]["speedup"], 1),
        )
        for name, words in SUMMARY
        if name in runs
    ]
    return table(
        ("exchange of gradients", "accuracy", "time of an exchange", "on the wire", "speed-up"),
        rows,
        results["demo"],
        f"{found['workers']} hosts on emulated links of"
        f" {found['rate'].replace('gbit', ' Gbit/s').replace('mbit', ' Mbit/s')} share the cores. Bytes of a step, on"
        " all links, with all headers. `dense` has a bound of 2^-10 and error feedback.",
    )


TABLES = {"training": training, "demo": demo, "demo-summary": demo_summary}
