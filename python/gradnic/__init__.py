# SPDX-License-Identifier: Apache-2.0
"""Gradients, compressed with a guaranteed error bound, and exchanged between ranks.

    packed = gradnic.compress(gradient, k=10)      # bytes of a .gn file; |error| <= 2^-10
    gradient = gradnic.decompress(packed)
    gradnic.ratio(gradient, k=8)                   # what it would gain
    with gradnic.Communicator(compress="dense") as comm:
        comm.allreduce(gradient, op="average")

Arrays are NumPy's, tensors of PyTorch on the CPU, or buffers such as array.array("f"). They are
not copied. NumPy is not needed.
"""

from typing import Any, List

from ._errors import (AbortedError, CorruptError, DeadError, DeadlineError, Error, InvalidError, MismatchError,
                      PeerLostError, UnsupportedError)
from .codec import Codec, compress, decompress, kernels, ratio
from .comm import Communicator, Request, algorithms

__all__ = ["AbortedError", "Codec", "Communicator", "CorruptError", "DeadError", "DeadlineError", "Error",
           "InvalidError", "MismatchError", "PeerLostError", "Request", "UnsupportedError", "algorithms", "compress",
           "decompress", "kernels", "ratio"]

_HOOKS = ("RatioState", "State", "hook", "ratio_hook")


def __getattr__(name: str) -> Any:
    """The hooks for PyTorch, which is imported only for them."""
    if name in _HOOKS:
        from . import hooks

        return getattr(hooks, name)
    if name == "__version__":
        from importlib.metadata import version

        return version("gradnic")
    raise AttributeError(f"module 'gradnic' has no attribute '{name}'")


def __dir__() -> List[str]:
    return [*__all__, *_HOOKS]
