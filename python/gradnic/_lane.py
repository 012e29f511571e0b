# SPDX-License-Identifier: Apache-2.0
"""A lane: a communicator of a group, and the two threads that finish what was started on it.

1. Callers start collectives. C's own thread runs them, in that order.
2. A thread waits for what somebody waits for, and says that it is done.
3. Another thread completes futures, in the order in which they were asked for, and so runs their
   callbacks. It waits itself for what belongs to them. So a bucket of DDP wakes one thread only.

A callback may start a collective and wait for it, as torch's PowerSGD hook does. Two things follow.
Threads 2 and 3 are two, or it would wait for ever. And what a callback starts runs on the next
lane: ranks then agree on the order of what callbacks start, and of what the training starts, but
not on how the two mix.
"""

from __future__ import annotations

import atexit
import logging
import queue
import threading
import weakref
from collections import deque
from typing import Any, Callable, Deque, Generic, List, Optional, Tuple, TypeVar

from ._work import Latch, Work
from .comm import Communicator, Request, _Prepared

_GRACE, _RAN = 0.01, 0.002
"""A future that somebody still holds is completed when its thread has slept for so many seconds, or
has run for so many. On a busy machine it may do neither for long, and then() is still to come.
"""

_MANY = 32
"""How many jobs may lie there that nobody waits for, with the memory that they hold."""

logger = logging.getLogger("gradnic")

_here = threading.local()

_alive: "weakref.WeakSet[Lane]" = weakref.WeakSet()

Item = TypeVar("Item")
Job = Tuple[List[Request], Callable[[], None], Work]


def depth() -> int:
    """How many callbacks this thread is inside of: the lane that it uses."""
    return getattr(_here, "depth", 0)


class Line(Generic[Item]):
    """Items that a thread of their own works off in order. The thread begins with the first."""

    def __init__(self, name: str, work: Callable[[Item], None], depth: int) -> None:
        self._name, self._work, self._depth = name, work, depth
        self._items: "queue.SimpleQueue[Optional[Item]]" = queue.SimpleQueue()  # None: nothing follows
        self._starting = threading.Lock()
        self._thread: Optional[threading.Thread] = None

    def put(self, item: Item) -> None:
        """Appends an item."""
        self._items.put(item)
        if self._thread is None:
            with self._starting:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._serve, name=self._name, daemon=True)
                    self._thread.start()

    def close(self) -> None:
        """Works off what is there, and ends the thread."""
        self._items.put(None)
        with self._starting:
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _serve(self) -> None:
        _here.depth = self._depth
        closed = False
        while True:
            try:
                item = self._items.get(block=not closed)
            except queue.Empty:
                return
            if item is None:
                closed = True
            else:
                self._work(item)
            del item


class Lane:
    """A communicator, and what waits for it."""

    def __init__(self, comm: Communicator, name: str, depth: int) -> None:
        self.comm = comm
        self.lock = threading.Lock()  # whoever starts something on `comm` has it
        self._jobs: Deque[Job] = deque()  # started and not completed, the oldest first
        self._turn = threading.Lock()  # whoever has it completes the oldest
        self._wanted: Line[Work] = Line(f"gradnic-{name}-{depth}", self._complete_until, depth)
        self._futures: Line[Work] = Line(f"gradnic-{name}-{depth}-callbacks", self._call_back, depth + 1)
        _alive.add(self)

    def start(self, calls: List[_Prepared]) -> List[Request]:
        """Starts calls, one behind the other."""
        with self.lock:
            return [self.comm._start(call) for call in calls]

    def later(self, job: Job, at_once: bool) -> None:
        """Has a job completed when somebody wants it, or `at_once`: as soon as it has run."""
        self._jobs.append(job)
        if at_once or len(self._jobs) % _MANY == 0:
            self.want(job[2])

    def want(self, work: Work) -> None:
        """Has thread 2 complete all jobs up to this one."""
        self._wanted.put(work)

    def _complete_until(self, work: Work) -> None:
        while not work.done.is_set():
            with self._turn:
                if not work.done.is_set():
                    self.complete(self._jobs.popleft())

    @staticmethod
    def complete(job: Job) -> None:
        """Waits for a job, and says that it is done."""
        requests, after, work = job
        failure: Optional[BaseException] = None
        for request in requests:
            try:
                request.wait()
            except Exception as error:  # what the user's thread is to see
                failure = failure or error
            except BaseException as error:  # Ctrl-C, on that thread itself
                work.finish(error)
                raise
        if failure is None:
            try:
                after()
            except Exception as error:
                failure = error
        work.finish(failure)

    def asked(self, work: Work) -> None:
        """Has the future of a work object completed by thread 3."""
        self._futures.put(work)

    # A callback that is attached too late would run on the training's thread, and start its
    # collectives on the training's lane: on this rank alone. So a future is completed when its
    # caller has dropped it, behind `work.get_future().then(...)`, or has gone on without that.
    def _call_back(self, work: Work) -> None:
        self._complete_until(work)
        if work.dropped is not None and not work.dropped.is_set():
            _wait_until_gone_on(work.dropped, work.asked_by)
        work.call_back()

    def close(self) -> None:
        """Lets everything run to its end."""
        if not self.comm._usable():
            return
        if self._jobs:
            self.want(self._jobs[-1][2])
        self._wanted.close()
        self._futures.close()
        self.comm.close()


def _wait_until_gone_on(dropped: Latch, thread: int) -> None:
    """Waits until a future is dropped, or until its thread has gone on without that."""
    first = last = _activity(thread)
    if first is None:
        dropped.wait(_GRACE)
        return
    while not dropped.wait(_GRACE):
        now = _activity(thread)
        if now is None or now[1] - first[1] >= _RAN * 1e9 or (now == last and now[0] == "S"):
            return
        last = now


def _activity(thread: int) -> Optional[Tuple[str, int]]:
    """What a thread does ("R": it runs, or waits for a processor), and how many ns it has run."""
    try:
        with open(f"/proc/self/task/{thread}/stat", "rb") as file:
            state = file.read().rsplit(b") ", 1)[1][:1].decode()
        with open(f"/proc/self/task/{thread}/schedstat", "rb") as file:
            return state, int(file.read().split()[0])
    except (OSError, IndexError, ValueError):  # it has ended, or this kernel does not say it
        return None


def _close_all() -> None:
    """At the end of the process: callbacks that are due run while Python is whole."""
    for lane in list(_alive):
        try:
            lane.close()
        except Exception:
            logger.warning("closing %s at the end of the program failed", lane.comm, exc_info=True)


atexit.register(_close_all)
