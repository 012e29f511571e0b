# SPDX-License-Identifier: Apache-2.0
"""What tests with PyTorch share: how a rank begins, its values, a model."""

import hashlib

import pytest

torch = pytest.importorskip("torch")
dist = torch.distributed


def begin(rank, size, rendezvous, backend="gradnic", **options):
    torch.set_num_threads(1)
    store = dist.FileStore(rendezvous.replace("file://", "") + "-store", size)
    dist.init_process_group(backend, rank=rank, world_size=size, store=store, **options)
    return dist.distributed_c10d._get_default_group()


def options(*arguments, **named):
    import gradnic.torch

    return gradnic.torch.Options(*arguments, **named)


def values(rank, count=20_000, dtype=torch.float32):
    return torch.randn(count, generator=torch.Generator().manual_seed(rank)).mul(0.01).to(dtype)


def digest(*tensors):
    return hashlib.sha256(b"".join(t.detach().contiguous().view(-1).view(torch.uint8).numpy().tobytes()
                                   for t in tensors)).hexdigest()


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 128), torch.nn.ReLU(),
                               torch.nn.Linear(128, 10))


def train(ddp, rank, steps=12, rate=0.1):
    optimizer = torch.optim.SGD(ddp.parameters(), rate)
    data = torch.Generator().manual_seed(rank)
    for _ in range(steps):
        x, y = torch.randn(16, 64, generator=data), torch.randint(10, (16,), generator=data)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(ddp(x), y).backward()
        optimizer.step()
