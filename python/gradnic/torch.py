# SPDX-License-Identifier: Apache-2.0
"""gradnic for PyTorch: the backend "gradnic" of torch.distributed.

    torch.distributed.init_process_group("gradnic")

The name alone is enough: torch finds this module by its entry point. Groups may be told more by
`pg_options=gradnic.torch.Options(...)`, or by the environment.
"""

from __future__ import annotations

import torch.distributed as dist

from ._backend import GradnicBackend, create, process_group
from ._options import Options

__all__ = ["GradnicBackend", "Options", "process_group", "register"]


def register() -> None:
    """Makes the name "gradnic" known to torch.distributed. torch calls it by itself."""
    if "GRADNIC" not in dist.Backend._plugins:
        dist.Backend.register_backend("gradnic", create, extended_api=True, devices=["cpu"])
