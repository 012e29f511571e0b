# SPDX-License-Identifier: Apache-2.0
"""The benchmarks with PyTorch run, and their figures are plausible. They are not timed here."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("torch")
BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench/python"


def bench(script, *arguments, environment=(), wait=True):
    process = subprocess.Popen([sys.executable, "-B", BENCH / script, *map(str, arguments)], text=True,
                               env={**os.environ, **dict(environment)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return finished(process) if wait else process


def finished(process):
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err[-2000:]
    return out


def test_steps_of_all_cases_and_their_summary(tmp_path):
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ranks = [bench("steps.py", tmp_path / "1gbit.json", "--rounds", 1, "--tasks", "transformer", "--bytes", 100_000,
                   environment={"RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
                                "MASTER_PORT": str(port), "GLOO_SOCKET_IFNAME": "lo"}, wait=False)
             for rank in range(2)]
    for rank in ranks:
        finished(rank)
    bench("overhead.py", tmp_path / "overhead.json", "--rounds", 1, "--buckets", 4, "--calls", 3)
    found = json.loads(bench("summary.py", tmp_path, "1gbit"))
    steps = {row["case"]: row for row in found["steps"]}
    assert list(steps) == ["gloo", "gloo-fp16", "gloo-powersgd", "gradnic-none", "gradnic", "gradnic-hook"]
    assert all(row["step_ms"] > 0 and row["exchange_ms"] > 0 for row in steps.values())
    assert steps["gloo"]["exchange_faster"] == 1
    assert steps["gradnic-none"]["ratio"] == 1
    assert 2 < steps["gradnic"]["ratio"] < steps["gradnic-hook"]["ratio"]
    assert {(row["collective"], row["backend"]) for row in found["collectives"]} == \
        {(c, b) for c in ("allreduce", "reduce_scatter") for b in ("gloo", "gradnic-none", "gradnic")}
    assert {row["case"] for row in found["overhead"]} == {"gloo", "gradnic-none", "gradnic", "gradnic-hook"}
    assert all(claim["value"] is not None for claim in found["claims"])


def test_trainings_learn_with_every_exchange(tmp_path):
    bench("learn.py", tmp_path / "out.json", "--ranks", 2, "--seeds", 1, "--tasks", "transformer", "--share", 0.05)
    found = json.loads((tmp_path / "out.json").read_text())
    ends = {run["case"]: run["points"][-1] for run in found["runs"]}
    assert list(ends) == ["gloo", "gloo-fp16", "gloo-powersgd", "gradnic", "gradnic-hook"]
    assert all(step == 15 and accuracy > 0.2 for step, accuracy in ends.values()), ends
