# SPDX-License-Identifier: Apache-2.0
"""Real switches in their memory modes under load, on emulated links. sharing.json has what
bench/sharing.sh measured."""
import datetime
import json
import pathlib
import statistics

from model import MEASURED, Figure, Plot, Result, Row

FOUND = pathlib.Path(__file__).resolve().parent / "sharing.json"
MODES = {"partitioned": "SwitchML", "shared": "ATP", "preemptive": "DSA"}


def rates(results):
    """Mbit/s of a worker, the mean of all jobs, by mode, number of jobs and bytes of a vector."""
    found = {}
    for result in results:
        mode, jobs = result["name"].split()
        found.setdefault((mode, int(jobs), result["size"]), []).append(8e-3 * result["size"] / result["ms"])
    return {key: statistics.mean(values) for key, values in found.items()}


def counted(jobs):
    return f"{jobs} job{'s' if jobs > 1 else ''}"


def sharing(_run):
    measured = json.loads(FOUND.read_text(encoding="utf-8"))
    found = rates(measured["results"])
    jobs, sizes = sorted({key[1] for key in found}), sorted({key[2] for key in found})
    rows = []
    for number in jobs:
        for size in sizes:
            about = f"{counted(number)}, {size / 2**20:g} MiB"
            rows += [Row(f"{about}: {name}", found[mode, number, size], "Mbit/s") for mode, name in MODES.items()]
            rows += [Row(f"{about}: {MODES[mode]} over SwitchML", found[mode, number, size] / found["partitioned", number, size],
                         "x") for mode in ("shared", "preemptive")]
    series = {f"{name}, {counted(number)}": [found[mode, number, size] for size in sizes]
              for mode, name in MODES.items() for number in (jobs[0], jobs[-1])}
    about = {"links": f"{measured['rate'].removesuffix('mbit')} Mbit/s, emulated by tc between namespaces; the switch "
                      f"delays what comes and what goes by {measured['delay']} each",
             "memory": f"{measured['slots']} slots. SwitchML gives each job a quarter, as who plans for four jobs; ATP and DSA "
                       "share all, with a window of as many chunks",
             "jobs": "two workers each, at the same time, each with its own link",
             "emulated": f"{measured['date']}, {measured['cpu']}, {measured['cores']} cores, Linux {measured['kernel']}; "
                         "other programs ran beside it"}
    return Result(rows, Plot("lines", [size / 2**20 for size in sizes], series, "MiB of a vector", "Mbit/s of a worker",
                             log_x=True), about,
                  "With so few slots the round trip is the limit, and not the link. A job that shares has four times the "
                  "chunks under way, but each goes over the parameter server and takes two round trips: twice the rate "
                  "is left. Up to three jobs do not disturb each other, because a chunk that finds no slot goes the same "
                  "way. So ATP and DSA do not differ here; they do where the server's link is the limit (dsa-fig8).", [1],
                  date=datetime.date.fromisoformat(measured["date"]))


FIGURE = Figure("dsa-sharing", "Fig. 6, 7", "real switches with little memory, emulated links", MEASURED, sharing)
