# SPDX-License-Identifier: Apache-2.0
"""SwitchML's figures of trainings, over a real switch and with the compressors it compares with."""
import statistics

import trainings
from model import MEASURED, Figure, Plot, Result, over_seeds, timed

RATES = {"100 Mbit/s": 1e8, "10 Gbit/s": 1e10}
PACKETS = 1122 / 1024  # a switch's packets of 256 values, with headers, over their values

WAYS = {**trainings.PLAIN, **trainings.SWITCHED, **trainings.OTHERS,
        "dense 2^-10 +": trainings.DENSE["dense 2^-10 +"]}


def fig10(run):
    rows, bars = [], {}
    for network, title in trainings.NETWORKS.items():
        found = trainings.all_of(run, network, WAYS)
        rows += [over_seeds(f"{title}: {name}", trainings.accuracies(said), "%") for name, said in found.items()]
        bars[title] = [statistics.fmean(trainings.accuracies(said)) for said in found.values()]
    names = [name.replace("switch, ", "").replace("not compressed", "binary32") for name in WAYS]
    return Result(rows, Plot("bars", names, bars, "", "accuracy, %"),
                  {**trainings.about(run), "Top-k": "of each tensor", "QSGD": "levels of the norm of 512 values, at random",
                   "4 bits": "seven levels of each tensor's largest value, and a sign, to nearest"},
                  "Block floating point and 16-bit floats lose nothing, here as in the paper. Its networks and data "
                  "are larger, so rows of other compressors compare among themselves only.", run.seeds)


def link_bytes(name, said):
    """Bytes of a step on a worker's link, one way."""
    values, n = 4 * said["parameters"], trainings.WORKERS
    if name in trainings.SWITCHED:
        return values * PACKETS / (2 if "16-bit" in name else 1)
    if "baseline_ratio" in said:  # such encodings cannot be added on the way: each goes to all
        return (n - 1) * values / said["baseline_ratio"]
    ring = 2 * (n - 1) / n
    rank = said["ranks"][0]
    return ring * values * rank["sent_wire_bytes"] / rank["sent_bytes"]


def step_seconds(name, said, rate):
    """Computing as it was measured, and the link's time."""
    mean = said["ranks"][0]["step_ms_mean"]
    computing = ("input", "forward", "backward", "quantise", "update")
    return 1e-3 * sum(mean[phase] for phase in computing) + 8 * link_bytes(name, said) / rate


def target(run):
    """An accuracy in percent that all reach in so many steps."""
    return 85 if run.full else 70


def steps_until(said, percent):
    """None: it is not reached."""
    return next((look["step"] for look in said["checkpoints"] if 100 * look["accuracy"] >= percent), None)


def fig2(run):
    found = trainings.all_of(run, "hdc", WAYS)
    rows, lines = [], {}
    steps = {name: [steps_until(one, target(run)) for one in said] for name, said in found.items()}
    late = [name for name, needed in steps.items() if None in needed]
    note = f" Not reached by: {', '.join(late)}." if late else ""
    for title, rate in RATES.items():
        times = {name: [count * step_seconds(name, one, rate) for count, one in zip(steps[name], said)]
                 for name, said in found.items() if name not in late}
        for name, own in times.items():
            if name != "not compressed":
                rows.append(timed(f"{title}: {name}, times faster than a ring",
                                  [a / b for a, b in zip(times["not compressed"], own)], "x"))
    seconds = {name: statistics.median(step_seconds(name, one, 1e8) for one in said) for name, said in found.items()}
    ends = [step * seconds["not compressed"] for step in trainings.looks(found["not compressed"])]
    for name, said in found.items():
        at, reached = [step * seconds[name] for step in trainings.looks(said)], trainings.curve(said)
        lines[name] = [last_at(end, at, reached) for end in ends]
    return Result(rows, Plot("lines", ends, lines, "seconds, links of 100 Mbit/s", "accuracy, %"),
                  {"network": "HDC, five layers of 500",
                   **{key: trainings.about(run)[key] for key in ("data", "workers", "steps", "+")},
                   "rows": f"time until {target(run)} % of accuracy beside that of an uncompressed ring",
                   "a step": "computing as measured here, and bytes on a link of the given rate",
                   "Top-k, QSGD, 4 bits": "each worker's encoding goes to all others, and is not added on the way"},
                  "On slow links few bytes win. On fast ones choosing and rounding take longer than they save, and a "
                  "sum in the network wins without either: the paper's point. dense takes little enough to be near "
                  "the ring there, or ahead. Our workers compute on processors, and share them, so their computing "
                  "weighs more." + note, run.seeds)


def last_at(time, at, reached):
    """The accuracy that is known at a time; None before the first look."""
    known = [accuracy for when, accuracy in zip(at, reached) if when <= time]
    return known[-1] if known else None


FIG2 = Figure("switchml-fig2", "Fig. 2", "accuracy over time", MEASURED, fig2)
FIG10 = Figure("switchml-fig10", "Fig. 10, Table 4", "accuracy with other types", MEASURED, fig10)
