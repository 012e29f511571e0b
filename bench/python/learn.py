# SPDX-License-Identifier: Apache-2.0
"""Trains each task with each way of exchanging gradients, and records the accuracy by step.

    learn.py OUT.json [--seeds 1,2,3] [--ranks 4] [--tasks cnn,transformer] [--cases gloo,...]

The ranks are processes of this machine. What is learned does not depend on how long it takes.
"""

import argparse
import json
import os
import pathlib
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing
from cases import CASES, RANK, distributed
from tasks import TASKS

LEARNED = [case for case in CASES if case != "gradnic-none"]  # its sums are Gloo's, but for rounding
EXACT_SHARE = 0.1  # of the steps: PowerSGD begins then, as its documentation advises


def train(task, case, seed, steps):
    """Trains one network. The learning rate falls to nothing. Returns [(step, accuracy)]."""
    rank, size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(seed)
    network, state = distributed(case, task.network(), round(EXACT_SHARE * steps))
    optimizer = task.optimizer(network)
    falls = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    random = torch.Generator().manual_seed(seed)  # the same on all ranks: each takes its part of a batch
    points = []
    for step in range(1, steps + 1):
        examples = [part[rank::size] for part in task.examples(task.batch * size, random)]
        optimizer.zero_grad()
        task.loss(network, examples).backward()
        optimizer.step()
        falls.step()
        if rank == 0 and (step % task.every == 0 or step == steps):
            network.eval()
            points.append((step, task.accuracy(network.module)))
            network.train()
    dist.barrier()
    if state is not None:
        state.close()
    return points


def rank_main(rank, options, folder):
    """One rank: all trainings."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=options.ranks)
    rows = []
    for name in options.tasks:
        task = TASKS[name]()
        steps = max(round(task.steps * options.share), task.every)
        for seed in options.seeds:
            for case in options.cases:
                points = train(task, case, seed, steps)
                rows.append({"task": name, "case": case, "seed": seed, "points": points})
                if rank == 0:
                    print(f"{name} {case} seed {seed}: {100 * points[-1][1]:.2f} %", file=sys.stderr, flush=True)
    if rank == 0:
        described = {name: {"words": TASKS[name].words, "batch": TASKS[name].batch} for name in options.tasks}
        found = {"ranks": options.ranks, "exact_share": EXACT_SHARE, "powersgd_rank": RANK, "tasks": described,
                 "runs": rows}  # fmt: skip
        pathlib.Path(options.out).write_text(json.dumps(found), encoding="ascii")
    dist.destroy_process_group()


def names(text):
    """What stands between commas."""
    return text.split(",")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--seeds", type=lambda text: [int(seed) for seed in text.split(",")], default=[1, 2, 3])
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--tasks", type=names, default=["cnn", "transformer"])
    parser.add_argument("--cases", type=names, default=LEARNED)
    parser.add_argument("--share", type=float, default=1, help="of the steps, for a short run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(rank_main, (options, folder), nprocs=options.ranks)


if __name__ == "__main__":
    main()
