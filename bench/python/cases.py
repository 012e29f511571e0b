# SPDX-License-Identifier: Apache-2.0
"""The ways to exchange gradients that are measured beside each other."""

import copy

import gradnic
import gradnic.torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook
from torch.nn.parallel import DistributedDataParallel

CASES = {
    "gloo": "Gloo",
    "gloo-fp16": "Gloo, fp16 hook",
    "gloo-powersgd": "Gloo, PowerSGD hook",
    "gradnic-none": "gradnic, uncompressed",
    "gradnic": "gradnic",
    "gradnic-hook": "gradnic.hook over Gloo",
}
RANK = 4  # of PowerSGD's matrices

_groups = {}


def group(backend):
    """A group of all ranks: "gloo", "gradnic" or "gradnic-none". All ranks call it alike."""
    if backend not in _groups:
        if backend == "gloo":
            _groups[backend] = dist.group.WORLD
        else:
            options = gradnic.torch.Options(profile="none" if backend == "gradnic-none" else None)
            _groups[backend] = dist.new_group(backend="gradnic", pg_options=options)
    return _groups[backend]


def distributed(case, network, powersgd_after=2, bucket_cap_mb=None):
    """Returns a copy of the network in DDP, as a case has it, and what to close at the end."""
    backend = "gloo" if case in ("gloo-fp16", "gloo-powersgd", "gradnic-hook") else case
    # PowerSGD waits in callbacks. With several buckets that blocks Gloo for ever.
    cap = 1000 if case == "gloo-powersgd" else bucket_cap_mb
    ddp = DistributedDataParallel(copy.deepcopy(network), process_group=group(backend), bucket_cap_mb=cap)
    state = None
    if case == "gloo-fp16":
        ddp.register_comm_hook(None, fp16_compress_hook)
    elif case == "gloo-powersgd":
        ddp.register_comm_hook(
            powerSGD_hook.PowerSGDState(
                None, matrix_approximation_rank=RANK, start_powerSGD_iter=powersgd_after, orthogonalization_epsilon=1e-8
            ),
            powerSGD_hook.powerSGD_hook,
        )
    elif case == "gradnic-hook":
        state = gradnic.State()
        ddp.register_comm_hook(state, gradnic.hook)
    return ddp, state
