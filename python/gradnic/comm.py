# SPDX-License-Identifier: Apache-2.0
"""Communicator: sums and other collectives over ranks, compressed where that is asked for."""

from __future__ import annotations

import atexit
import ctypes
import logging
import os
import threading
import weakref
from types import TracebackType
from typing import Any, Dict, Iterator, List, Optional, Sequence, Type

from . import _entry, _native as native
from ._arrays import View, int32, integer, new_like, view_of
from ._errors import InvalidError, error_of
from .codec import Codec

logger = logging.getLogger("gradnic")
logger.addHandler(logging.NullHandler())  # silent, unless the program sets up logging
_LEVELS = {native.LOG_ERROR: logging.ERROR, native.LOG_WARNING: logging.WARNING, native.LOG_INFO: logging.INFO}
_alive: "weakref.WeakSet[Communicator]" = weakref.WeakSet()


def _log(_context: int, level: int, text: bytes) -> None:
    logger.log(_LEVELS.get(level, logging.DEBUG), "%s", text.decode("utf-8", "replace"))


_log_function = native.LogFunction(_log)


class Request:
    """A collective that was started. Its buffers belong to gradnic until wait() returns."""

    def __init__(self, comm: "Communicator", result: Any, kept: "tuple[Any, ...]") -> None:
        self._comm, self._handle, self._result, self._kept = comm, ctypes.c_void_p(), result, kept
        self._status: Optional[int] = None
        self._text = ""
        self._turn = _entry.Gate()  # whoever is first in it asks the library, which frees what is done
        self._freed = ctypes.c_bool()

    def __reduce__(self) -> Any:
        raise TypeError("a request cannot be copied or pickled")

    def wait(self) -> Any:
        """Waits until it is done, and returns its result. Raises what went wrong, every time."""
        self._finish()
        _entry.raise_what_handlers_raised()
        if self._status:
            raise error_of(self._status, self._text)
        return self._result

    def done(self) -> bool:
        """Whether it is done, well or not. wait() then returns at once."""
        self._refuse_fork()
        if self._status is None:
            with self._turn:
                if self._turn.is_first():
                    self._ask(native.comm.gn_test)
        return self._status is not None

    def _finish(self) -> None:
        self._refuse_fork()
        with self._turn:
            self._turn.wait_until_first()
            self._ask(native.comm.gn_wait_done)

    def _refuse_fork(self) -> None:
        """What would complete it is a thread of the parent's, which may hold the lock, too."""
        if self._status is None:
            self._comm._refuse_fork()

    def _ask(self, function: Any) -> None:
        if self._status is not None:
            return
        if not self._freed.value:
            with self._comm._gate:
                status = function(self._handle, ctypes.byref(self._freed))
                if not self._freed.value:
                    return
                self._text = self._comm._last_error() if status else ""
        else:  # a signal's handler raised something, behind the call that has freed it
            status, self._text = native.ABORTED, "the wait for this request was interrupted"
        self._status, self._kept = status, ()
        self._comm._requests.discard(self)


class _Reception(Request):
    """A message that is awaited."""

    def wait(self) -> int:
        """Waits until it is there, and returns its bytes."""
        return int(super().wait().bytes)


