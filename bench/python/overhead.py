# SPDX-License-Identifier: Apache-2.0
"""What Python takes for a bucket: DDP with many small ones, in a group of one rank.

    overhead.py OUT.json [--rounds 5] [--buckets 40]

With one rank nothing is sent. What is left is the way of a bucket through DDP, Python and the
library, and back. The library's own time for the same sums is subtracted, and so is the time of
backward() without DDP. Processor time is that of all threads.
"""

import argparse
import json
import os
import pathlib
import statistics
import tempfile
import time

import torch
import torch.distributed as dist
from cases import distributed, group

VALUES = 4096  # of a bucket


class Many(torch.nn.Module):
    """Parameters of which each fills a bucket."""

    def __init__(self, count):
        super().__init__()
        self.parts = torch.nn.ParameterList(torch.nn.Parameter(torch.ones(VALUES)) for _ in range(count))

    def forward(self):
        """Their sum."""
        return sum(part.sum() for part in self.parts)


def timed(call, count):
    """Median time of a call, and mean processor time, in microseconds."""
    times, begin = [], time.process_time()
    for _ in range(count):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e6 * statistics.median(times), 1e6 * (time.process_time() - begin) / count


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--buckets", type=int, default=40)
    parser.add_argument("--calls", type=int, default=100, help="in each round")
    options = parser.parse_args()
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    with tempfile.TemporaryDirectory() as folder:
        dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=0, world_size=1)
        plain = Many(options.buckets)
        made = {case: distributed(case, plain, bucket_cap_mb=4 * VALUES / 2**20)
                for case in ("gloo", "gradnic-none", "gradnic", "gradnic-hook")}  # fmt: skip
        comms = {case: group(case).backend.communicator for case in ("gradnic-none", "gradnic")}
        comms["gradnic-hook"] = comms["gradnic"]  # its codec is the same; the bound is not
        values = torch.ones(VALUES)
        for network, _ in made.values():
            timed(lambda network=network: network().backward(), 20)
        rows = {case: [] for case in made}
        for _ in range(options.rounds):
            bare = [each / options.buckets for each in timed(lambda: plain().backward(), options.calls)]
            for case, (network, _) in made.items():
                whole = timed(lambda network=network: network().backward(), options.calls)
                library = (0, 0)
                if case in comms:
                    library = timed(lambda comm=comms[case]: comm.allreduce(values, bucket=None), options.calls)
                rows[case].append([each / options.buckets - a - b for each, a, b in zip(whole, bare, library)])
        found = [{"case": case, "python_us": statistics.median(each[0] for each in rounds),
                  "processor_us": statistics.median(each[1] for each in rounds)}
                 for case, rounds in rows.items()]  # fmt: skip
        pathlib.Path(options.out).write_text(json.dumps(found), encoding="ascii")
        for _, state in made.values():
            if state is not None:
                state.close()
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
