# SPDX-License-Identifier: Apache-2.0
"""The process group of the backend: it gives Python's callers Python's own work objects.

torch wraps what a backend of Python returns. The wrapper knows wait() and get_future() only: it
never says that it is completed, has no source rank, and its futures run callbacks wherever they
like. This group returns the work object itself. C++ callers, such as DDP's reducer, still get the
wrapper.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any, Callable

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import ProcessGroup

made = threading.local()
"""`made.work`: what the backend has made last on this thread."""


class _No:
    """No, for Python, which reads it, and for C++, which calls it.

    torch's own properties ask C++, which asks Python, which asks C++, and so on.
    """

    def __bool__(self) -> bool:
        return False

    def __call__(self) -> bool:
        return False


def answer_no(kind: type) -> None:
    """Answers what torch asks a class of Python whether it supports: it does none of that."""
    for name in dir(kind):
        if name.lstrip("_").startswith("supports_"):
            setattr(kind, name, _No())


class GradnicGroup(ProcessGroup):
    """A process group whose only backend is gradnic's."""

    def __init__(self, store: Any, rank: int, size: int, backend: Any) -> None:
        super().__init__(store, rank, size)
        kind = ProcessGroup.BackendType.CUSTOM
        self._register_backend(torch.device("cpu"), kind, backend)
        self._set_default_backend(kind)
        self.backend = backend
        backend.grouped = True
        weakref.finalize(self, _dropped, backend).atexit = False  # a lane closes itself at the end

    def getBackendName(self) -> str:
        """The name of the backend. C++ asks for it, too: DDP's log has it."""
        return "gradnic"


def _dropped(backend: Any) -> None:
    """A group that nobody has destroyed is gone: the others are to know, as with Gloo."""
    if not backend.closed:
        threading.Thread(target=backend.shutdown, name="gradnic-goodbye", daemon=True).start()


def _own(name: str) -> Callable[..., Any]:
    inherited = getattr(ProcessGroup, name)

    def call(self: GradnicGroup, *arguments: Any, **named: Any) -> Any:
        made.work = None
        try:
            wrapper = inherited(self, *arguments, **named)
            return made.work if made.work is not None else wrapper
        finally:
            made.work = None

    call.__name__ = name
    call.__code__ = call.__code__.replace(co_name=name)  # pybind11 knows by it that a call is inherited
    return call


answer_no(GradnicGroup)

# The names that C++ knows. Older names of the same, such as _allgather_base, lead to them.
for _name in ("allreduce", "allreduce_coalesced", "allgather", "all_gather_single", "all_gather_single_coalesced",
              "broadcast", "reduce", "reduce_scatter",
              "reduce_scatter_single", "reduce_scatter_single_coalesced", "barrier", "gather",
              "gather_single", "scatter", "alltoall", "all_to_all_single", "send", "recv", "recv_anysource"):
    if hasattr(ProcessGroup, _name):
        setattr(GradnicGroup, _name, _own(_name))
