# SPDX-License-Identifier: Apache-2.0
"""INCEPTIONN's figures of trainings: accuracy, and compressors in the loop."""
import statistics

import trainings
from model import MEASURED, Figure, Plot, Result, Row, over_seeds, timed
from run import Failed

RATE = "1gbit"
TARGET = 95  # percent


DRAWN = ("not compressed", "gradients without 24 bits", "weights without 24 bits", "paper 2^-10", "paper 2^-10 +",
         "dense 2^-10 +", "dense 2^-6 +")


def fig4(run):
    ways = {**trainings.PLAIN, **trainings.TRUNCATED, **trainings.PAPER, **trainings.LATTICE, **trainings.DENSE}
    rows, lines = [], {}
    for network, title in trainings.NETWORKS.items():
        found = trainings.all_of(run, network, ways)
        rows += [over_seeds(f"{title}: {name}", trainings.accuracies(said), "%") for name, said in found.items()]
        if network == "hdc":
            lines = {name: trainings.curve(found[name]) for name in DRAWN}
            steps = trainings.looks(found["not compressed"])
    return Result(rows, Plot("lines", steps, lines, "steps, HDC", "accuracy, %"), trainings.about(run),
                  "Gradients bear all cuts. Weights bear less, as in the paper: without 24 bits they learn more slowly. After "
                  "150 steps that costs a quarter of HDC's accuracy, and after 300 nothing: these digits are easy. The "
                  "paper's codec drops what is below its bound, which nearly all of HDC's gradients is. So without error "
                  "feedback HDC learns late. lattice and dense have the same values, so the same accuracy. The paper "
                  "has ImageNet and MNIST, and many epochs.", run.seeds)


def step_ms(said):
    """The mean time of a step at rank 0."""
    return sum(said["ranks"][0]["step_ms_mean"].values())


PHASES = ("input", "forward", "backward", "quantise", "sum", "communicate", "update")


def table2(run):
    """Where the time of a step goes, with an aggregator, in percent."""
    rows, bars = [], {phase: [] for phase in PHASES}
    for network, title in trainings.NETWORKS.items():
        run.say(f"  {title}")
        said = [run.json("train", "-N", trainings.WORKERS, "--network", network, "--steps", LOOP_STEPS, "--seed", seed,
                         "--data", run.data(), "--algorithm", "worker-aggregator", "--nic", "in-process", "--rate", RATE,
                         "-p", "none") for seed in (1, 2, 3)]
        for phase in PHASES:
            parts = [100 * one["ranks"][0]["step_ms_mean"][phase] / step_ms(one) for one in said]
            bars[phase].append(statistics.median(parts))
            if phase in ("forward", "backward", "communicate", "update"):
                rows.append(timed(f"{title}: {phase}", parts, "%"))
    return Result(rows, Plot("bars", list(trainings.NETWORKS.values()), bars, "", "part of a step, %"),
                  {"HDC (Table I)": "batches of 25 a worker, rate 0.1, divided by 5 every 2000 steps, momentum 0.9, weight "
                                    "decay 0.00005",
                   "CNN": "the same", "workers": trainings.WORKERS, "link (modelled)": "1 Gbit/s at the aggregator",
                   "steps": LOOP_STEPS, "times": "median of three trainings"},
                  "Communication takes nearly all of a step of HDC, because our processors compute small images in "
                  "little time. The CNN has fewer bytes, and more to compute for each. The paper's networks, by arithmetic, are in "
                  "Fig. 3b.", [1, 2, 3])


# In software, by each worker, on the way to the aggregator.
SOFTWARE = {
    "none": ("-p", "none"),
    "snappy": ("--baseline", "snappy"),
    "lz4": ("--baseline", "lz4"),
    "zstd, level 1": ("--baseline", "zstd:1"),
    "zfp 2^-10": ("--baseline", "zfp:10"),
    "paper 2^-10, packets of a NIC in software": ("-p", "paper", "-k", 10),
    "dense 2^-10, packets of a NIC in software": ("-p", "dense", "-k", 10),
}
LOOP_STEPS = 40
NOT_BUILT = "was not found when gradnic was built"  # an optional library


def in_loop(run, options, seed):
    return run.json("train", "-N", trainings.WORKERS, "--steps", LOOP_STEPS, "--data", run.data(), "--seed", seed,
                    "--algorithm", "worker-aggregator", "--nic", "in-process", "--rate", "10gbit", *options)


