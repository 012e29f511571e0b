# SPDX-License-Identifier: Apache-2.0
"""Hooks for DistributedDataParallel. They work over any process group, also Gloo's and NCCL's.

    ddp.register_comm_hook(gradnic.State(k=4, feedback=True), gradnic.hook)
    ddp.register_comm_hook(gradnic.RatioState(), gradnic.ratio_hook)
"""

# No "from __future__ import annotations": DDP looks at the hooks' types themselves.
import concurrent.futures
import contextlib
import logging
import os
from datetime import timedelta
from typing import Any, Dict, List, Optional, Sequence, Tuple

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import PrefixStore
from torch.utils.weak import TensorWeakRef

from . import _native as native
from ._arrays import view_of
from ._device import DeviceSums
from ._errors import Error, InvalidError
from ._files import write_whole
from ._lane import Lane, Line
from ._meeting import connect, fresh
from ._options import usual_algorithm
from ._types import FLOATS
from ._work import Work
from .codec import Codec, ratio
from .comm import Communicator, _Prepared, number_of
from .gpu import available

Layout = Tuple[int, Tuple[Tuple[int, Tuple[int, ...]], ...]]
"""A bucket: its index, and of each parameter the place among all of the model, and the shape."""

logger = logging.getLogger("gradnic")

_made: Dict[str, int] = {}  # states that have connected, by group: all ranks count alike


