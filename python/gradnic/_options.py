# SPDX-License-Identifier: Apache-2.0
"""What a group of the backend may be told: by pg_options, or by the environment."""

from __future__ import annotations

import difflib
import os
import warnings
from datetime import timedelta
from typing import Any, Optional, Set

import torch
from torch._C._distributed_c10d import Backend as C10DBackend

from . import _native as native
from ._errors import InvalidError
from .codec import Codec
from .comm import number_of

if not hasattr(C10DBackend, "Options"):
    raise ImportError(f"gradnic.torch is tested with PyTorch 2.15; {torch.__version__} is too old for it")

_TIMEOUT = timedelta(minutes=30)


_VARIABLES = tuple(f"GRADNIC_{name}" for name in (
    "ALGORITHM", "BOUND", "INTERFACE", "JOB", "MASTER_PORT", "MIN_BYTES", "OFFLOAD", "PROFILE", "SCALE", "SECRET_FILE",
    "SHARED_MEMORY", "SWITCH"))
"""What this package and its libraries read from the environment."""

_told: Set[str] = set()


def _tell_of_misspelled() -> None:
    for name in sorted(set(os.environ) - set(_VARIABLES) - _told):
        if name.startswith("GRADNIC_"):
            _told.add(name)
            near = difflib.get_close_matches(name, _VARIABLES, 1)
            warnings.warn(f"{name} is set, and nothing here reads it{f': is it {near[0]}?' if near else ''}",
                          RuntimeWarning, stacklevel=3)


def _number(name: str, default: int) -> int:
    text = os.environ.get(name, "")
    try:
        return int(text.replace("2^-", "")) if text else default
    except ValueError:
        raise InvalidError(f"{name}={text} is not an integer") from None


def usual_algorithm(size: int, direct: bool = True) -> str:
    """The algorithm where none is chosen. `direct`: whether it may be that, where ranks are few."""
    return "direct" if direct and size <= 16 else "ring"


class Options(C10DBackend.Options):
    """Options of a group. What is not given comes from the environment, and else is the default.

    | option         | environment          | default                                             |
    | -------------- | -------------------- | --------------------------------------------------- |
    | profile        | GRADNIC_PROFILE      | "dense"; "none": nothing is compressed              |
    | bound          | GRADNIC_BOUND        | 6: the error bound is 2^-6                          |
    | scale          | GRADNIC_SCALE        | "auto": ... of the RMS of each call; "none": as is  |
    | min_bytes      | GRADNIC_MIN_BYTES    | 4096: less is exact                                 |
    | algorithm      | GRADNIC_ALGORITHM    | "direct" up to 16 ranks, "ring" beyond; with        |
    |                |                      | profile "none" "direct" on one host only            |
    | interface      | GRADNIC_INTERFACE    | that of the route to the store                      |
    | switch_address | GRADNIC_SWITCH       | none; with one, algorithm is "switch"               |
    | secret_file    | GRADNIC_SECRET_FILE  | none                                                |

    GRADNIC_OFFLOAD and GRADNIC_SHARED_MEMORY hold here, too.
    """

    def __init__(self, profile: Optional[str] = None, bound: Optional[int] = None, *, scale: Optional[str] = None,
                 min_bytes: Optional[int] = None, algorithm: Optional[str] = None, interface: Optional[str] = None,
                 switch_address: Optional[str] = None, secret_file: Optional[str] = None,
                 timeout: timedelta = _TIMEOUT) -> None:
        super().__init__("gradnic", timeout=timeout)
        _tell_of_misspelled()

        def chosen(given: Optional[str], name: str, default: Optional[str]) -> Optional[str]:
            return given if given is not None else os.environ.get(name) or default

        self.profile: str = chosen(profile, "GRADNIC_PROFILE", "dense") or "dense"
        self.bound: int = bound if bound is not None else _number("GRADNIC_BOUND", 6)
        self.scale: str = chosen(scale, "GRADNIC_SCALE", "auto") or "auto"
        self.min_bytes: int = min_bytes if min_bytes is not None else _number("GRADNIC_MIN_BYTES", 4096)
        if self.min_bytes < 0:
            raise InvalidError(f"min_bytes (GRADNIC_MIN_BYTES) is {self.min_bytes}: want 0 or more")
        self.switch_address = chosen(switch_address, "GRADNIC_SWITCH", None)
        self.algorithm = chosen(algorithm, "GRADNIC_ALGORITHM", "switch" if self.switch_address else None)
        self.interface = chosen(interface, "GRADNIC_INTERFACE", None)
        self.secret_file = secret_file
        number_of("scale (GRADNIC_SCALE)", self.scale, native.SCALES)
        if self.algorithm is not None:
            number_of("algorithm (GRADNIC_ALGORITHM)", self.algorithm, native.ALGORITHMS)
        if self.profile != "none":
            Codec(self.profile, self.bound)  # raises what is wrong

    def copy(self) -> "Options":
        """The same options, for one group more."""
        copy = Options(self.profile, self.bound, scale=self.scale, min_bytes=self.min_bytes, algorithm=self.algorithm,
                       interface=self.interface, switch_address=self.switch_address, secret_file=self.secret_file,
                       timeout=self._timeout)
        copy.interface, copy.switch_address = self.interface, self.switch_address  # also where it is none
        copy.algorithm = self.algorithm
        return copy

    @property
    def compresses(self) -> bool:
        """Whether sums are compressed."""
        return self.profile != "none"

    def arguments(self, size: int, one_host: bool) -> "dict[str, Any]":
        """Arguments for a Communicator of `size` ranks."""
        # Uncompressed vectors fill links. In a ring a link has one sender: no queue overflows.
        algorithm = self.algorithm or usual_algorithm(size, self.compresses or one_host)
        return {"compress": self.profile if self.compresses else None, "k": self.bound,
                "scale": self.scale if self.compresses else "none",
                "algorithm": algorithm, "switch_address": self.switch_address, "secret_file": self.secret_file,
                "timeout": min(max(self._timeout.total_seconds(), 0.001), 2_000_000)}
