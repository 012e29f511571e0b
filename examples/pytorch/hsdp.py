# SPDX-License-Identifier: Apache-2.0
"""Trains a transformer with HSDP.

Parameters are sharded inside a site, and replicated between sites.

    examples/pytorch/sites --rate 200mbit     # two sites on this machine, as namespaces; as root
    torchrun --nnodes SITES --nproc-per-node RANKS --node-rank I --master-addr HOST \\
        examples/pytorch/hsdp.py

To compare: GLOO_SOCKET_IFNAME=wire0 examples/pytorch/sites examples/pytorch/hsdp.py --backend gloo

What is gradnic's: backend_override, for the dimension of the mesh that crosses the slow link. Each
image is a sequence of its 8 lines.
"""

import argparse
import os
import time

import torch
import torch.distributed as dist
from digits import accuracy, say_sent, steps
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


class Lines(torch.nn.Module):
    """A small transformer over the lines of an image."""

    def __init__(self, width):
        super().__init__()
        self.enter = torch.nn.Linear(8, width)
        self.place = torch.nn.Parameter(torch.randn(8, width) * 0.02)
        self.blocks = torch.nn.ModuleList(
            torch.nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True) for _ in range(2))
        self.leave = torch.nn.Linear(width, 10)

    def forward(self, images):
        values = self.enter(images.view(-1, 8, 8)) + self.place
        for block in self.blocks:
            values = block(values)
        return self.leave(values.mean(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="gradnic", help="of what crosses sites")
    parser.add_argument("--sites", type=int, default=int(os.environ.get("GROUP_WORLD_SIZE", "2")))
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--width", type=int, default=128)
    options = parser.parse_args()

    torch.set_num_threads(1)
    dist.init_process_group("gradnic" if options.backend == "gradnic" else "gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    mesh = init_device_mesh("cpu", (options.sites, size // options.sites), mesh_dim_names=("replicate", "shard"),
                            backend_override={"replicate": options.backend, "shard": "gloo"})
    torch.manual_seed(1)
    model = Lines(options.width)
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)

    begin = time.monotonic()
    count = sum(1 for _ in steps(model, optimizer, options.epochs, size, rank, each=16))
    seconds = time.monotonic() - begin

    right = accuracy(model)
    if rank == 0:
        print(f"HSDP, {options.backend} between {options.sites} sites: accuracy {right:.2f} %, "
              f"{1000 * seconds / count:.1f} ms a step, {size} ranks", flush=True)
        if options.backend == "gradnic":
            say_sent(mesh.get_group("replicate").backend.communicator)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
