# SPDX-License-Identifier: Apache-2.0
"""DSA's figures with real daemons: two trainings at once over one switch with little memory."""
import contextlib

from model import MEASURED, Figure, Plot, Result, over_seeds, timed

MEMORY = 64  # slots, of which each job would like all
MODES = {"SwitchML": "partitioned", "ATP": "shared", "DSA": "preemptive"}
JOBS = {"HDC": "hdc", "CNN": "cnn"}
LOSS = "0.1%"
ABOUT = {
    "jobs": "HDC (five layers of 500) and CNN (two convolutions, two layers), two workers each, at the same time",
    "data": "8 x 8 digits of UCI",
    "memory of the switch (our choice)": f"{MEMORY} slots; each worker would use {MEMORY}",
    "where": "workers, switch and parameter server are processes of this machine, over loopback",
}


@contextlib.contextmanager
def network(run, mode, switch=(), server=()):
    """A switch in a mode, with its parameter server where the mode has one. Gives its address."""
    with contextlib.ExitStack() as stack:
        options = ["--mode", mode, "--slots", MEMORY, "--reserve", 0, *switch]
        options += ["--quota", MEMORY // 2] if mode == "partitioned" else ["--quota", 4 * MEMORY]
        if mode != "partitioned":
            options += ["--ps", stack.enter_context(run.switch("--role", "ps", *server))]
        yield stack.enter_context(run.switch(*options))


def trainings(run, mode, seed, steps, **faults):
    """What both jobs say."""
    window = MEMORY // 2 if mode == "partitioned" else MEMORY
    with network(run, mode, **faults) as address:
        return dict(zip(JOBS, run.together(
            [["train", "-N", 2, "--network", kind, "--steps", steps, "--evaluate-steps", steps // 5, "--augment", 24,
              "--seed", seed, "--data", run.data(), "--algorithm", "switch", "--switch", address, "--switch-slots",
              window, "--switch-channels", 1, "-p", "none"] for kind in JOBS.values()])))


def seconds(said):
    """Of the longer job."""
    return max(job["checkpoints"][-1]["seconds"] for job in said.values())


def number_of_steps(run):
    return 300 if run.full else 100


def fig5(run):
    steps = number_of_steps(run)
    found = {}
    for name, mode in MODES.items():
        run.say(f"  {name}")
        found[name] = [trainings(run, mode, seed, steps) for seed in run.seeds]
    rows = [over_seeds(f"{job} over {name}: accuracy", [100 * one[job]["accuracy"] for one in said], "%")
            for name, said in found.items() for job in JOBS]
    rows += [timed(f"DSA over {name}, time of both jobs", [seconds(a) / seconds(b) for a, b in
                                                           zip(found[name], found["DSA"])], "x")
             for name in ("ATP", "SwitchML")]
    looks = {f"HDC over {name}": said[0]["HDC"]["checkpoints"] for name, said in found.items()}
    return Result(rows, Plot("lines", [look["step"] for look in looks["HDC over DSA"]],
                             {name: [100 * look["accuracy"] for look in looks[name]] for name in looks}, "steps",
                             "accuracy, %"),
                  {**ABOUT, "steps": f"{steps} of each job"},
                  "The modes learn the same, because the sums are the same integers. Times say little here: all "
                  "processes share the processors of one machine, and these are the limit, not links or slots.", run.seeds)


def fig12(run):
    steps = number_of_steps(run) // 2
    faults = {"without loss": {}, f"{LOSS} of workers' packets": {"switch": ("--loss", f"in:{LOSS}")},
              f"{LOSS} at the parameter server": {"server": ("--loss", f"in:{LOSS}")}}
    times, rows = {}, []
    for name in ("ATP", "DSA"):
        for fault, options in faults.items():
            run.say(f"  {name}, {fault}")
            said = [trainings(run, MODES[name], seed, steps, **options) for seed in run.seeds]
            times[name, fault] = [seconds(one) for one in said]
            rows += [over_seeds(f"{name}, {fault}: accuracy of {job}", [100 * one[job]["accuracy"] for one in said], "%")
                     for job in JOBS]
    for fault in faults:
        rows.append(timed(f"DSA over ATP, {fault}, time of both jobs",
                          [a / b for a, b in zip(times["ATP", fault], times["DSA", fault])], "x"))
    plot = Plot("bars", list(faults), {name: [sum(times[name, fault]) / len(run.seeds) for fault in faults]
                                       for name in ("ATP", "DSA")}, "", "s, both jobs")
    return Result(rows, plot, {**ABOUT, "steps": f"{steps} of each job", "loss": f"{LOSS} of the packets that arrive"},
                  "Lost packets cost time and no accuracy, wherever they are lost. The paper loses the packets of one "
                  "worker; a switch of ours loses those of all.", run.seeds)


FIG5 = Figure("dsa-fig5", "Fig. 5", "accuracy over time", MEASURED, fig5)
FIG12 = Figure("dsa-fig12", "Fig. 12", "loss at workers and at the parameter server", MEASURED, fig12)
