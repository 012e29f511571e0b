# SPDX-License-Identifier: Apache-2.0
"""Trains on handwritten digits with DiLoCo: ranks meet only every H steps.

    torchrun --nproc-per-node 4 examples/pytorch/diloco.py
    torchrun --nproc-per-node 4 examples/pytorch/diloco.py --backend gloo     # to compare

Each rank takes H steps of AdamW by itself. How far it came is its pseudo-gradient: the parameters
of the round before, minus its own. Their average goes to an outer SGD with Nesterov momentum, and
all ranks go on from there (https://arxiv.org/abs/2311.08105).

What is gradnic's: the name of the backend. The pseudo-gradients are compressed like gradients.
"""

import argparse

import torch
import torch.distributed as dist
from digits import accuracy, network, say_sent, steps
from torch.nn.utils import parameters_to_vector, vector_to_parameters


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="gradnic")
    parser.add_argument("--every", type=int, default=10, metavar="H", help="steps between two meetings")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    torch.set_num_threads(1)
    dist.init_process_group(options.backend)
    rank, size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(options.seed)
    model = network()
    inner = torch.optim.AdamW(model.parameters(), 1e-3)
    shared = parameters_to_vector(model.parameters()).detach().clone()  # where the last round ended
    outer = torch.optim.SGD([shared], 0.7, momentum=0.9, nesterov=True)

    def meet():
        pseudo = shared - parameters_to_vector(model.parameters()).detach()
        if options.backend == "gradnic":
            dist.all_reduce(pseudo, op=dist.ReduceOp.AVG)
        else:  # Gloo has no averages
            dist.all_reduce(pseudo)
            pseudo /= size
        shared.grad = pseudo
        outer.step()
        vector_to_parameters(shared.clone(), model.parameters())  # it would keep views of what it gets

    count = 0
    for _ in steps(model, inner, options.epochs, size, rank, each=8):
        count += 1
        if count % options.every == 0:
            meet()

    vector_to_parameters(shared, model.parameters())
    right = accuracy(model)
    if rank == 0:
        print(f"DiLoCo, {options.backend}: accuracy {right:.2f} %, {size} ranks, {count} steps, "
              f"{count // options.every} meetings", flush=True)
        if options.backend == "gradnic":
            say_sent(dist.group.WORLD.backend.communicator)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
