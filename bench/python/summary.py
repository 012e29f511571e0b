# SPDX-License-Identifier: Apache-2.0
"""Medians of what steps.py and overhead.py have written, and what was wanted of them.

    summary.py FOLDER RATE...      reads FOLDER/RATE.json and FOLDER/overhead.json; writes JSON
"""

import json
import pathlib
import statistics
import sys

from cases import CASES, RANK
from tasks import TASKS


def median(values):
    """The median of what is there."""
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


def faster(rows, others, key):
    """How many times as fast as others: the median of the rounds' own ratios."""
    by_round = {row["round"]: row[key] for row in others}
    return median(by_round[row["round"]] / row[key] for row in rows if row["round"] in by_round)


def chosen(rows, **wanted):
    """The rows that have these values."""
    return [row for row in rows if all(row.get(key) == value for key, value in wanted.items())]


def summary(rate, rows):
    """The rows of one rate, a median for each case and task, and for each collective."""
    steps, collectives = [], []
    for task in TASKS:
        gloo = chosen(rows, kind="ddp", task=task, case="gloo")
        for case in CASES:
            own = chosen(rows, kind="ddp", task=task, case=case)
            if own:
                steps.append({"rate": rate, "task": task, "case": case, "gradient_bytes": own[0]["gradient_bytes"],
                              "compute_ms": median(r["ms"] for r in chosen(rows, kind="compute", task=task)),
                              "step_ms": median(r["step_ms"] for r in own),
                              "exchange_ms": median(r["exchange_ms"] for r in own),
                              "step_faster": faster(own, gloo, "step_ms"),
                              "exchange_faster": faster(own, gloo, "exchange_ms"),
                              "ratio": median(r["ratio"] for r in own),
                              "exchange_runs_ms": [r["exchange_ms"] for r in own],
                              "step_runs_ms": [r["step_ms"] for r in own]})  # fmt: skip
    for collective in ("allreduce", "reduce_scatter"):
        gloo = chosen(rows, collective=collective, backend="gloo")
        for backend in ("gloo", "gradnic-none", "gradnic"):
            own = chosen(rows, collective=collective, backend=backend)
            if own:
                collectives.append({"rate": rate, "collective": collective, "backend": backend,
                                    "bytes": own[0]["bytes"], "ms": median(r["ms"] for r in own),
                                    "faster": faster(own, gloo, "ms"), "runs_ms": [r["ms"] for r in own]})  # fmt: skip
    return steps, collectives


LEAST = {"200mbit": 5, "1gbit": 3}  # times as fast as Gloo's exchange


def claims(steps, collectives, overhead):
    """What was wanted, and what was found."""
    found = []
    for rate in dict.fromkeys(row["rate"] for row in steps):
        words = rate.replace("mbit", " Mbit/s").replace("gbit", " Gbit/s")
        for row in chosen(steps, rate=rate, task="wide", case="gradnic"):
            found.append({"name": f"{words}: the exchange, Gloo's time over gradnic's", "least": LEAST.get(rate),
                          "value": row["exchange_faster"]})  # fmt: skip
        for row in chosen(collectives, rate=rate, backend="gradnic-none"):
            found.append({"name": f"{words}: {row['collective']}, the same without compression",
                          "least": 1 if row["collective"] == "allreduce" else 1.7, "value": row["faster"]})  # fmt: skip
        for row in chosen(steps, rate=rate, task="wide", case="gradnic-none"):
            found.append({"name": f"{words}: the exchange, the same without compression", "least": 1,
                          "value": row["exchange_faster"]})  # fmt: skip
    for row in overhead:
        if row["case"] != "gloo":
            found.append({"name": f"{CASES[row['case']]}: Python's time for a bucket, us", "most": 100,
                          "value": row["python_us"]})  # fmt: skip
    return found


def main():
    folder, rates = pathlib.Path(sys.argv[1]), sys.argv[2:]
    steps, collectives, rounds = [], [], 0
    for rate in rates:
        rows = json.loads((folder / f"{rate}.json").read_text())
        rounds = 1 + max(row["round"] for row in rows)
        more = summary(rate, rows)
        steps += more[0]
        collectives += more[1]
    overhead = json.loads((folder / "overhead.json").read_text())
    json.dump({"hosts": 4, "rounds": rounds, "powersgd_rank": RANK, "steps": steps, "collectives": collectives,
               "overhead": overhead, "claims": claims(steps, collectives, overhead)}, sys.stdout)  # fmt: skip


if __name__ == "__main__":
    main()
