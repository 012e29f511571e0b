# SPDX-License-Identifier: Apache-2.0
"""One rank of the benchmark of step times: all cases take turns in the same processes.

    RANK=0 WORLD_SIZE=4 MASTER_ADDR=... MASTER_PORT=... steps.py OUT.json [--rounds 5] [--short]

Of every case: the time of a step, and that of its exchange alone, where backward() only hands over
gradients that were computed before. Rank 0 writes the median of each round.
"""

import argparse
import json
import statistics
import time

import torch
import torch.distributed as dist
from cases import CASES, distributed, group
from tasks import TASKS


class Recorded(torch.autograd.Function):
    """Has gradients of its own, whatever it is given."""

    @staticmethod
    def forward(context, gradients, *parameters):
        context.gradients = gradients
        return torch.zeros(())

    @staticmethod
    def backward(context, _):
        return None, *context.gradients


class Handed(torch.nn.Module):
    """Parameters whose gradients were computed before."""

    def __init__(self, network, gradients):
        super().__init__()
        self.network, self.gradients = network, gradients

    def __deepcopy__(self, memo):
        import copy

        return Handed(copy.deepcopy(self.network, memo), self.gradients)

    def forward(self):
        """Something to call backward() of."""
        return Recorded.apply(self.gradients, *self.network.parameters())


def seconds(step, count=1):
    """The time of a call, from when all ranks are ready."""
    times = []
    for _ in range(count):
        dist.barrier()
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


class Runner:
    """A case with a task."""

    def __init__(self, case, task, network, gradients, random):
        self.task, self.random = task, random
        self.trained, self.state = distributed(case, network)
        self.optimizer = task.optimizer(self.trained)
        self.handed, self.other = distributed(case, Handed(network, gradients))

    def step(self):
        """A step of the training."""
        self.optimizer.zero_grad()
        self.task.loss(self.trained, self.task.examples(self.task.batch, self.random)).backward()
        self.optimizer.step()

    def exchange(self):
        """The exchange alone."""
        self.handed().backward()

    def sent(self):
        """Bytes that this rank has sent so far, as values and as they were on the wire."""
        group = self.handed.process_group
        comm = self.other.communicator if self.other else getattr(getattr(group, "backend", None), "communicator", None)
        return (comm.stats["sent_bytes"], comm.stats["sent_wire_bytes"]) if comm else (0, 0)

    def close(self):
        """Ends the connections of a hook."""
        for state in filter(None, (self.state, self.other)):
            state.close()


def ddp_rows(options, rank):
    """Steps and exchanges of all tasks and cases, in turns."""
    rows = []
    for name in options.tasks:
        task = TASKS[name]()
        torch.manual_seed(1)
        network = task.network()
        random = torch.Generator().manual_seed(100 + rank)
        for _ in range(3):  # gradients of a training that has begun
            optimizer = task.optimizer(network)
            optimizer.zero_grad()
            task.loss(network, task.examples(task.batch, random)).backward()
            optimizer.step()
        with torch.no_grad():
            for parameter in network.parameters():
                dist.broadcast(parameter, 0)
        network.zero_grad()
        task.loss(network, task.examples(task.batch, random)).backward()
        gradients = tuple(parameter.grad.clone() for parameter in network.parameters())
        network.zero_grad(set_to_none=True)
        bytes_each = sum(4 * p.numel() for p in network.parameters())
        runners = {case: Runner(case, task, network, gradients, random) for case in options.cases}
        for runner in runners.values():
            for _ in range(3):  # buckets change after the first, PowerSGD begins with the third
                runner.step()
                runner.exchange()
        alone = Handed(network, gradients)

        def compute():
            network.zero_grad()
            task.loss(network, task.examples(task.batch, random)).backward()

        for turn in range(options.rounds):
            rows.append({"kind": "compute", "task": name, "round": turn, "ms": 1e3 * seconds(compute, options.steps)})
            rows.append({"kind": "handing", "task": name, "round": turn,
                         "ms": 1e3 * seconds(lambda: alone().backward(), options.steps)})  # fmt: skip
            network.zero_grad()
            for case, runner in runners.items():
                step = seconds(runner.step, options.steps)
                before = runner.sent()
                exchange = seconds(runner.exchange, options.steps)
                after = runner.sent()
                ratio = (after[0] - before[0]) / (after[1] - before[1]) if after[1] > before[1] else None
                rows.append({"kind": "ddp", "task": name, "case": case, "round": turn, "gradient_bytes": bytes_each,
                             "step_ms": 1e3 * step, "exchange_ms": 1e3 * exchange, "ratio": ratio})  # fmt: skip
                if rank == 0:
                    print(json.dumps(rows[-1]), flush=True)
        for runner in runners.values():
            runner.close()
        del runners
    return rows


def collective_rows(options):
    """reduce_scatter and allreduce of one tensor, without DDP."""
    rows, size = [], dist.get_world_size()
    whole = torch.randn(options.bytes // 4 // size * size, generator=torch.Generator().manual_seed(dist.get_rank()))
    part, copy = torch.empty(whole.numel() // size), whole.clone()
    for turn in range(options.rounds + 1):
        for backend in ("gloo", "gradnic-none", "gradnic"):
            scatter = seconds(lambda: dist.reduce_scatter_tensor(part, whole, group=group(backend)), options.steps)
            copy.copy_(whole)
            reduce = seconds(lambda: dist.all_reduce(copy, group=group(backend)), options.steps)
            if turn:  # the first is to warm up
                for collective, took in (("reduce_scatter", scatter), ("allreduce", reduce)):
                    rows.append({"kind": "collective", "collective": collective, "backend": backend, "round": turn - 1,
                                 "bytes": 4 * whole.numel(), "ms": 1e3 * took})  # fmt: skip
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=1, help="in each round; the round has their median")
    parser.add_argument("--bytes", type=int, default=25_000_000, help="of the tensor that is summed without DDP")
    parser.add_argument("--tasks", type=lambda text: text.split(","), default=list(TASKS))
    parser.add_argument("--cases", type=lambda text: text.split(","), default=list(CASES))
    options = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rows = ddp_rows(options, dist.get_rank())
    if options.bytes:
        rows += collective_rows(options)
    if dist.get_rank() == 0:
        with open(options.out, "w", encoding="ascii") as file:
            json.dump(rows, file)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
