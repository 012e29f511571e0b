# SPDX-License-Identifier: Apache-2.0
"""Trainings with each way to compress: what the figures of accuracy are made of."""
import statistics

WORKERS = 4
EVERY = 15  # steps between two looks at the accuracy
NETWORKS = {"hdc": "HDC", "cnn": "CNN"}

# Name in a figure: options of gradnic train.
PLAIN = {"not compressed": ("-p", "none")}
TRUNCATED = {
    **{f"gradients without {bits} bits": ("--baseline", f"truncate:{bits}") for bits in (16, 22, 24)},
    **{f"weights without {bits} bits": ("--baseline", f"truncate-weights:{bits}") for bits in (16, 22, 24)},
}
PAPER = {
    **{f"paper 2^-{k}": ("-p", "paper", "-k", k) for k in (10, 8, 6)},
    "paper 2^-10 +": ("-p", "paper", "-k", 10, "--feedback"),
}
LATTICE = {"lattice 2^-10 +": ("-p", "lattice", "-k", 10, "--feedback")}
DENSE = {f"dense 2^-{k} +": ("-p", "dense", "-k", k, "--feedback") for k in (10, 8, 6)}
OTHERS = {
    "Top-k 1 % +": ("--baseline", "topk:1%", "--feedback"),
    "Top-k 10 % +": ("--baseline", "topk:10%", "--feedback"),
    "QSGD, 4 bits": ("--baseline", "qsgd:4"),
    "4 bits": ("--baseline", "uniform:4"),
}
# Over a real switch.
SWITCHED = {
    "switch, block floating point": ("-p", "none"),
    "switch, 16-bit floats": ("-p", "none", "--switch-half", "all"),
}

ABOUT = {
    "networks": "HDC: five layers of 500; CNN: convolutions of 16 and 32 channels, layers of 128 and 10",
    "data": "8 x 8 digits of UCI, 297 of them to test: one is 0.34 %",
    "workers": f"{WORKERS}, batches of 25",
    "steps": "150 (--full: 300)",
    "+": "with error feedback",
}


def about(run):
    """The parameters of a figure."""
    return {**ABOUT, "data": "that of --data"} if run.images else ABOUT


def steps(run):
    return 300 if run.full else 150


def _options(run, network, seed):
    return ["train", "-N", WORKERS, "--network", network, "--steps", steps(run), "--evaluate-steps", EVERY, "--augment",
            24, "--seed", seed, "--data", run.data()]


def train(run, network, seed, *options):
    return run.json(*_options(run, network, seed), *options)


def train_switched(run, network, seed, *options):
    """Over a switch that is started for it."""
    return run.over_switch([*_options(run, network, seed), "--algorithm", "switch", *options])


def all_of(run, network, ways):
    """For each way, what the trainings of all seeds said."""
    found = {}
    for name, options in ways.items():
        one = train_switched if name in SWITCHED else train
        run.say(f"  {NETWORKS[network]}, {name}")
        found[name] = [one(run, network, seed, *options) for seed in run.seeds]
    return found


def accuracies(said):
    return [100 * one["accuracy"] for one in said]


def curve(said):
    """The mean accuracy over seeds, at each look."""
    return [100 * statistics.fmean(values) for values in
            zip(*([look["accuracy"] for look in one["checkpoints"]] for one in said))]


def looks(said):
    return [look["step"] for look in said[0]["checkpoints"]]
