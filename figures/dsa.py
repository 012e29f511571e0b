# SPDX-License-Identifier: Apache-2.0
"""The figures of DSA (Wang et al., arXiv 2201.06398)."""
import random

import dsa_daemons
import dsa_sharing
from model import SIMULATED, Figure, Plot, Result, over_seeds

MODES = {"switchml": "SwitchML", "atp": "ATP", "dsa": "DSA", "always": "always", "alternately": "every other time",
         "preemptive": "results from the server"}
MIXES = {"A": "A", "B": "B", "AB": "mixed", "AAAAAAAABC": "A, B and C as 8:1:1", "AAAAABC": "A, B and C as 5:1:1"}
PACKET_VALUES = 62  # of 306 bytes: 32 of the header, 26 of Ethernet and IP
SLOT_BYTES = 4 * PACKET_VALUES + 8
FIRST_WINDOW = 60_000 // 306  # the paper's
WINDOW = 4096  # chunks that a worker may have under way, a choice of ours
ABOUT = {
    "links": "100 Gbit/s, round trip 10 us, packets of 306 bytes, marks at 80 KB",
    "memory of the switch": "5 MB",
    "DNN A": "partitions of 4 MB, 0.32 ms a layer",
    "DNN B": "partitions of 2 MB, 0.64 ms a layer",
    "stragglers (our choice)": "up to 0.3 ms for each partition",
    "window of a worker (our choice)": f"{WINDOW} packets",
    "least timeout (our choice)": "1 ms",
}


