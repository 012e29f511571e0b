# SPDX-License-Identifier: Apache-2.0
"""Sums of tensors on a GPU. Without one, Triton's interpreter takes tensors of the CPU."""

import os
from datetime import timedelta

import pytest
from device import DEVICE, torch
from ranks import run

import torch.distributed as dist

import gradnic
from gradnic._device import DeviceSums
from gradnic._lane import Lane

K = 6


def communicator(rank, size, rendezvous, name):
    return gradnic.Communicator(rank, size, rendezvous=f"{rendezvous}-{name}", compress="dense", k=K, scale="auto",
                                algorithm="direct")


def gradient(rank, step, count, dtype):
    values = torch.randn(count, generator=torch.Generator().manual_seed(100 * rank + step)) * 0.01
    values[count // 2:] *= 2.0**-8  # most of it rounds to zero
    if step == 1:
        values = torch.zeros(count)
    if step == 2:  # with the scale of the steps before: beyond 32767 steps
        values[::997] *= 1e5 if dtype == torch.float16 else 1e7
        values[count // 3] = float("inf")
    return values.to(dtype)


def sums(rank, size, rendezvous, count, dtype, feedback):
    """Both ways, for several steps."""
    with communicator(rank, size, rendezvous, "host") as host, communicator(rank, size, rendezvous, "device") as other:
        device = DeviceSums(Lane(other, "test", 0), K)
        residuals = [torch.zeros(count), torch.zeros(count, device=DEVICE)] if feedback else [None, None]
        for step in range(3):
            want = gradient(rank, step, count, dtype)
            got = want.clone().to(DEVICE)
            host.allreduce(want, op="average", residual=residuals[0], bucket=7)
            device.allreduce(got, residuals[1], 7, average=True)
            for a, b in ((want, got), residuals):
                if a is not None:
                    a, b = (t.detach().cpu().contiguous().view(torch.uint8) for t in (a, b))
                    assert torch.equal(a, b), f"step {step}"
    return want.float()[1:].nan_to_num().sum().item()


@pytest.mark.parametrize("size, count, dtype, feedback", [
    (2, 20000, torch.float32, True), (3, 10001, torch.bfloat16, True), (4, 3000, torch.float16, False),
    (1, 1, torch.float32, True)])
def test_bits_are_those_of_the_host(size, count, dtype, feedback):
    assert len(set(run(size, sums, count, dtype, feedback))) == 1


def damaged(rank, size, rendezvous):
    with communicator(rank, size, rendezvous, "bad") as comm:
        if rank == 1:
            room = torch.empty(3000, dtype=torch.uint8)
            got = comm.irecv(room, 0, 0)
            comm.isend(torch.full((5,), 255, dtype=torch.uint8), 0, 0).wait()
            with pytest.raises(gradnic.Error):
                got.wait()
                comm.barrier()
            return "told"
        with pytest.raises(gradnic.CorruptError, match="byte 0 of the stream.* of 2048 values"):
            DeviceSums(Lane(comm, "test", 0), K, scale="none").allreduce(torch.ones(4096, device=DEVICE), None, 0, average=True)
        comm.abort("a wrong stream")
    return "refused"


def test_a_damaged_stream_is_refused():
    assert run(2, damaged) == ["refused", "told"]


def model():
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(64, 96), torch.nn.ReLU(), torch.nn.Linear(96, 10)).to(DEVICE)


def trained(rank, size, rendezvous, where):
    """Where a bucket is compressed must not matter."""
    dist.init_process_group("gloo", init_method=rendezvous, rank=rank, world_size=size, timeout=timedelta(seconds=60))
    on_device = gradnic.State._on_device
    gradnic.State._on_device = lambda state, buffer: where == "device" or (DEVICE == "cuda" and on_device(state, buffer))
    ddp = torch.nn.parallel.DistributedDataParallel(model(), bucket_cap_mb=0.01)
    state = gradnic.State(k=4)
    ddp.register_comm_hook(state, gradnic.hook)
    optimiser = torch.optim.SGD(ddp.parameters(), 0.1)
    for step in range(2):
        x = torch.randn(16, 64, generator=torch.Generator().manual_seed(10 * step + rank)).to(DEVICE)
        optimiser.zero_grad()
        ddp(x).square().mean().backward()
        optimiser.step()
    saved = state.state_dict()
    result = [p.detach().cpu().numpy().tobytes() for p in ddp.parameters()]
    assert any(bool(residual.any()) for _, residual in saved["residuals"])
    state.close()
    dist.destroy_process_group()
    return result


def test_ddp_learns_the_same_with_buckets_compressed_on_the_device():
    runs = [run(2, trained, where) for where in ("host", "device")]
    assert runs[0][0] == runs[0][1] == runs[1][0] == runs[1][1]


def gone(rank, size, rendezvous):
    with communicator(rank, size, rendezvous, "gone") as comm:
        if rank == 1:
            os._exit(9)
        with pytest.raises(gradnic.PeerLostError, match="rank 1"):
            DeviceSums(Lane(comm, "test", 0), K).allreduce(torch.ones(9000, device=DEVICE), None, 0, average=True)
    return "told"


def test_a_dead_rank_is_named():
    assert run(2, gone, killed=(1,))[0] == "told"