class State:
    """How hook() compresses, and what it remembers: a residual and a scale for each bucket.

    The bound is about 2^-k of the RMS of a bucket (`scale="none"`: of the values as they are). With
    `feedback`, what a step has rounded away is added to the next one, so a coarse bound will do.
    state_dict() has both. Residuals differ from rank to rank: each rank saves its own. A state is
    for one model: those of two would get each other's residuals and scales.
    """

    def __init__(self, k: int = 4, *, feedback: bool = True, profile: str = "dense", scale: str = "auto",
                 algorithm: Optional[str] = None, interface: Optional[str] = None,
                 process_group: Any = None, timeout: timedelta = timedelta(minutes=30)) -> None:
        """`process_group`: the ranks that sum, by default all."""
        Codec(profile, k)  # raises what is wrong
        number_of("scale", scale, native.SCALES)
        if algorithm is not None:
            number_of("algorithm", algorithm, native.ALGORITHMS)
        self.k, self.feedback, self.profile, self.scale = k, feedback, profile, scale
        self._algorithm, self._interface, self._group, self._timeout = algorithm, interface, process_group, timeout
        self._lane: Optional[Lane] = None
        self._sums: Optional[DeviceSums] = None
        self._line: Optional[Line[Any]] = None
        self._told = False
        self._residuals: Dict[Layout, torch.Tensor] = {}
        self._loaded: Dict[Layout, torch.Tensor] = {}
        self._numbers: Dict[Layout, int] = {}  # what the communicator calls a bucket
        self._scales: Dict[Layout, int] = {}  # that were loaded
        self._parameters: Dict[int, Tuple[Any, int]] = {}  # of the model, by id(): a weak one, and its place
        self._seen = 0  # places given
        self._may_change = False  # the model: this state was closed

    @property
    def communicator(self) -> Optional[Communicator]:
        """What carries the sums; None before the first."""
        return self._lane.comm if self._lane else None

    def state_dict(self) -> Dict[str, Any]:
        """What this rank needs to go on: residuals, scales, and the bound that they belong to.

        Call it between steps.
        """
        residuals = {**self._loaded, **self._residuals}
        return {"k": self.k, "profile": self.profile, "scale": self.scale,
                "residuals": [(layout, residual.clone()) for layout, residual in residuals.items()],
                "scales": list(self._known_scales().items())}

    def load_state_dict(self, saved: Dict[str, Any]) -> None:
        """Takes what state_dict() gave, on all ranks, before the first step.

        A bucket of the same layout gets its own back.
        """
        if self._lane is not None:
            raise InvalidError("State.load_state_dict() comes before the first step, or after close()")
        self._residuals = {}
        self._loaded = {layout: residual.clone() for layout, residual in saved["residuals"]}
        self._scales = dict(saved.get("scales", ())) if self.scale == saved["scale"] else {}

    def close(self) -> None:
        """Says goodbye to the other ranks. All of them call it, or none."""
        if self._lane is not None:
            if self._line is not None:
                self._line.close()
            if self._lane.comm._usable():
                self._scales = self._known_scales()
            self._lane.close()
            self._lane = self._sums = self._line = None
        self._may_change = True

    def _connected(self) -> Lane:
        if self._lane is not None:
            return self._lane
        group = self._group if self._group is not None else dist.group.WORLD
        rank, size = dist.get_rank(group), dist.get_world_size(group)
        name = str(group.group_name)
        number = _made[name] = _made.get(name, 0) + 1
        store = PrefixStore(f"gradnic-hook{number}", dist.distributed_c10d._world.pg_map[group][1])
        store = fresh(store, rank, size, self._timeout, "the hook")
        arguments = {"compress": self.profile, "k": self.k, "scale": self.scale,
                     "algorithm": self._algorithm or usual_algorithm(size), "timeout": self._timeout.total_seconds()}
        comm = connect(store, rank, size, self._interface, lambda one_host: arguments, "the hook")
        self._numbers = {}
        for layout, scale in self._scales.items():
            comm.set_scale(self._number(layout), scale)
        self._scales = {}
        self._lane = Lane(comm, f"hook{number}", 0)
        return self._lane

    def _known_scales(self) -> Dict[Layout, int]:
        if self._lane is None:
            return dict(self._scales)
        found = {layout: self._lane.comm.scale(number) for layout, number in self._numbers.items()}
        return {layout: scale for layout, scale in found.items() if scale is not None}

    # DDP's first bucket comes first in every pass, also where DDP has changed its buckets. It has
    # no parameter of the model before when it is another model's.
    def _refuse_other_model(self, parameters: Sequence[Any], strangers: Sequence[Any]) -> None:
        if len(strangers) != len(parameters):
            return
        if not self._may_change and any(kept() is not None for kept, _ in self._parameters.values()):
            raise InvalidError("this gradnic.State has the residuals and scales of another model that is still "
                               "there: give each model a State of its own")
        self._parameters, self._seen = {}, 0

    # The first pass has all parameters in an order that the model alone decides. DDP's own buckets
    # may have another one later, with the same shapes.
    def _layout(self, bucket: Any) -> Layout:
        parameters = bucket.parameters()
        strangers = [p for p in parameters if self._parameters.get(id(p), (lambda: None, 0))[0]() is not p]
        if bucket.index() == 0:
            self._refuse_other_model(parameters, strangers)
            self._may_change = False
        for parameter in strangers:
            self._parameters[id(parameter)] = TensorWeakRef(parameter), self._seen
            self._seen += 1
        return bucket.index(), tuple((self._parameters[id(p)][1], tuple(p.shape)) for p in parameters)

    # All ranks see the same buckets in the same order. When DDP changes its buckets, they are new
    # ones: their scales have nothing to do with those of the buckets before.
    def _number(self, layout: Layout) -> int:
        return self._numbers.setdefault(layout, len(self._numbers))

    def _on_device(self, buffer: torch.Tensor) -> bool:
        """Whether a bucket is compressed where it is. Otherwise its values cross to the host."""
        plain = self.profile == "dense" and self._algorithm in (None, "direct") \
            and os.environ.get("GRADNIC_OFFLOAD", "auto") in ("", "auto", "library")
        if plain and buffer.dtype in FLOATS and buffer.device.type == "cuda" and available(buffer.device):
            return True
        if not self._told and buffer.device.type != "cpu":
            self._told = True
            logger.warning("the gradients on %s are copied to the host as they are: compressing there needs Triton, "
                           "profile dense, algorithm direct and offload library", buffer.device)
        return False

    def _device_sums(self, lane: Lane) -> DeviceSums:
        if self._sums is None:
            self._sums = DeviceSums(lane, self.k, scale=self.scale)
            self._line = Line("gradnic-hook-gpu", lambda step: step(), 0)
        return self._sums

    def _residual(self, layout: Layout, buffer: torch.Tensor) -> Optional[torch.Tensor]:
        """The residual of a bucket. It begins anew when DDP has changed its buckets."""
        count = buffer.numel()
        if not self.feedback:
            return None
        kept = self._residuals.get(layout)
        if kept is None:
            for other in [other for other in self._residuals if other[0] == layout[0]]:
                del self._residuals[other]
            kept = self._loaded.pop(layout, None)
        known: torch.Tensor = kept if kept is not None and kept.numel() == count else torch.zeros(count)
        known = self._residuals[layout] = known.to(buffer.device)
        return known


def _first(future: Any) -> torch.Tensor:
    result: torch.Tensor = future.value()[0]
    return result