def fig7(run):
    rounds = [1, 2, 3]  # the same training, for the median of times
    times, ratios, skipped = {}, {}, []
    for name, options in SOFTWARE.items():
        run.say(f"  {name}")
        try:
            said = [in_loop(run, options, seed) for seed in rounds]
        except Failed as failed:
            if NOT_BUILT not in str(failed):
                raise
            run.say(f"  {failed}")
            skipped.append(name)
            continue
        times[name] = [step_ms(one) for one in said]
        ratios[name] = said[0]["nic"]["payload_bytes"] / said[0]["nic"]["wire_payload_bytes"]
    plain = statistics.median(times["none"])
    rows = [Row(f"{name}: ratio of all data", ratios[name], "x") for name in times if name != "none"]
    rows += [timed(f"{name}: time of a step beside none", [time / plain for time in times[name]], "x")
             for name in times if name != "none"]
    plot = Plot("bars", [name.partition(",")[0] for name in times],
                {"time beside none": [statistics.median(values) / plain for values in times.values()]}, "",
                "time of a step beside none")
    note = f" Not there when gradnic was built: {', '.join(skipped)}." if skipped else ""
    return Result(rows, plot,
                  {"network": "HDC, five layers of 500", "workers": f"{trainings.WORKERS}, one of them the aggregator",
                   "link (modelled)": "10 Gbit/s at the aggregator", "steps": LOOP_STEPS,
                   "ratio": "of both ways; sums come back as they are",
                   "times": "median of three trainings; all workers share this machine's processors"},
                  "Lossless compressors gain next to nothing on gradients, and their time comes on top, as in the "
                  "paper. Snappy loses less than there, because processors are faster beside 10 Gbit/s now. SZ is "
                  "not in Debian: zfp stands for it, and loses no less than SZ did. gradnic's rows do all that a NIC "
                  "does, packet by packet, in software. NICs in hardware would take none of that time." + note, rounds)


EXCHANGES = {
    "WA": ("--algorithm", "worker-aggregator", "-p", "none"),
    "WA+C": ("--algorithm", "worker-aggregator", "-p", "paper", "-k", 10, "--feedback"),
    "INC": ("--algorithm", "ring", "-p", "none"),
    "INC+C": ("--algorithm", "ring", "-p", "paper", "-k", 10, "--feedback"),
    "INC+C, dense": ("--algorithm", "ring", "-p", "dense", "-k", 10, "--feedback"),
}
LOOK, REACH_STEPS = 10, 210


def until(said, percent):
    """Step and seconds at which the accuracy reaches `percent`; the end where it does not, and
    whether it does."""
    for look in said["checkpoints"]:
        if 100 * look["accuracy"] >= percent:
            return look["step"], look["seconds"], True
    return look["step"], look["seconds"], False


def fig13(run):
    reached, lines = {}, {}
    for name, options in EXCHANGES.items():
        run.say(f"  {name}")
        said = [run.json("train", "-N", trainings.WORKERS, "--steps", REACH_STEPS, "--evaluate-steps", LOOK,
                         "--augment", 24, "--seed", seed, "--data", run.data(), "--nic", "in-process", "--rate", RATE,
                         *options) for seed in run.seeds]
        reached[name] = [until(one, TARGET) for one in said]
        lines[name] = trainings.curve(said)
        steps = trainings.looks(said)
    rows = [timed(f"{name}: steps until {TARGET} %", [one[0] for one in found])  # in looks of ten
            for name, found in reached.items()]
    rows += [timed(f"{name}: times faster than WA until {TARGET} %",
                   [wa[1] / own[1] for wa, own in zip(reached["WA"], found)], "x")
             for name, found in reached.items() if name != "WA"]
    short = [name for name, found in reached.items() if not all(one[2] for one in found)]
    note = f" Not reached in {REACH_STEPS} steps, at which it is counted: {', '.join(short)}." if short else ""
    return Result(rows, Plot("lines", steps, lines, "steps", "accuracy, %"),
                  {**{key: trainings.about(run)[key] for key in ("data", "workers")}, "steps": REACH_STEPS,
                   "network": "HDC, five layers of 500", "links (modelled)": f"{RATE}, NICs in software",
                   "INC+C": "paper 2^-10 with error feedback"},
                  "The paper's codec needs more steps, as it needs more epochs there, and each takes a part of the "
                  "time. dense needs fewer of both. NICs are software here, and share processors with the workers: "
                  "that is why INC+C gains less than published, and less the busier this machine is. WA+C gains no "
                  "time: sums come back as they are, while gradients go up, and the way back is the limit. The paper "
                  "has no error feedback." + note, run.seeds)


FIG4, TABLE2, FIG7, FIG13 = (
    Figure("inceptionn-fig4", "Fig. 4", "accuracy with compressed gradients", MEASURED, fig4),
    Figure("inceptionn-table2", "Tables I, II", "a step by phase", MEASURED, table2),
    Figure("inceptionn-fig7", "Fig. 7", "compressors in software", MEASURED, fig7),
    Figure("inceptionn-fig13", "Fig. 13", "time to the same accuracy", MEASURED, fig13),
)
