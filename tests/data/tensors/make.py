#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the files of this folder. They are committed, because PyTorch is needed to make them.

They were made with torch 1.12.1, safetensors 0.8.0 and numpy 1.26.4. The program's tests
(tests/tools/tensors.sh) compute the expected values again, with ramp().
"""
import collections
import pathlib

import numpy as np
import safetensors.torch
import torch

HERE = pathlib.Path(__file__).parent


def ramp(start, *shape):
    """Multiples of 2^-9, which lattice keeps at 2^-10, and bfloat16 holds."""
    count = int(np.prod(shape))
    return ((np.arange(count) * 7 + start) % 255 - 127).astype("<f4").reshape(shape) / 512


def tensor(start, *shape):
    return torch.tensor(ramp(start, *shape))


state = collections.OrderedDict([
    ("conv.weight", tensor(1, 4, 3, 2, 2)),
    ("conv.bias", tensor(2, 4)),
    ("norm.num_batches_tracked", torch.tensor(3)),
    ("fc.weight", tensor(3, 10, 8)),
    ("fc.bias", tensor(4, 10)),
])
state._metadata = collections.OrderedDict([("", {"version": 1}), ("conv", {"version": 1})])
torch.save(state, HERE / "state_dict.pt")
torch.save(state, HERE / "protocol4.pt", pickle_protocol=4)
torch.save(state, HERE / "before-1.6.pt", _use_new_zipfile_serialization=False)
parameter = torch.nn.Parameter(tensor(5, 3, 5))
torch.save({"epoch": 3, "lr": 1e-3, "name": "small", "done": False, "model": {"w": parameter, "b": tensor(6, 5)},
            "optimizer": {"state": {0: {"step": torch.tensor(2.0), "exp_avg": tensor(7, 3, 5)}},
                          "param_groups": [{"params": [0, 1], "betas": (0.9, 0.999)}]}, "list": [tensor(8, 2), None]},
           HERE / "checkpoint.pt")
base = tensor(9, 20, 6)
torch.save(
    {
        "half": tensor(10, 7).half(), "brain": tensor(11, 7).bfloat16(), "double": tensor(12, 7).double(),
        "base": base, "rows": base[5:9], "transposed": base.t(), "scalar": tensor(13, 1)[0],
        "empty": torch.zeros(0, 4),
    },
    HERE / "types.pt",
)
torch.save(tensor(14, 6, 5), HERE / "bare.pt")
torch.save({"columns": base[:, ::2]}, HERE / "strided.pt")
torch.save(torch.nn.Linear(2, 2), HERE / "module.pt")
safetensors.torch.save_file(
    {
        "fc.weight": tensor(3, 10, 8), "half": tensor(10, 7).half(), "brain": tensor(11, 7).bfloat16(),
        "double": tensor(12, 7).double(), "ids": torch.arange(5), "empty": torch.zeros(0, 4),
    },
    str(HERE / "model.safetensors"),
    metadata={"format": "pt"},
)
