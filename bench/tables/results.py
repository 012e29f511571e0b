# SPDX-License-Identifier: Apache-2.0
"""What benchmarks have found: reads docs/lab/results, and says of each result where it is from."""

import datetime
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "docs/lab/results"
CORES = {
    (25, 1): "Zen 3",
    (25, 17): "Zen 4",
    (25, 160): "Zen 4c",
    (26, 2): "Zen 5",
    (23, 49): "Zen 2",
}  # by CPU family and model


def load(folder=FOLDER):
    """All results, by the names of their benchmarks."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}


def day(result):
    """'22 November 2026'."""
    date = datetime.datetime.strptime(result["date"], "%Y-%m-%dT%H:%M:%SZ")
    return f"{date.day} {date:%B %Y}"


def machine(result):
    """'2 virtual cores of an AMD EPYC (Zen 4), Linux 6.18'."""
    m = result["machine"]
    core = CORES.get((m["family"], m["model"]))
    kernel = ".".join(m["kernel"].split(".")[:2])
    cores = f"{m['cores']} {'virtual ' if m['virtual'] else ''}core{'s' if m['cores'] > 1 else ''}"
    article = "an" if m["cpu"][:1] in "AEIOU" else "a"
    return f"{cores} of {article} {m['cpu']}{f' ({core})' if core else ''}, Linux {kernel}"


def doubts(result):
    """Sentences that a reader has to know before he quotes a figure."""
    if result["exact"]:
        return []
    said = []
    if result["short"]:
        said.append("SHORT RUN, to try the scripts: do not quote these figures.")
    if result["busy_before"] > 0.05:
        said.append(f"The machine was {result['busy_before']:.0%} busy with something else.")
    return said


def origin(result, mark="`"):
    """Sentences for a caption: when, where, which commit, which command."""
    commit = f"commit {mark}{result['commit']}{mark}" + (" with changes" if result["changed"] else "")
    command = f"{mark}bench/measure {result['benchmark']}{mark}"
    if result["exact"]:
        return [f"Exact on any machine: {command}, {commit}."]
    return [
        *doubts(result),
        f"Measured on {day(result)} by {command}, {commit}.",
        f"{machine(result)[0].upper()}{machine(result)[1:]}.",
    ]


def kernel_of(rows):
    """The kernel that the library takes by itself on the machine of these rows."""
    return max((row["kernel"] for row in rows), key=["", "scalar", "avx2", "gfni", "avx512", "avx512-gfni", "neon"].index)


def codec_rows(results, data, size):
    """Of the benchmark codec: each codec's row for these values, by the default kernel."""
    rows = results["codec"]["results"]["results"]
    kernel = kernel_of(rows)
    return {
        row["codec"]: row
        for row in rows
        if row["data"] == data and row["size"] == size and row["kernel"] in ("", kernel)
    }


def exchange_rows(results):
    """Of the benchmark exchange: its rows by (rate, size, name)."""
    return {(row["rate"], row["size"], row["name"]): row for row in results["exchange"]["results"]["results"]}


def rate_words(rate):
    """'200mbit' as people write it."""
    return rate.replace("mbit", " Mbit/s").replace("gbit", " Gbit/s")
