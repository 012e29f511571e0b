# SPDX-License-Identifier: Apache-2.0
"""What a collective of the backend returns: done or not, an error, a future."""

from __future__ import annotations

import os
import threading
import weakref
from datetime import timedelta
from typing import Any, Callable, List, Optional

import torch
import torch.distributed as dist

from ._errors import DeadlineError, PeerLostError

_SILENT = "no sign of life"
"""What the library says of a rank that is silent. torch's programs look for its own words."""


class Latch:
    """Something that happens once. An event is made only where somebody waits for it."""

    __slots__ = ("_event", "_happened")

    _making = threading.Lock()

    def __init__(self) -> None:
        self._happened = False
        self._event: Optional[threading.Event] = None

    def set(self) -> None:
        """Says that it has happened."""
        self._happened = True
        if self._event is not None:
            self._event.set()

    def is_set(self) -> bool:
        """Whether it has happened."""
        return self._happened

    def wait(self, seconds: float) -> bool:
        """Waits until it has happened. Returns whether that came about."""
        if self._happened:
            return True
        with self._making:
            if self._event is None:
                self._event = threading.Event()
        return self._happened or self._event.wait(min(seconds, threading.TIMEOUT_MAX))


class Work(dist._Work):
    """A collective that was started. Threads may share it."""

    def __init__(self, result: List[torch.Tensor], what: str, timeout: timedelta, give_up: Callable[[str], None],
                 asked: "Callable[[Work], None]", want: "Callable[[Work], None]",
                 devices: "Optional[List[torch.device]]" = None) -> None:
        """`timeout`: how long wait() waits by default. `give_up` ends the group when it is over.

        `asked` has call_back() called later, on a thread of its own. `want` has finish() called.
        `devices`: where tensors of the result are, other than the CPU.
        """
        super().__init__()
        self._value, self._what, self._default, self._give_up, self._asked = result, what, timeout, give_up, asked
        self._want: "Optional[Callable[[Work], None]]" = want
        self._devices = devices
        self._error: Optional[BaseException] = None
        self._lock = threading.Lock()
        self._raw: Any = None
        self._process = os.getpid()
        self.done = Latch()
        self.dropped: Optional[Latch] = None
        self.asked_by = 0  # the thread that has asked for the future

    def finish(self, error: Optional[BaseException] = None) -> None:
        """Says that it is done."""
        if isinstance(error, DeadlineError) or isinstance(error, PeerLostError) and _SILENT in str(error):
            self._error = dist.DistBackendError(f"gradnic: Timed out in {self._what}: {error}")
        elif error is not None:
            self._error = dist.DistBackendError(f"gradnic: {self._what}: {error}")
        self.done.set()

    def _wake(self) -> None:
        want, self._want = self._want, None
        if want is not None and not self.done.is_set():
            want(self)

    def wait(self, timeout: timedelta = timedelta(0)) -> bool:
        """Waits until it is done, and raises what went wrong. Without a timeout, the group's."""
        if not self.done.is_set():
            if self._process != os.getpid():
                raise dist.DistBackendError(f"gradnic: {self._what} was started in process {self._process}, from which "
                                            f"this one, {os.getpid()}, was forked")
            self._wake()
            limit = timeout if timeout > timedelta(0) else self._default
            if not self.done.wait(limit.total_seconds()):
                text = f"Timed out in {self._what}: it was not done after {limit.total_seconds():g} s"
                self._give_up(text)
                if not self.done.wait(5):  # it ends now, with an error that says more
                    raise dist.DistBackendError(f"gradnic: {text}")
        if self._error is not None:
            raise self._error
        return True

    def is_completed(self) -> bool:
        """Whether it is done, well or not."""
        self._wake()
        return self.done.is_set()

    def is_success(self) -> bool:
        """Whether it is done, and well."""
        self._wake()
        return self.done.is_set() and self._error is None

    def exception(self) -> Optional[BaseException]:
        """What went wrong, if anything has."""
        return self._error

    def result(self) -> List[torch.Tensor]:
        """The tensors of the result."""
        return self._value

    def synchronize(self) -> None:
        """Waits."""
        self.wait()

    def source_rank(self) -> int:
        """Only what receives has one."""
        raise RuntimeError("sourceRank() may only be called on work objects that correspond to a recv or recv-from-any "
                           "call.")

    def get_future(self) -> Any:
        """A future of the result. Its callbacks run on a thread of their own."""
        with self._lock:
            first = self._raw is None
            if first:
                self._raw = torch.futures.Future(devices=self._devices)
            # Future.set_exception() from Python ends DDP with a fault. A callback may raise.
            future = self._raw.then(self._end)
            if first:
                self.dropped = dropped = Latch()
                self._watch = weakref.ref(future, lambda _: dropped.set())
                self.asked_by = threading.get_native_id()
                self._asked(self)
            return future

    def call_back(self) -> None:
        """Completes the future."""
        self._raw.set_result(None)

    def _end(self, _raw: Any) -> List[torch.Tensor]:
        if self._error is not None:
            raise self._error
        return self._value