class Communicator:
    """A group of ranks that exchange arrays. Every rank ends with the same bits.

    Rank, size and meeting place are those of the launcher (torchrun, mpirun, srun), or of RANK,
    WORLD_SIZE, MASTER_ADDR and MASTER_PORT. `rendezvous` is "tcp://host:port" or "file:///path".

    With `compress` ("dense", "lattice" or "paper"), sums and averages of float32, bfloat16 and
    float16 have an error of at most 2^-k for each rank's value. With `scale="auto"` the bound is
    relative: 2^(-k - scale_target) of the RMS, or up to 1.53 times that. Everything else is exact.

    `timeout` is in seconds: how long a rank that is waited for may give no sign of life. After an
    error the communicator is dead, but for InvalidError. One thread at a time may call
    collectives, in the same order on every rank; any thread may call abort().

    A process that was forked off cannot use a communicator of its parent.
    """

    def __init__(self, rank: Optional[int] = None, size: Optional[int] = None, *, rendezvous: Optional[str] = None,
                 interface: Optional[str] = None, timeout: float = 30.0, algorithm: str = "ring",
                 compress: Optional[str] = None, k: int = 10, scale: str = "none", scale_target: int = 0,
                 offload: str = "auto", segment_bytes: int = 0, shared_memory: bool = True,
                 switch_address: Optional[str] = None, switch_channels: int = 0, groups: Optional[str] = None,
                 group_offload: str = "auto", secret_file: Optional[str] = None) -> None:
        self._handle = ctypes.c_void_p()
        config = native.comm.gn_comm_config_default()
        config.rank = -1 if rank is None else int32("rank", rank)
        config.size = -1 if size is None else int32("size", size)
        config.rendezvous = _text(rendezvous)
        config.interface = _text(interface)
        if not 0.001 <= timeout <= 2_000_000:
            raise InvalidError(f"timeout = {timeout} is not between 0.001 and 2000000 seconds")
        config.timeout_ms = round(timeout * 1000)
        config.algorithm = number_of("algorithm", algorithm, native.ALGORITHMS)
        config.offload = number_of("offload", offload, native.OFFLOADS)
        config.segment_bytes = integer("segment_bytes", segment_bytes, 0, 2**63 - 1)
        config.no_shared_memory = not shared_memory
        config.switch_address = _text(switch_address)
        config.switch_channels = integer("switch_channels", switch_channels, 0, 2**31 - 1)
        config.scale = number_of("scale", scale, native.SCALES)
        config.scale_target = integer("scale_target", scale_target, -128, 127)
        if compress is not None:
            config.quantise = True
            config.codec = Codec(compress, k)._native
        config.secret_file = _text(secret_file)
        config.groups = _text(groups)
        config.group_offload = number_of("group_offload", group_offload, native.OFFLOADS)
        config.log = _log_function
        config.interrupted = _entry.interrupted

        def init() -> ctypes.c_void_p:
            handle = ctypes.c_void_p()
            wrong = native.comm.gn_comm_init(ctypes.byref(handle), ctypes.byref(config))
            if wrong:
                raise error_of(wrong, native.comm.gn_comm_last_error(None).decode("utf-8", "replace"))
            return handle

        self._adopt(_entry.interruptible(init, native.comm.gn_comm_free), compress, timeout)

    def _adopt(self, handle: ctypes.c_void_p, compress: Optional[str], timeout: float) -> None:
        self._process = os.getpid()
        self._requests: "set[Request]" = set()
        self._gate, self._closing = _entry.Gate(), _entry.Gate()
        self._closed: Iterator[ctypes.c_void_p] = iter(())  # the handle, once, when nobody comes in any more
        self._closes = False  # what is closed is not freed yet
        self.compress, self._timeout = compress, timeout
        self._handle = handle
        self.rank: int = native.comm.gn_comm_rank(handle)
        self.size: int = native.comm.gn_comm_size(handle)
        _alive.add(self)

    def __repr__(self) -> str:
        state = f"rank {self.rank} of {self.size}" if self._handle else "closed"
        return f"<gradnic.Communicator, {state}>"

    def __reduce__(self) -> Any:
        raise TypeError("a communicator cannot be copied or pickled: its connections are this process's")

    def __enter__(self) -> "Communicator":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if error is not None and self._usable() and self.size > 1:
            try:
                self.abort(f"{type(error).__name__}: {error}")  # others need not wait for their deadline
            except Exception:  # the first error is the one to tell of
                logger.debug("abort failed", exc_info=True)
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) or getattr(self, "_closes", False):
            self.close()

    def close(self) -> None:
        """Says goodbye to the others. Requests that were started run to their end first."""
        if not (self._handle or self._closes) or self._process != os.getpid():
            return
        if self._gate.is_inside():
            raise InvalidError("close() was called by a handler, which the communicator itself waits for")
        if self._closing.is_inside():  # a handler, too
            return
        with self._closing:
            self._closing.wait_until_first()
            self._finish_all()
            if self._handle:  # otherwise a close() before this one was interrupted, or is done
                self._closed, self._closes = iter((self._handle,)), True
                self._handle = ctypes.c_void_p()
            # From here on nobody comes in. Who is inside leaves within his deadline.
            if self._gate.wait_until_empty(self._timeout + 10):
                self._finish_all()  # what was started meanwhile
                # Whatever interrupts this, the handle is taken and freed, or neither.
                next(map(native.comm.gn_comm_free, self._closed), None)
            else:
                logger.error("a thread is still inside a communicator that was closed: it is not freed")
            self._closes = False
        _entry.raise_what_handlers_raised()

    def _finish_all(self) -> None:
        for request in list(self._requests):
            if request._handle:
                request._finish()

    def abort(self, reason: str = "abort() was called") -> None:
        """Ends whatever runs, here and at every rank, with AbortedError. Any thread may call it."""
        self._run(native.comm.gn_comm_abort, reason.encode())

    @property
    def stats(self) -> Dict[str, Any]:
        """What was done so far: bytes of values, bytes as they were sent, seconds by phase."""
        with self._gate:
            counters = native.comm.gn_comm_get_stats(self._live())
        return {entry[0]: getattr(counters, entry[0]) for entry in native.Stats._fields_}

    def scale(self, bucket: int) -> Optional[int]:
        """What the next sum of a bucket is scaled by, with scale "auto": floor(log2(RMS)).

        None: it has no scale yet. A checkpoint that has the scales goes on with the same bits.
        """
        with self._gate:
            exponent: int = native.comm.gn_comm_scale(self._live(), _bucket(bucket))
        return None if exponent == native.SCALE_UNSEEN else exponent

    def set_scale(self, bucket: int, exponent: Optional[int]) -> None:
        """Sets what scale() says. All ranks set the same, or their next sum fails."""
        number = native.SCALE_UNSEEN if exponent is None else int32("exponent", exponent)
        with self._gate:
            wrong = native.comm.gn_comm_set_scale(self._live(), _bucket(bucket), number)
            if wrong:
                raise error_of(wrong, f"bucket {bucket} cannot have the scale {exponent}: {self._last_error()}")

    # Collectives that wait.

    def allreduce(self, array: Any, out: Any = None, op: str = "sum", *, residual: Any = None,
                  bucket: Optional[int] = 0) -> Any:
        """Combines arrays of all ranks: "sum", "average", "minimum" or "maximum".

        Without `out` it works in place. Returns the array with the result. `residual` is float32,
        zero at first, and kept by the caller between steps: error feedback. `bucket` names the
        array for scale "auto", and has no history with None.
        """
        return self._now(self._allreduce(array, out, op, residual, bucket))

    def reduce_scatter(self, array: Any, out: Any = None, op: str = "sum", *, residual: Any = None,
                       bucket: Optional[int] = 0) -> Any:
        """Combines arrays that have a block for each rank. Each rank gets its own, in `out`."""
        return self._now(self._reduce_scatter(array, out, op, residual, bucket))

    def all_gather(self, array: Any, out: Any = None, *, lossy: bool = False) -> Any:
        """Gathers equal blocks of all ranks, in their order. `lossy` compresses them."""
        return self._now(self._all_gather(array, out, lossy))

    def broadcast(self, array: Any, root: int = 0) -> Any:
        """Copies the array of rank `root` to all, in place."""
        return self._now(self._broadcast(array, root))

    def barrier(self) -> None:
        """Returns when every rank has called it."""
        self._now(_Prepared("barrier"))

    # Messages between two ranks.

    def isend(self, array: Any, to: int, tag: int = 0) -> Request:
        """Starts to send an array to one rank, which calls irecv() for it. No other takes part."""
        view = view_of(array, "the array")
        return self._started(Request(self, None, (view.owner,)), native.comm.gn_isend, view.address, view.nbytes,
                             int32("to", to), int32("tag", tag))

    def irecv(self, array: Any, source: int, tag: int = 0) -> Request:
        """Starts to receive a message of at most the array's bytes. wait() returns how many."""
        view, got = view_of(array, "the array", writable=True), native.Received()
        return self._started(_Reception(self, got, (view.owner, got)), native.comm.gn_irecv, view.address, view.nbytes,
                             int32("source", source), int32("tag", tag), ctypes.byref(got))

    # Collectives that are started.

    def iallreduce(self, array: Any, out: Any = None, op: str = "sum", *, residual: Any = None,
                   bucket: Optional[int] = 0) -> Request:
        """Starts allreduce(). Requests run in the order in which they were started."""
        return self._start(self._allreduce(array, out, op, residual, bucket))

    def ireduce_scatter(self, array: Any, out: Any = None, op: str = "sum", *, residual: Any = None,
                        bucket: Optional[int] = 0) -> Request:
        """Starts reduce_scatter()."""
        return self._start(self._reduce_scatter(array, out, op, residual, bucket))

    def iall_gather(self, array: Any, out: Any = None, *, lossy: bool = False) -> Request:
        """Starts all_gather()."""
        return self._start(self._all_gather(array, out, lossy))

    def ibroadcast(self, array: Any, root: int = 0) -> Request:
        """Starts broadcast()."""
        return self._start(self._broadcast(array, root))

    def ibarrier(self) -> Request:
        """Starts barrier()."""
        return self._start(_Prepared("barrier"))

    def split(self, colour: int, key: int = 0) -> "Optional[Communicator]":
        """Makes a group of all ranks that give the same colour, in order of key and rank.

        All ranks call it. A negative colour wants no group and gets None. The group has the
        configuration of this one, and a life of its own.
        """
        colour, key = int32("colour", colour), int32("key", key)

        def make() -> ctypes.c_void_p:
            handle = ctypes.c_void_p()
            with self._gate:
                status = native.comm.gn_comm_split(self._live(), colour, key, ctypes.byref(handle))
                if status:  # where the text is depends on who failed: this group, or the new one
                    raise error_of(status, self._last_error()
                                   or native.comm.gn_comm_last_error(None).decode("utf-8", "replace"))
            return handle

        handle = _entry.interruptible(make, native.comm.gn_comm_free)
        if not handle:
            return None
        sub = Communicator.__new__(Communicator)
        sub._adopt(handle, self.compress, self._timeout)
        return sub

    # How they are prepared and run.

    def _allreduce(self, array: Any, out: Any, op: str, residual: Any, bucket: Optional[int]) -> "_Prepared":
        send = view_of(array, "the array", writable=out is None)
        recv = send if out is None else view_of(out, "out", writable=True)
        _same(recv, send, send.count, "out")
        return _Prepared("allreduce", send, recv, send.count, array if out is None else out, op=op,
                         residual=residual, bucket=bucket)

    def _reduce_scatter(self, array: Any, out: Any, op: str, residual: Any, bucket: Optional[int]) -> "_Prepared":
        send = view_of(array, "the array")
        count, rest = divmod(send.count, self.size)
        if rest:
            raise InvalidError(f"the array has {send.count} elements, which {self.size} ranks cannot share equally")
        if out is None:
            out = new_like(array, (count,))
        recv = view_of(out, "out", writable=True)
        _same(recv, send, count, "out")
        return _Prepared("reduce_scatter", send, recv, count, out, op=op, residual=residual, bucket=bucket)

    def _all_gather(self, array: Any, out: Any, lossy: bool) -> "_Prepared":
        send = view_of(array, "the array")
        if out is None:
            out = new_like(array, (self.size, *send.shape))
        recv = view_of(out, "out", writable=True)
        _same(recv, send, send.count * self.size, "out")
        return _Prepared("all_gather", send, recv, send.count, out, lossy=lossy, bytes_will_do=not lossy)

    def _broadcast(self, array: Any, root: int) -> "_Prepared":
        view = view_of(array, "the array", writable=True)
        if not 0 <= int32("root", root) < self.size:
            raise InvalidError(f"root {root} is not a rank of 0 to {self.size - 1}")
        return _Prepared("broadcast", view, view, view.count, array, root=root, bytes_will_do=True)

    def _now(self, prepared: "_Prepared") -> Any:
        self._run(native.comm.gn_comm_run, ctypes.byref(prepared.call))
        return prepared.result

    def _start(self, prepared: "_Prepared") -> Request:
        return self._started(Request(self, prepared.result, prepared.kept), native.comm.gn_comm_start,
                             ctypes.byref(prepared.call))

    def _started(self, request: Request, function: Any, *arguments: Any) -> Request:
        """Starts a request. It is known before: a signal may interrupt what follows the call."""
        self._requests.add(request)
        try:
            self._run(function, *arguments, ctypes.byref(request._handle))
        finally:
            if not request._handle:
                self._requests.discard(request)
        return request

    def _usable(self) -> bool:
        return bool(self._handle) and self._process == os.getpid()

    def _live(self) -> ctypes.c_void_p:
        if not self._handle:
            raise InvalidError("the communicator is closed")
        self._refuse_fork()
        return self._handle

    def _refuse_fork(self) -> None:
        if self._process != os.getpid():
            raise InvalidError(f"the communicator was made in process {self._process}, from which this one, "
                               f"{os.getpid()}, was forked: make a new one here")

    def _last_error(self) -> str:
        text: bytes = native.comm.gn_comm_last_error(self._handle)
        return text.decode("utf-8", "replace")

    def _run(self, function: Any, *arguments: Any) -> None:
        with self._gate:
            status = function(self._live(), *arguments)
            text = self._last_error() if status else ""
        _entry.raise_what_handlers_raised()
        if status:
            raise error_of(status, text)


