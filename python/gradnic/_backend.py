# SPDX-License-Identifier: Apache-2.0
"""The backend "gradnic" of torch.distributed.

It has its own allreduce, reduce_scatter, all_gather, broadcast and barrier, over one Communicator
for each group. Everything else is handed to a Gloo group inside.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from datetime import timedelta
from functools import partial
from typing import Any, Callable, Dict, List, Optional, Sequence

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import Backend as C10DBackend
from torch._C._distributed_c10d import BarrierOptions, PrefixStore, ProcessGroupGloo, ReduceOp

from ._arrays import view_of
from ._errors import Error, InvalidError
from ._group import GradnicGroup, answer_no, made
from ._lane import Lane, depth
from ._meeting import connect, fresh, is_one_place, own_address
from ._options import Options
from ._shapes import Shapes, by_copies, rounded_to_odd
from ._types import FLOATS
from ._work import Work
from .comm import Communicator, _Prepared

logger = logging.getLogger("gradnic")

_TYPES = frozenset((*FLOATS, torch.float64, torch.int32, torch.int64, torch.uint8))
_OPS = {ReduceOp.SUM: "sum", ReduceOp.AVG: "average", ReduceOp.MIN: "minimum", ReduceOp.MAX: "maximum"}
_told = threading.Event()

_inherited: List[Any] = []
"""Gloo groups of the process that forked this one off. Their end would wait for its threads."""

_UNSET = timedelta(0)  # below: the group's own


def _copy(to: torch.Tensor, values: torch.Tensor) -> None:
    if values.dtype == torch.float64 and to.dtype in (torch.float16, torch.bfloat16):
        values = rounded_to_odd(values)
    to.copy_(values.view(to.shape))


def _plain(tensor: torch.Tensor) -> bool:
    return tensor.layout == torch.strided and tensor.device.type == "cpu" and not tensor.is_conj() \
        and not tensor.is_neg()


class GradnicBackend(C10DBackend):
    """A process group's backend."""

    def __init__(self, store: Any, rank: int, size: int, options: Options) -> None:
        super().__init__(rank, size)
        self._options, self._name = options, f"group {options.group_name or 0}"
        self._store = fresh(store, rank, size, options._timeout, self._name)
        self._gloo = self._connect_gloo(rank, size)
        self._lock = threading.Lock()
        self._lanes = [self._connect(0)]
        self._closed = False
        self._process = os.getpid()
        self.grouped = False  # whether a GradnicGroup takes the work objects

    def _connect_gloo(self, rank: int, size: int) -> Any:
        """Gloo takes the address of this host's name, which may be 127.0.0.1. So it gets ours."""
        store, timeout = PrefixStore("gloo", self._store), self._options._timeout
        if os.environ.get("GLOO_SOCKET_IFNAME") or is_one_place(store, rank, size):
            return ProcessGroupGloo(store, rank, size, timeout)
        chosen = ProcessGroupGloo._Options()
        chosen._timeout = timeout
        chosen._devices = [ProcessGroupGloo.create_device(hostname=own_address(self._store))]
        return ProcessGroupGloo(store, rank, size, chosen)

    def _connect(self, depth: int) -> Lane:
        store, rank, size = PrefixStore(f"gradnic{depth}", self._store), self.rank(), self.size()
        comm = connect(store, rank, size, self._options.interface, partial(self._options.arguments, size), self._name)
        return Lane(comm, self._name, depth)

    # What torch asks.

    @property
    def options(self) -> Options:
        """The options of this group."""
        return self._options

    @property
    def communicator(self) -> Communicator:
        """What carries this group's collectives. Call nothing on it while torch does."""
        return self._lanes[0].comm

    def getBackendName(self) -> str:
        """The name of the backend."""
        return "gradnic"

    def set_timeout(self, timeout: timedelta) -> None:
        """How long waits wait from now on."""
        self._options._timeout = timeout
        self._gloo.set_timeout(timeout)

    _set_default_timeout = set_timeout

    def shutdown(self) -> None:
        """Lets what was started run to its end, says goodbye to the others, and closes."""
        closed, self._closed = self.closed, True
        if self._process != os.getpid():
            _inherited.append(self._gloo)
        if closed:
            return
        for lane in self._lanes:
            lane.close()
        self._gloo.shutdown()

    @property
    def closed(self) -> bool:
        """Whether shutdown() was called, or has nothing to do."""
        return self._closed or not self._lanes[0].comm._usable()

    def abort(self) -> None:
        """Ends what runs, at every rank, with an error."""
        self._give_up("abort() was called")
        self._gloo.abort()

    def _give_up(self, reason: str) -> None:
        for lane in self._lanes:
            try:
                lane.comm.abort(f"{reason} ({self._name})")
            except Error:  # it is closed already, or this process was forked off
                logger.debug("abort failed", exc_info=True)

    # Collectives.

    def allreduce(self, tensors: List[torch.Tensor], opts: Any) -> Any:
        """Sums, averages, minima and maxima of tensors over all ranks, in place."""
        op = self._op(tensors, opts)
        if op is None:
            return self._by_gloo("allreduce", tensors, opts)
        shapes = Shapes()
        calls = [self._sum("allreduce", shapes, tensor, tensor, op) for tensor in tensors]
        return self._run("allreduce", calls, shapes, list(tensors), opts)

    def allreduce_coalesced(self, tensors: List[torch.Tensor], opts: Any) -> Any:
        """The same for several tensors."""
        op = self._op(tensors, opts)
        return self._by_gloo("allreduce_coalesced", tensors, opts) if op is None else self.allreduce(tensors, opts)

    def reduce_scatter(self, outputs: List[torch.Tensor], inputs: List[List[torch.Tensor]], opts: Any) -> Any:
        """Sums lists of tensors, of which each rank gets one."""
        self._check_rows("reduce_scatter", "inputs", inputs, len(outputs))
        parts = [tensor for row in inputs for tensor in row]
        op = self._op([*outputs, *parts], opts)
        even = all(part.numel() == out.numel() for out, row in zip(outputs, inputs) for part in row)
        if op is None or not even:
            return self._by_gloo("reduce_scatter", outputs, inputs, opts)
        shapes = Shapes()
        calls = [self._sum("reduce_scatter", shapes, torch.cat([part.detach().reshape(-1) for part in row]), out, op)
                 for out, row in zip(outputs, inputs)]
        return self._run("reduce_scatter", calls, shapes, list(outputs), opts)

    def reduce_scatter_single(self, output: torch.Tensor, input: torch.Tensor, opts: Any) -> Any:
        """Sums tensors that have a block for each rank."""
        return self._reduce_scatter_all([output], [input], opts, "reduce_scatter_single")

    def reduce_scatter_single_coalesced(self, outputs: List[torch.Tensor], inputs: List[torch.Tensor],
                                        opts: Any) -> Any:
        """The same for several tensors."""
        return self._reduce_scatter_all(outputs, inputs, opts, "reduce_scatter_single_coalesced")

    def _reduce_scatter_all(self, outputs: List[torch.Tensor], inputs: List[torch.Tensor], opts: Any,
                            name: str) -> Any:
        for out, given in zip(outputs, inputs):
            if given.numel() != self.size() * out.numel():
                raise ValueError(f"gradnic: reduce_scatter in {self._name}: the input has {given.numel()} elements, not "
                                 f"{self.size()} x {out.numel()}, a block of the output's size for each rank")
        op = self._op([*outputs, *inputs], opts)
        if op is None:
            whole = len(outputs) == 1 and name == "reduce_scatter_single"
            return self._by_gloo(name, outputs[0] if whole else outputs, inputs[0] if whole else inputs, opts)
        shapes = Shapes()
        calls = [self._sum("reduce_scatter", shapes, given, out, op) for out, given in zip(outputs, inputs)]
        return self._run("reduce_scatter", calls, shapes, list(outputs), opts)

    def allgather(self, outputs: List[List[torch.Tensor]], inputs: List[torch.Tensor], opts: Any) -> Any:
        """Gathers tensors of all ranks, as they are."""
        self._check_rows("all_gather", "outputs", outputs, len(inputs))
        even = all(out.numel() == given.numel() and out.dtype == given.dtype
                   for row, given in zip(outputs, inputs) for out in row)
        if not even or not all(map(_plain, inputs)):
            return self._by_gloo("allgather", outputs, inputs, opts)
        shapes = Shapes()
        calls = []
        for row, given in zip(outputs, inputs):
            flat = torch.empty(self.size() * given.numel(), dtype=given.dtype)
            calls.append(self._gather(shapes, given, flat))
            for out, part in zip(row, flat.split(given.numel()) if given.numel() else ()):
                shapes.then(partial(_copy, shapes.place(out), part))
        return self._run("all_gather", calls, shapes, [out for row in outputs for out in row], opts)

    def all_gather_single(self, output: torch.Tensor, input: torch.Tensor, opts: Any) -> Any:
        """Gathers tensors of all ranks in one."""
        return self._gather_all([output], [input], opts, "all_gather_single")

    def all_gather_single_coalesced(self, outputs: List[torch.Tensor], inputs: List[torch.Tensor], opts: Any) -> Any:
        """The same for several tensors."""
        return self._gather_all(outputs, inputs, opts, "all_gather_single_coalesced")

    def _gather_all(self, outputs: List[torch.Tensor], inputs: List[torch.Tensor], opts: Any, name: str) -> Any:
        fits = all(out.numel() == self.size() * given.numel() and out.dtype == given.dtype
                   for out, given in zip(outputs, inputs))
        if not fits or not all(map(_plain, [*outputs, *inputs])):
            whole = name == "all_gather_single"
            return self._by_gloo(name, outputs[0] if whole else outputs, inputs[0] if whole else inputs, opts)
        shapes = Shapes()
        calls = [self._gather(shapes, given, shapes.output(out)) for out, given in zip(outputs, inputs)]
        return self._run("all_gather", calls, shapes, list(outputs), opts)

    def broadcast(self, tensors: List[torch.Tensor], opts: Any) -> Any:
        """Copies tensors of one rank to all."""
        if not all(map(_plain, tensors)):
            return self._by_gloo("broadcast", tensors, opts)
        shapes = Shapes()
        calls = []
        for tensor in tensors:
            view = view_of(shapes.output(tensor, filled=True), "the tensor", writable=True)
            calls.append(_Prepared("broadcast", view, view, view.count, root=opts.rootRank, bytes_will_do=True))
        return self._run("broadcast", calls, shapes, list(tensors), opts)

    def barrier(self, opts: Any) -> Any:
        """Returns when every rank has called it."""
        return self._run("barrier", [_Prepared("barrier")], Shapes(), [], opts)

    def monitored_barrier(self, opts: Any, wait_all_ranks: bool = False) -> None:
        """A barrier that names the ranks that have not come. Gloo's."""
        given = opts.timeout if isinstance(opts, BarrierOptions) else opts
        self._gloo.monitored_barrier(given if given >= _UNSET else self._options._timeout, wait_all_ranks)

    # How they run.

    def _op(self, tensors: Sequence[torch.Tensor], opts: Any) -> Optional[str]:
        """The name of the operation, or None where Gloo takes the call."""
        op = _OPS.get(opts.reduceOp.op)
        if op is None or not tensors:
            return None
        kind = tensors[0].dtype
        if kind not in _TYPES:
            return None
        for tensor in tensors:
            if tensor.dtype != kind or not _plain(tensor):
                return None
        if op == "average" and not kind.is_floating_point:
            raise ValueError("gradnic: integers have no average: sum them, and divide")
        return op

    def _check_rows(self, collective: str, what: str, rows: Sequence[Sequence[torch.Tensor]], count: int) -> None:
        """Raises where a list of lists has not `count` rows, each with a tensor for each rank."""
        wrong = [len(row) for row in rows if len(row) != self.size()]
        if wrong or len(rows) != count:
            raise ValueError(f"gradnic: {collective} in {self._name}: "
                             + (f"{wrong[0]} {what} are given to {self.size()} ranks: give one for each" if wrong else
                                f"{len(rows)} lists of {what} are given, not {count}"))

    def _sum(self, collective: str, shapes: Shapes, given: torch.Tensor, out: torch.Tensor, op: str) -> _Prepared:
        """Prepares a sum. A small one is exact: as float64, where others are compressed."""
        exact = self._options.compresses and given.dtype in FLOATS and op in ("sum", "average") \
            and given.numel() * given.element_size() < self._options.min_bytes
        if exact:
            source = given.detach().to(torch.float64).contiguous()
            result = source if collective == "allreduce" else torch.empty(out.shape, dtype=torch.float64)
            shapes.then(partial(_copy, shapes.place(out), result))
        else:
            result = shapes.output(out, filled=collective == "allreduce")
            source = result if collective == "allreduce" else shapes.input(given)
            if self._options.compresses and op in ("sum", "average") and given.dtype in FLOATS:
                self._tell()
        recv = view_of(result, "the tensor", writable=True)
        send = recv if source is result else view_of(source, "the tensor")
        return _Prepared(collective, send, recv, recv.count, op=op, bucket=None)

    def _gather(self, shapes: Shapes, given: torch.Tensor, flat: torch.Tensor) -> _Prepared:
        send, recv = view_of(shapes.input(given), "the tensor"), view_of(flat, "the tensor", writable=True)
        return _Prepared("all_gather", send, recv, send.count, bytes_will_do=True)

    def _tell(self) -> None:
        if _told.is_set():
            return
        _told.set()
        relative = " x 1.53 of the RMS" if self._options.scale == "auto" else ""
        logger.info("sums and averages of float32, bfloat16 and float16 of %d bytes and more are compressed: %s, with "
                    "an error of at most 2^-%d%s for each rank. GRADNIC_PROFILE=none turns it off",
                    self._options.min_bytes, self._options.profile, self._options.bound, relative)

    def _run(self, name: str, calls: List[_Prepared], shapes: Shapes, result: List[torch.Tensor], opts: Any) -> Work:
        """Starts calls. One that is not asynchronous is done when this returns."""
        lane = self._lane()
        timeout = self._options._timeout
        given = getattr(opts, "timeout", _UNSET)
        if given > timedelta(0):
            timeout = given
        what = f"{name} in {self._name}"
        work = Work(result, what, timeout, self._give_up, lane.asked, lane.want)
        try:
            job = (lane.start(calls), shapes.after, work)
        except InvalidError as error:
            raise ValueError(f"gradnic: {what}: {error}") from error
        except Error as error:
            raise dist.DistBackendError(f"gradnic: {what}: {error}") from error
        self._made(work)
        if getattr(opts, "asyncOp", True) or timeout < self._options._timeout:
            lane.later(job, at_once=shapes.has_steps)
        else:
            lane.complete(job)
            work.wait()
        return work

    def _lane(self) -> Lane:
        """The lane of this thread. A callback's first collective connects all ranks once more."""
        with self._lock:
            while depth() >= len(self._lanes):
                self._lanes.append(self._connect(len(self._lanes)))
            return self._lanes[depth()]

    def _made(self, work: Any) -> Any:
        if self.grouped:
            made.work = work
        return work

    def _by_gloo(self, name: str, *arguments: Any, **named: Any) -> Any:
        """Every call of Gloo but send() has its results in its first argument."""
        call = partial(getattr(self._gloo, name), **named)
        return self._made(by_copies(call, arguments, into_first=name != "send"))


