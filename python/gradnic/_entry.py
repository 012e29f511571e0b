# SPDX-License-Identifier: Apache-2.0
"""How threads enter the C library: nobody is inside when it is freed, and Ctrl-C ends what waits.

Python handles signals on the main thread, between its own instructions. While C waits, nothing is
handled. So the library asks now and then, and what a handler raises goes up when C has returned.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Callable, Generator, List, Optional, Type, TypeVar

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
    thread.start()
    try:
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


class Gate:
    """Who is inside the library with a handle. `with gate:` surrounds each call.

    Coming and going take no lock: changes of a list are whole. Whoever goes looks for one who waits
    behind that, and whoever waits says so before he looks.
    """

    def __init__(self) -> None:
        self._inside: List[int] = []  # threads
        self._changed = threading.Condition(threading.Lock())
        self._awaited = False

    def __enter__(self) -> None:
        self._inside.append(threading.get_ident())

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        me = threading.get_ident()
        if me in self._inside:
            self._inside.remove(me)
        if self._awaited:
            with self._changed:
                self._changed.notify_all()

    def is_inside(self) -> bool:
        """Whether this thread is inside: a handler of the log or of a signal is."""
        return threading.get_ident() in self._inside

    def wait_until_empty(self, seconds: float) -> bool:
        """Waits until nobody is inside. Returns whether that came about."""
        with self._changed:
            self._awaited = True
            return self._changed.wait_for(lambda: not self._inside, seconds)
