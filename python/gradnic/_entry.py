# SPDX-License-Identifier: Apache-2.0
"""How threads enter the C library: nobody is inside when it is freed, and Ctrl-C ends what waits.

Python handles signals on the main thread, between its own instructions. While C waits, nothing is
handled. So the library asks now and then, and what a handler raises goes up when C has returned.
"""

from __future__ import annotations

import sys
import threading
import time
from types import FrameType, TracebackType
from typing import Callable, Generator, List, Optional, Tuple, Type, TypeVar

from . import _native as native

Result = TypeVar("Result")

_raised: List[BaseException] = []  # by handlers of signals, while the library asked


def _asking() -> Generator[bool, None, None]:
    """Gives what the library is to be told: whether a handler has raised something.

    A function would raise it as it begins, outside of any `try`. A generator goes on inside one.
    """
    answer = False
    while True:
        try:
            while True:
                yield answer
                answer = False
        except GeneratorExit:
            return
        except BaseException as error:
            _raised.append(error)
            answer = True


_asked = _asking()
next(_asked)
interrupted = native.InterruptedFunction(_asked.send)
"""For gn_comm_config.interrupted. The library calls it on the main thread alone."""


def raise_what_handlers_raised() -> None:
    """Called when C has returned."""
    if _raised and threading.current_thread() is threading.main_thread():
        error = _raised[0]
        _raised.clear()
        raise error


def interruptible(function: Callable[[], Result], undo: Callable[[Result], None]) -> Result:
    """Calls a function that may wait for long in C. On the main thread Ctrl-C ends the wait.

    The function itself goes on to its deadline, on a thread of its own. Its result is undone.
    """
    if threading.current_thread() is not threading.main_thread():
        return function()
    lock, gone = threading.Lock(), threading.Event()
    results: List[Result] = []
    errors: List[BaseException] = []

    def run() -> None:
        try:
            result = function()
        except BaseException as error:
            errors.append(error)
            return
        with lock:
            if not gone.is_set():
                results.append(result)
                return
        undo(result)

    thread = threading.Thread(target=run, name="gradnic-setup", daemon=True)
    try:
        thread.start()
        thread.join()
    except BaseException:
        with lock:
            gone.set()
        for result in results:
            undo(result)
        raise
    if errors:
        raise errors[0]
    return results[0]


_PAUSE = 0.001
"""Seconds between two looks of a thread that waits for another one here."""

Call = Tuple[int, FrameType]  # a thread, and what runs on it


class Gate:
    """Who is inside the library with a handle. `with gate:` surrounds each call.

    Coming and going take no lock: changes of a list are whole. What a signal's handler raises may
    come between any two steps. Then the list has a call that has ended. So whoever looks believes
    it only as far as the calls are still on the stacks of their threads.
    """

    def __init__(self) -> None:
        self._inside: List[Call] = []  # in the order in which they came

    def __enter__(self) -> None:
        if self._inside:
            self._forget_ended()
        self._inside.append((threading.get_ident(), sys._getframe(1)))

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self._forget((threading.get_ident(), sys._getframe(1)))

    def is_inside(self) -> bool:
        """Whether this thread is inside: a handler of the log or of a signal is."""
        self._forget_ended()
        return any(thread == threading.get_ident() for thread, _ in list(self._inside))

    def wait_until_empty(self, seconds: float) -> bool:
        """Waits until nobody is inside. Returns whether that came about."""
        limit = time.monotonic() + seconds
        while self._inside:
            self._forget_ended()
            if time.monotonic() > limit:
                break
            if self._inside:
                time.sleep(_PAUSE)
        return not self._inside

    def is_first(self) -> bool:
        """For who is inside: whether he came before all others that are."""
        return self._is_first((threading.get_ident(), sys._getframe(1)))

    def wait_until_first(self) -> None:
        """For who is inside: waits until those have left that came before him."""
        call = threading.get_ident(), sys._getframe(1)
        while not self._is_first(call):
            time.sleep(_PAUSE)

    def _is_first(self, call: Call) -> bool:
        if self._inside[0] != call:
            self._forget_ended()
        return self._inside[0] == call

    def _forget(self, call: Call) -> None:
        if call in self._inside:
            self._inside.remove(call)

    def _forget_ended(self) -> None:
        calls, stacks = list(self._inside), sys._current_frames()
        for call in calls:
            frame = stacks.get(call[0])
            while frame is not None and frame is not call[1]:
                frame = frame.f_back
            if frame is None:
                self._forget(call)