def _delegated(name: str) -> Callable[..., Any]:
    def call(self: GradnicBackend, *arguments: Any, **named: Any) -> Any:
        return self._by_gloo(name, *arguments, **named)

    call.__name__, call.__doc__ = name, "By Gloo, which is inside."
    return call


answer_no(GradnicBackend)
for _name in ("allreduce_sparse", "reduce", "allgather_coalesced", "gather", "gather_single", "scatter",
              "all_to_all_single", "alltoall", "send", "recv", "recv_anysource",
              "_set_sequence_number_for_group", "_get_sequence_number_for_group"):
    if hasattr(ProcessGroupGloo, _name):
        setattr(GradnicBackend, _name, _delegated(_name))


def _kinds_of_device() -> Optional[Dict[str, str]]:
    """Backends by kind of device in the group that torch makes now, if it can be told."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        config = frame.f_locals.get("backend_config")
        if config is not None:
            kinds: Dict[str, str] = config.get_device_backend_map()
            return kinds
        frame = frame.f_back
    return None


def create(given: Any, options: Any) -> Any:
    """Makes the backend of a group, for torch."""
    if options is None:
        options = Options()
    elif not isinstance(options, Options):
        raise ValueError(f"gradnic: pg_options is a {type(options).__name__}, not gradnic.torch.Options")
    kinds = _kinds_of_device()
    others = [kind for kind, name in (kinds or {}).items() if name == "gradnic" and kind != "cpu"]
    if others:
        raise ValueError(f"gradnic: the backend takes tensors on the CPU, not on {others[0]!r}: name another backend for "
                         f"them, as in 'cpu:gradnic,cuda:nccl', and see gradnic.hook")
    options = options.copy()  # the caller's may be for several groups
    options._timeout = given.timeout
    options.global_ranks_in_group = given.global_ranks_in_group
    options.group_name = given.group_id
    backend = GradnicBackend(given.store, given.group_rank, given.group_size, options)
    alone = kinds is not None and len(set(kinds.values())) == 1
    return GradnicGroup(given.store, given.group_rank, given.group_size, backend) if alone else backend


def process_group(store: Any, rank: int, size: int, options: Optional[Options] = None, *, name: str = "gradnic") -> Any:
    """Makes a group that torch.distributed does not know, for programs such as torchft.

    Its ranks call it with a part of a store that they share. Its timeout is that of the options.
    `name` names it in errors.
    """
    options = Options() if options is None else options.copy()
    options.group_name = name
    return GradnicGroup(store, rank, size, GradnicBackend(store, rank, size, options))