def job(kind, workers, slots, start_ns, straggle_ns=300_000):
    """Two layers of two partitions. The last layer's gradients come first, and in two parts."""
    partition, layer_ns = {"A": (4_000_000, 320_000), "B": (2_000_000, 640_000), "C": (2_000_000, 320_000)}[kind]
    tensors = [{"values": partition // 4, "compute_ns": layer_ns // 2, "layer": layer} for layer in (2, 1, 1, 2)]
    return {"name": kind, "workers": workers, "slots": slots, "priority": "auto", "start_ns": start_ns,
            "straggle_ns": straggle_ns, "forward_ns": [layer_ns, layer_ns], "tensors": tensors}


def scenario(mode, mix, jobs, workers, seed, admitted=0, sample_ns=0, window=WINDOW, megabytes=5, straggle_ms=0.3,
             first_window=0):
    """`admitted`: for so many jobs SwitchML keeps memory; 0: for those that are there.
    `first_window`: chunks; 0: as wide as windows become."""
    memory = int(megabytes * 1e6) // SLOT_BYTES
    slots = window
    if mode == "switchml":
        memory //= 2
        slots = 1 << ((memory // (admitted or jobs)).bit_length() - 1)
        slots = min(slots, window)
    draw = random.Random(seed)
    first = {"first_window": first_window} if first_window else {}
    kinds = [mix[i % len(mix)] for i in range(jobs)]
    return {"link": {"rate_bit_s": 100_000_000_000, "delay_ns": 2500, "overhead_bytes": 26, "ecn_bytes": 80_000},
            "packet_values": PACKET_VALUES, "switch": {"mode": mode, "slots": memory}, "sample_ns": sample_ns,
            "jobs": [job(kind, workers, slots, int(draw.random() * 1e6), int(straggle_ms * 1e6)) | first
                     for kind in kinds]}


WORDS = {"window": "windows of {}", "megabytes": "{:g} MB", "straggle_ms": "stragglers of {:g} ms",
         "admitted": "memory kept for {} jobs", "first_window": "first window of {}"}


def in_words(more):
    """Parameters other than the usual ones, as they stand behind a name."""
    return "".join(f", {text.format(more[name])}" for name, text in WORDS.items() if more.get(name))


def simulate(run, mode, mix, jobs=8, workers=8, seed=1, **more):
    about = f"{MODES[mode]}, {jobs} jobs of {workers} workers, {MIXES[mix]}{in_words(more)}"
    return run.simulate(scenario(mode, mix, jobs, workers, seed, **more), seed, about)


def mean(report, what):
    return sum(job[what] for job in report["jobs"]) / len(report["jobs"])


def seeds_of(run, mix, more):
    """Jobs of type A at the paper's size have three seeds, with any first window. Others have one,
    unless all is to be made."""
    return run.draws if mix == "A" and not more.keys() - {"first_window"} else run.seeds


def completion(run, mode, mix, **more):
    """The mean completion time of a job in ms, for each seed."""
    seeds = seeds_of(run, mix, more)
    return [1e3 * mean(simulate(run, mode, mix, seed=seed, **more), "seconds") for seed in seeds]


def beside(run, mix, modes, **more):
    """Rows of other parameters: DSA (and straw men) over another mode."""
    times = {mode: completion(run, mode, mix, **more) for mode in modes}
    first, about = modes[0], in_words(more)
    return [over_seeds(f"{MIXES[mix]}{about}: {MODES[mode]} over {MODES[first]}", ratios(times[first], times[mode]), "x")
            for mode in modes[1:]]


def ratios(above, below):
    return [a / b for a, b in zip(above, below)]


def fig8(run):
    counts = [2, 4, 8]
    times = {mode: {n: completion(run, mode, "A", **({"jobs": n} if n != 8 else {})) for n in counts}
             for mode in ("switchml", "atp", "dsa")}
    kept = completion(run, "switchml", "A", jobs=8, admitted=64)
    rows = [over_seeds("A: DSA over ATP", ratios(times["atp"][8], times["dsa"][8]), "x"),
            over_seeds("A: DSA over SwitchML", ratios(times["switchml"][8], times["dsa"][8]), "x"),
            over_seeds("A: DSA over SwitchML, which keeps memory for 64 jobs", ratios(kept, times["dsa"][8]), "x")]
    half = {mode: completion(run, mode, "A", window=WINDOW // 2) for mode in ("atp", "dsa")}
    rows.append(over_seeds(f"A: DSA over ATP, windows of {WINDOW // 2}", ratios(half["atp"], half["dsa"]), "x"))
    for mix in ("B", "AB"):
        both = {mode: completion(run, mode, mix) for mode in ("atp", "dsa")}
        rows.append(over_seeds(f"{MIXES[mix]}: DSA over ATP", ratios(both["atp"], both["dsa"]), "x"))
    narrow = [{"window": 512, "megabytes": memory} for memory in (5, 1.25, 0.6, 0.3)]
    for parameter in ({"megabytes": 2.5}, {"megabytes": 1.25}, {"straggle_ms": 1}, *narrow):
        rows += beside(run, "A", ("switchml", "dsa"), **parameter)
    plot = Plot("lines", counts, {MODES[mode]: [sum(t[n]) / len(t[n]) for n in counts] for mode, t in times.items()},
                "jobs of 8 workers", "completion time of a job, ms")
    return Result(rows, plot, ABOUT,
                  "DSA gains over ATP as in the paper, and the more the wider windows are. SwitchML does not lose "
                  "at 5 MB: an eighth covers a round trip. With less memory and wide windows more chunks cross the "
                  "parameter server's link, so DSA gains nothing. With windows of 512 it does: from 0.6 MB on, "
                  "where SwitchML's eighth is too small, it is ahead. With longer stragglers the two are alike. "
                  "SwitchML also loses when it keeps memory for jobs that are not there.", run.draws)


def fig9(run):
    counts = [2, 4, 8] if not run.full else [2, 4, 8, 16]
    setup = {n: {"workers": n} if n < 8 else {} if n == 8 else {"workers": n, "jobs": 4} for n in counts}
    times = {mode: {n: completion(run, mode, "A", **setup[n]) for n in counts} for mode in ("atp", "dsa")}
    rows = [over_seeds(f"{n} workers: DSA over ATP", ratios(times["atp"][n], times["dsa"][n]), "x") for n in counts]
    plot = Plot("lines", counts, {MODES[mode]: [sum(t[n]) / len(t[n]) for n in counts] for mode, t in times.items()},
                "workers of a job", "completion time of a job, ms")
    return Result(rows, plot, ABOUT, "The more workers a sum waits for, the longer it holds its slot, and the more "
                  "preemption gains.", run.draws)


def fig10(run):
    rows, bars = [], {MODES[mode]: [] for mode in ("switchml", "atp", "dsa")}
    for mix in ("A", "B"):
        used = {mode: [mean(simulate(run, mode, mix, seed=seed), "utilisation") for seed in seeds_of(run, mix, {})]
                for mode in ("switchml", "atp", "dsa")}
        for mode, values in used.items():
            bars[MODES[mode]].append(100 * sum(values) / len(values))
        rows += [over_seeds(f"{mix}: DSA over ATP", ratios(used["dsa"], used["atp"]), "x"),
                 over_seeds(f"{mix}: DSA over SwitchML", ratios(used["dsa"], used["switchml"]), "x")]
    return Result(rows, Plot("bars", ["A", "B"], bars, "", "values on a worker's link, % of its rate"), ABOUT,
                  "The paper does not say how it measures utilisation of memory. Ours is what a worker's link "
                  "carries while its job exchanges. For SwitchML see dsa-fig8.", run.draws)


def fig11(run):
    rows, bars = [], {MODES[mode]: [] for mode in ("dsa", "always", "alternately")}
    for mix in ("A", "AB"):
        atp = completion(run, "atp", mix)
        for mode in ("dsa", "always", "alternately"):
            gains = ratios(atp, completion(run, mode, mix))
            bars[MODES[mode]].append(sum(gains) / len(gains))
            rows.append(over_seeds(f"{MIXES[mix]}: {MODES[mode]} over ATP", gains, "x"))
    rows += beside(run, "A", ("atp", "dsa", "always", "alternately"), straggle_ms=1)
    return Result(rows, Plot("bars", ["A", "mixed"], bars, "", "gain over ATP"), ABOUT,
                  "With short stragglers the straw men are as good as DSA, or better. In the paper each eviction costs a "
                  "reminder after a timeout. Our switch knows what has gone to the parameter server, and sends the rest on "
                  "by itself, so evictions are cheap. With stragglers of up to 1 ms, of one seed, DSA and every other time "
                  "are ahead of always, and all of ATP, as in the paper.", run.draws)


def options(run):
    """Our choices beside the paper's: who sends results, and how wide the first window is."""
    narrow = {"first_window": FIRST_WINDOW}
    ways = {"DSA": ("dsa", {}), "results from the server": ("preemptive", {}),
            "first window of 60 KB": ("dsa", narrow), "both": ("preemptive", narrow)}
    rows, bars = [], {name: [] for name in ways}
    for mix in ("A", "AB"):
        atp = completion(run, "atp", mix)
        for name, (mode, more) in ways.items():
            gains = ratios(atp, completion(run, mode, mix, **more))
            bars[name].append(sum(gains) / len(gains))
            rows.append(over_seeds(f"{MIXES[mix]}: {name} over ATP", gains, "x"))
    return Result(rows, Plot("bars", ["A", "mixed"], bars, "", "gain over ATP"),
                  {**ABOUT, "first window": f"{WINDOW} packets, or 60 KB: {FIRST_WINDOW} packets"},
                  "With DSA the switch sends results to the workers. Where only the parameter server sends them, as "
                  "our daemon does, they come later but are never lost. A first window of 60 KB helps DSA. It costs "
                  "where the server sends results: round trips are longer, so windows take longer to grow.", run.draws)


def shares(run):
    """Ten jobs and seven, of three types: A, B, and one that computes as A and sends as B."""
    mixes = {"8:1:1": "AAAAAAAABC", "5:1:1": "AAAAABC"}
    rows, bars = [], {MODES[mode]: [] for mode in ("switchml", "atp", "dsa")}
    for name, mix in mixes.items():
        times = {mode: [1e3 * mean(simulate(run, mode, mix, jobs=len(mix), workers=4, seed=seed), "seconds")
                        for seed in run.seeds] for mode in ("switchml", "atp", "dsa")}
        for mode, values in times.items():
            bars[MODES[mode]].append(sum(values) / len(values))
        rows += [over_seeds(f"{name}: DSA over {MODES[mode]}", ratios(times[mode], times["dsa"]), "x")
                 for mode in ("atp", "switchml")]
    return Result(rows, Plot("bars", list(mixes), bars, "A : B : C", "completion time of a job, ms"),
                  {**ABOUT, "workers of a job": 4, "C (our choice)": "partitions of 2 MB, 0.32 ms a layer"},
                  "DSA gains over ATP with both shares, less than with jobs of type A alone (Fig. 9). The paper's third "
                  "type is not ours. For SwitchML see Fig. 8.", run.seeds)


def fig1(run):
    """How long chunks hold their slots, as samples see it."""
    held, plot = {}, {}
    for mode in ("switchml", "atp", "dsa"):
        reports = [simulate(run, mode, "A", seed=seed, sample_ns=20_000)["slots"] for seed in run.seeds]
        held[mode] = [report["held_ns"]["50"] * 1e-6 for report in reports]
        plot[MODES[mode]] = [reports[0]["held_ns"][str(q)] * 1e-6 for q in (10, 50, 90, 99)]
    rows = [over_seeds(f"{MODES[mode]}: median time in a slot", values, "ms") for mode, values in held.items()]
    return Result(rows, Plot("lines", [10, 50, 90, 99], plot, "percentile", "time that a chunk holds a slot, ms"),
                  {**ABOUT, "samples": "every 20 us; shorter holds are rarely seen"},
                  "The paper measures a testbed with slower hosts, whose stragglers come in milliseconds. Ours come "
                  "within 0.3 ms, and the times scale with them.", run.seeds)


SMALL = {
    "links": "100 Gbit/s, round trip 10 us, packets of 306 bytes, marks at 80 KB",
    "workers of a job": 4,
    "memory of the switch (our choice)": "1 MB",
    "window of a worker (our choice)": f"{WINDOW // 2} packets",
    "stragglers (our choice)": "up to 0.1 ms for each tensor",
    "jobs": "sum tensors and nothing else, the first ones with more priority",
}


SHORT = {"megabytes": 0.5, "window": 512}  # memory that is short, and windows that are not wide
OTHERS = ({"window": 512}, {"megabytes": 0.5}, SHORT, {"megabytes": 0.25}, {"straggle_ms": 1})  # choices for Fig. 6


def throughput(run, mode, jobs, tensor, megabytes=1.0, window=WINDOW // 2, straggle_ms=0.1):
    """Gbit/s of a worker's values, on average over jobs, for each seed. `tensor`: its MB."""
    memory, slots, tensors = int(megabytes * 1e6) // SLOT_BYTES, window, max(1, 8 // tensor)
    if mode == "switchml":
        memory //= 2
        slots = min(window, 1 << ((memory // 4).bit_length() - 1))  # kept for four jobs
    setup = {"link": {"rate_bit_s": 100_000_000_000, "delay_ns": 2500, "overhead_bytes": 26, "ecn_bytes": 80_000},
             "packet_values": PACKET_VALUES, "switch": {"mode": mode, "slots": memory},
             "jobs": [{"workers": 4, "slots": slots, "priority": 1000 >> i, "straggle_ns": int(straggle_ms * 1e6),
                       "values": tensor * 250_000, "vectors": tensors} for i in range(jobs)]}
    about = f"{MODES[mode]}, {jobs} jobs of 4 workers, tensors of {tensor} MB"
    about += f", {megabytes:g} MB of memory, windows of {window}, stragglers of {straggle_ms:g} ms"
    return [1e-9 * mean(run.simulate(setup, seed, about), "goodput_bit_s") for seed in run.seeds]


def compared(rates, about=""):
    about += ": " if about else ""
    return [over_seeds(f"{about}DSA over ATP", ratios(rates["dsa"], rates["atp"]), "x"),
            over_seeds(f"{about}DSA over SwitchML", ratios(rates["dsa"], rates["switchml"]), "x")]


BESIDE = ("switchml", "atp", "dsa")


def fig6(run):
    sizes = [1, 2, 4, 8]
    rates = {mode: {size: throughput(run, mode, 4, size) for size in sizes} for mode in BESIDE}
    rows = compared({mode: r[4] for mode, r in rates.items()})
    for more in OTHERS:
        rows += compared({mode: throughput(run, mode, 4, 4, **more) for mode in BESIDE}, in_words(more)[2:])
    plot = Plot("lines", sizes, {MODES[mode]: [sum(r[n]) / len(r[n]) for n in sizes] for mode, r in rates.items()},
                "MB of a tensor, 4 jobs", "Gbit/s of a job")
    return Result(rows, plot, SMALL,
                  "The rows are those of 4 MB. It comes out where memory is short and windows are narrow. With 1 MB "
                  "SwitchML's quarter covers a round trip, so it lacks nothing. DSA's wide windows are more than memory "
                  "holds: every tenth packet goes to the parameter server, whose link then is the limit. With windows "
                  "of 512 one of 150 does. With less memory SwitchML waits for its few slots, and DSA, which "
                  "shares all, does not. Memory and windows are our choice.", run.seeds)


def fig7(run):
    counts = [1, 2, 4]
    rates = {mode: {n: throughput(run, mode, n, 4) for n in counts} for mode in BESIDE}
    rows = compared({mode: r[4] for mode, r in rates.items()})
    for n in counts:
        rows += compared({mode: throughput(run, mode, n, 4, **SHORT) for mode in BESIDE},
                         f"{n} job{'s' if n > 1 else ''}{in_words(SHORT)}")
    plot = Plot("lines", counts, {MODES[mode]: [sum(r[n]) / len(r[n]) for n in counts] for mode, r in rates.items()},
                "jobs, tensors of 4 MB", "Gbit/s of a job")
    return Result(rows, plot, SMALL,
                  "The first rows are those of 4 jobs. It comes out where memory is short: see Fig. 6. SwitchML "
                  "keeps a quarter of the memory for each job, also when fewer are there. With short memory DSA "
                  "gains over it with any number of jobs, and over ATP more with more jobs.", run.seeds)


FIGURES = [
    Figure("dsa-fig1", "Fig. 1", "how long slots are held", SIMULATED, fig1),
    dsa_daemons.FIG5,
    Figure("dsa-fig6", "Fig. 6", "throughput over tensor size", SIMULATED, fig6),
    Figure("dsa-fig7", "Fig. 7", "throughput over jobs", SIMULATED, fig7),
    dsa_sharing.FIGURE,
    Figure("dsa-fig8", "Fig. 8", "completion time over jobs", SIMULATED, fig8),
    Figure("dsa-options", "Fig. 8", "results from the server, first window", SIMULATED, options),
    Figure("dsa-fig9", "Fig. 9", "completion time over workers", SIMULATED, fig9),
    Figure("dsa-fig10", "Fig. 10", "utilisation", SIMULATED, fig10),
    Figure("dsa-fig11", "Fig. 11", "straw men", SIMULATED, fig11),
    dsa_daemons.FIG12,
    Figure("dsa-fig12-shares", "Fig. 12", "shares of types of task", SIMULATED, shares),
]