def hook(state: State, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """Averages a bucket over all ranks, compressed as `state` says.

    On a GPU it is compressed there, where Triton is: only the compressed bytes cross to the host.
    """
    layout = state._layout(bucket)
    buffer = bucket.buffer()
    lane = state._connected()
    what = f"the hook's allreduce of bucket {bucket.index()}"
    on_cpu, on_device = buffer.device.type == "cpu", state._on_device(buffer)
    work = Work([buffer], what, state._timeout, lane.comm.abort, lane.asked, lane.want,
                None if on_cpu else [buffer.device])
    try:
        if on_device:
            _sum_on_device(state, lane, layout, buffer, work)
        else:
            _sum_on_host(state, lane, layout, buffer, work)
    except Error as error:
        raise dist.DistBackendError(f"gradnic: {what}: {error}") from error
    return work.get_future().then(_first)


def _sum_on_host(state: State, lane: Lane, layout: Layout, buffer: torch.Tensor, work: Work) -> None:
    residual = state._residual(layout, buffer) if buffer.dtype in FLOATS else None
    copies = [t if t is None else t.detach().cpu() for t in (buffer, residual)]  # those on the CPU as they are
    view = view_of(copies[0], "the bucket", writable=True)
    call = _Prepared("allreduce", view, view, view.count, op="average", residual=copies[1],
                     bucket=state._number(layout))

    def after() -> None:
        for tensor, copy in zip((buffer, residual), copies):
            if tensor is not None and tensor.device.type != "cpu":
                tensor.detach().copy_(copy)

    lane.later((lane.start([call]), after, work), at_once=False)


def _sum_on_device(state: State, lane: Lane, layout: Layout, buffer: torch.Tensor, work: Work) -> None:
    """Has a thread of its own do it, on a stream of its own, behind what computes the bucket."""
    residual, sums, number = state._residual(layout, buffer), state._device_sums(lane), state._number(layout)
    ready = torch.cuda.current_stream(buffer.device).record_event() if buffer.is_cuda else None
    done: "concurrent.futures.Future[None]" = concurrent.futures.Future()

    def step() -> None:
        try:
            with torch.no_grad(), sums.behind(ready, buffer.device):
                sums.allreduce(buffer, residual, number, average=True)
            done.set_result(None)
        except Exception as error:  # what the training's thread is to see
            with contextlib.suppress(Error):  # the others need not wait for their deadline
                lane.comm.abort(f"{type(error).__name__}: {error}")
            done.set_exception(error)

    assert state._line is not None
    state._line.put(step)
    lane.later(([], done.result, work), at_once=False)  # the lane completes works in their order


class RatioState:
    """What ratio_hook() measures: bytes of float32 / bytes compressed, for several bounds.

    `every`: how many steps lie between two measurements. `path`: where rank 0's table goes at the
    end of the process, if anywhere. It replaces a file there when it is complete.
    """

    def __init__(self, ks: Sequence[int] = (2, 4, 6, 8, 10), *, every: int = 10, process_group: Any = None,
                 path: Optional[str] = None) -> None:
        self.ks, self.every, self.process_group = tuple(ks), every, process_group
        for k in self.ks:
            Codec("dense", k)  # raises what is wrong
        self.rows: List[Tuple[int, int, int, Dict[int, float]]] = []
        self._step = 0
        self._writes = True  # until a bucket tells the rank
        if path is not None:
            import atexit

            atexit.register(self._write, path)

    def total(self) -> Dict[int, float]:
        """Ratios over all that was measured, by k."""
        values = sum(count for _, _, count, _ in self.rows)
        return {k: values / sum(count / ratios[k] for _, _, count, ratios in self.rows) for k in self.ks} \
            if values else {}

    def table(self) -> str:
        """Ratios by bucket, and over all."""
        lines = ["bucket   values   " + "".join(f"{f'2^-{k}':>9}" for k in self.ks)]
        for index in sorted({index for _, index, _, _ in self.rows}):
            rows = [row for row in self.rows if row[1] == index]
            count = sum(row[2] for row in rows)
            means = [count / sum(row[2] / row[3][k] for row in rows) for k in self.ks]
            lines.append(f"{index:6} {rows[-1][2]:8}   " + "".join(f"{mean:9.2f}" for mean in means))
        if self.rows:
            lines.append("   all            " + "".join(f"{ratio:9.2f}" for ratio in self.total().values()))
        return "\n".join(lines) + "\n"

    def _write(self, path: str) -> None:
        # A process without a measurement has nothing to say: perhaps its training never began.
        if self._writes and self.rows:
            write_whole(path, self.table())

    def _measure(self, bucket: Any) -> None:
        values = bucket.buffer().detach().to("cpu", torch.float32)
        rms = float(values.square().mean().sqrt())
        if rms > 0 and rms < float("inf"):
            scaled = values * 2.0 ** -torch.tensor(rms).log2().floor().item()
            self.rows.append((self._step, bucket.index(), values.numel(), {k: ratio(scaled, k) for k in self.ks}))


def ratio_hook(state: RatioState, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """Averages a bucket as DDP does without a hook, and measures what gradnic would make of it.

    The bounds are relative to the RMS of the bucket. The training is not changed.
    """
    if state._step % state.every == 0:
        state._measure(bucket)
    if bucket.is_last():
        state._step += 1
    group = state.process_group if state.process_group is not None else dist.group.WORLD
    state._writes = dist.get_rank(group) == 0
    buffer = bucket.buffer()
    buffer.mul_(1 / dist.get_world_size(group))  # as DDP does it
    return dist.all_reduce(buffer, group=group, async_op=True).get_future().then(_first)