class _Prepared:
    """A call, and what must stay in its place while it runs."""

    def __init__(self, collective: str, send: Optional[View] = None, recv: Optional[View] = None, count: int = 0,
                 result: Any = None, *, op: str = "sum", residual: Any = None, bucket: Optional[int] = 0, root: int = 0,
                 lossy: bool = False, bytes_will_do: bool = False) -> None:
        call = native.Call()
        call.collective = native.COLLECTIVES[collective]
        call.op = number_of("op", op, native.OPS)
        call.root, call.lossy, call.id = root, lossy, native.BUCKET_NONE if bucket is None else _bucket(bucket)
        kept: List[Any] = [send and send.owner, recv and recv.owner]
        if send is not None and recv is not None:
            call.send, call.recv, call.count = send.address, recv.address, count
            if send.type is not None:
                call.type = native.TYPES[send.type]
            elif bytes_will_do:
                call.type, call.count = native.TYPES["u8"], count * send.itemsize
            else:
                raise InvalidError(f"the array is {send.dtype}; this takes float32, bfloat16, float16, float64, int32, "
                                   "int64 and uint8")
        if residual is not None and send is not None:
            feedback = view_of(residual, "residual", writable=True)
            if feedback.type != "f32" or feedback.count != send.count:
                raise InvalidError(f"residual has {feedback.count} elements of {feedback.dtype}, not {send.count} of "
                                   "float32")
            call.residual = feedback.address
            kept.append(feedback.owner)
        self.call, self.result, self.kept = call, result, tuple(kept)


def _same(recv: View, send: View, count: int, what: str) -> None:
    if recv.dtype != send.dtype or recv.count != count:
        raise InvalidError(f"{what} has {recv.count} elements of {recv.dtype}, not {count} of {send.dtype}")


def _bucket(number: int) -> int:
    return integer("bucket", number, 0, 65535)


def _text(value: Optional[str]) -> Optional[bytes]:
    if value is not None and "\0" in value:
        raise InvalidError(f"{value!r} has a zero byte")
    return None if value is None else os.fsencode(value)


def number_of(what: str, name: str, numbers: Dict[str, int]) -> int:
    """Returns the number of a name in an enumeration of the library."""
    if name not in numbers:
        raise InvalidError(f"there is no {what} {name!r}: {', '.join(numbers)}")
    return numbers[name]


def algorithms() -> Sequence[str]:
    """Returns the names that `algorithm` may have."""
    return list(native.ALGORITHMS)


def _close_all() -> None:
    """At the end of the process: before ctypes goes, which a thread that logs would need."""
    for comm in list(_alive):
        comm.close()


atexit.register(_close_all)
