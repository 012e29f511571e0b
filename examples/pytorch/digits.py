# SPDX-License-Identifier: Apache-2.0
"""Trains a small network on handwritten digits with DistributedDataParallel.

    torchrun --nproc-per-node 2 examples/pytorch/digits.py
    torchrun --nproc-per-node 2 examples/pytorch/digits.py --backend gloo     # to compare
    torchrun --nproc-per-node 2 examples/pytorch/digits.py --hook 4           # error feedback

What is gradnic's: the name of the backend, and with --hook one line more.
"""

import argparse
import gzip
import pathlib
import time

import numpy
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

DATA = pathlib.Path(__file__).resolve().parents[2] / "tests/data"


def load(name):
    """Reads a file of the IDX format: two zero bytes, a type, dimensions, and bytes."""
    raw = gzip.open(DATA / f"digits-{name}-ubyte.gz").read()
    shape = numpy.frombuffer(raw, ">u4", count=raw[3], offset=4)
    return torch.from_numpy(numpy.frombuffer(raw, "u1", offset=4 + 4 * raw[3]).reshape(shape).copy())


def network():
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512),
                               torch.nn.ReLU(), torch.nn.Linear(512, 10))


def batches(count, size, rank, each=32):
    """This rank's share of each batch of an epoch. All ranks draw the same order: from one seed."""
    for batch in torch.randperm(count).split(each * size):
        yield batch[rank::size]


def data(part):
    """Images and labels, for "train" or "test"."""
    return load(f"{part}-images-idx3").float() / 255, load(f"{part}-labels-idx1").long()


def steps(model, optimizer, epochs, size, rank, each=32):
    """Trains. Yields after each step."""
    images, labels = data("train")
    for _ in range(epochs):
        for mine in batches(len(images), size, rank, each):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(images[mine]), labels[mine]).backward()
            optimizer.step()
            yield


def accuracy(model):
    """The share of the test images that are told right, in percent."""
    images, labels = data("test")
    with torch.no_grad():
        return 100 * (model(images).argmax(1) == labels).float().mean().item()


def say_sent(comm):
    """Prints what a communicator of gradnic's has sent."""
    stats = comm.stats
    print(f"sent {stats['sent_bytes'] / 1e6:.1f} MB of values as {stats['sent_wire_bytes'] / 1e6:.1f} MB", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="gradnic")
    parser.add_argument("--hook", type=int, metavar="K", help="gradnic.hook with a bound of 2^-K of the RMS")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--adam", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    torch.set_num_threads(1)
    dist.init_process_group(options.backend)
    rank, size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(options.seed)
    model = DistributedDataParallel(network())
    state = None
    if options.hook is not None:
        import gradnic

        state = gradnic.State(k=options.hook, feedback=True)
        model.register_comm_hook(state, gradnic.hook)

    optimizer = torch.optim.Adam(model.parameters(), 1e-3) if options.adam else \
        torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    begin = time.monotonic()
    for _ in steps(model, optimizer, options.epochs, size, rank):
        pass
    seconds = time.monotonic() - begin

    right = accuracy(model)
    if rank == 0:
        how = "" if options.hook is None else f", hook 2^-{options.hook}"
        print(f"{options.backend}{how}: accuracy {right:.2f} %, {seconds:.1f} s, {size} ranks", flush=True)
        group = dist.group.WORLD
        comm = state.communicator if state else getattr(getattr(group, "backend", None), "communicator", None)
        if comm is not None:
            say_sent(comm)
    if state is not None:
        state.close()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
