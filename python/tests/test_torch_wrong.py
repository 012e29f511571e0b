# SPDX-License-Identifier: Apache-2.0
"""What callers of backend and hook do wrongly is refused; nothing is read beyond a tensor."""

import gc
import re
import subprocess
import sys
import time
from datetime import timedelta

import pytest
from ranks import run
from torch_ranks import begin

torch = pytest.importorskip("torch")
dist = torch.distributed


def wrong_sizes(rank, size, where):
    begin(rank, size, where)
    for given in (3000, 7000, 0):
        with pytest.raises(ValueError, match=f"the input has {given} elements, not {size} x 3000"):
            dist.reduce_scatter_tensor(torch.empty(3000), torch.ones(given))
    with pytest.raises(ValueError, match="1 inputs are given to 2 ranks"):
        dist.reduce_scatter(torch.empty(3000), [torch.ones(3000)])
    for count in (1, 3):
        with pytest.raises(ValueError, match=f"{count} outputs are given to 2 ranks"):
            dist.all_gather([torch.empty(3) for _ in range(count)], torch.ones(3))
    with pytest.raises(ValueError, match="root"):
        dist.broadcast(torch.ones(3), 7)
    with pytest.raises(ValueError, match=r"lie in one place \(expand\(\)\?\): clone it"):
        dist.all_reduce(torch.ones(1).expand(5000))
    t = torch.ones(5000)
    dist.all_reduce(t)
    assert abs(float(t[0]) - 2) < 0.1, "the group lives"
    with pytest.raises(RuntimeError, match="sum of 6000 values, direct") as caught:
        dist.all_reduce(torch.ones(5000 + 1000 * rank))
    assert "sum of 5000 values, direct" in str(caught.value)
    dist.destroy_process_group()


def test_sizes_that_do_not_fit_are_refused():
    run(2, wrong_sizes)


def devices(rank, size, where):
    with pytest.raises(ValueError, match="takes tensors on the CPU, not on 'cuda'"):
        begin(rank, size, where, backend="cuda:gradnic")
    dist.init_process_group("cpu:gradnic", rank=rank, world_size=size, store=dist.HashStore())
    dist.all_reduce(torch.ones(5000))
    dist.destroy_process_group()


def test_a_device_that_is_not_the_cpu_is_refused():
    run(1, devices)


@pytest.mark.parametrize("arguments, text", [
    ({"k": 99}, "k = 99"), ({"profile": "none"}, "no profile 'none'"), ({"scale": "big"}, "no scale 'big'"),
    ({"algorithm": "star"}, "no algorithm 'star'"),
])
def test_a_state_that_is_wrong_is_refused_when_it_is_made(arguments, text):
    import gradnic

    with pytest.raises(ValueError, match=text):
        gradnic.State(**arguments)


def test_numbers_that_are_wrong_are_refused_when_they_are_given():
    import gradnic
    import gradnic.torch

    with pytest.raises(ValueError, match=r"min_bytes \(GRADNIC_MIN_BYTES\) is -1"):
        gradnic.torch.Options(min_bytes=-1)
    with pytest.raises(ValueError, match="999"):
        gradnic.RatioState(ks=(4, 999))
    assert re.fullmatch(r"\d+\.\d+.*", gradnic.__version__)


def dropped(rank, size, where):
    import gradnic.torch

    store = dist.FileStore(where.replace("file://", "") + "-store", size)
    options = gradnic.torch.Options(timeout=timedelta(seconds=60))
    group = gradnic.torch.process_group(store, rank, size, options, name="mine")
    t = torch.ones(5000)
    group.allreduce([t]).wait()
    assert abs(float(t[0]) - 2) < 0.1
    if rank == 1:
        del group
        gc.collect()
        store.set("dropped", "yes")
        store.wait(["over"], timedelta(seconds=60))
        return
    started = time.monotonic()
    with pytest.raises(RuntimeError, match=r"in group mine: .*rank 1 \(127\.0\.0\.1\)"):
        group.allreduce([t]).wait()
    assert time.monotonic() - started < 30
    store.set("over", "yes")


def test_a_group_that_is_dropped_tells_the_others():
    run(2, dropped)


def test_a_pytorch_that_is_too_old_is_named():
    code = "import torch._C._distributed_c10d as c; c.Backend = type('Backend', (), {}); import gradnic.torch"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode and "ImportError: gradnic.torch is tested with PyTorch 2.15; " in done.stderr, done.stderr
