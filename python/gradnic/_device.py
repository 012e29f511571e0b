# SPDX-License-Identifier: Apache-2.0
"""Sums over ranks of tensors on a GPU: only streams leave it.

Algorithm direct. Rank b sums block b. Each rank codes its values on its device, and sends each
other rank its block. Rank b decodes and adds them in the order of ranks, codes the sums, and sends
them to all. Every rank decodes them. With scale, feedback and average the bits are those of
Communicator.allreduce().
"""

from __future__ import annotations

import contextlib
import ctypes
from typing import Any, Dict, Iterator, List, Optional, Tuple

import torch

from . import _native as native
from ._arrays import view_of
from ._lane import Lane
from .comm import Request, _Prepared
from .gpu import PART, Codec, Stream, exponents

_CONTRIBUTION, _RESULT = 0, 1  # tags of messages


class DeviceSums:
    """Sums over the ranks of a lane. One thread uses it, in the same order at every rank."""

    def __init__(self, lane: Lane, k: int, *, scale: str = "auto", scale_target: int = 0) -> None:
        self._lane, self._comm, self._codec = lane, lane.comm, Codec(k)
        self._scales, self._target = scale == "auto", scale_target
        self._stream: Any = None  # of CUDA

    def allreduce(self, tensor: torch.Tensor, residual: Optional[torch.Tensor], bucket: int, *,
                  average: bool) -> None:
        """Sums in place. `residual` is float32, on the same device, and changed."""
        flat = tensor.view(-1)
        counts = exponents(flat) if self._scales else None
        known = measured = native.SCALE_UNSEEN
        if counts is not None:
            measured, kept = _scale_of(counts), self._comm.scale(bucket)
            known = self._largest(measured) if kept is None else kept
        shift: int = native.comm.gn_scale_shift(self._target, known)
        self._sum(flat, residual, shift, self._comm.size if average else 1)
        if counts is not None:  # for the next one; zeros say nothing about it
            following = self._largest(measured)
            following = known if following == native.SCALE_UNSEEN else following
            self._comm.set_scale(bucket, None if following == native.SCALE_UNSEEN else following)

    @contextlib.contextmanager
    def behind(self, ready: Any, device: torch.device) -> Iterator[None]:
        """A stream of CUDA of our own, behind an event. Without an event there is nothing to do."""
        if ready is None:
            yield
            return
        if self._stream is None:
            self._stream = torch.cuda.Stream(device)
        self._stream.wait_event(ready)
        with torch.cuda.stream(self._stream):
            yield

    def _largest(self, number: int) -> int:
        """The largest number of all ranks."""
        array = (ctypes.c_int32 * 1)(number)
        view = view_of(array, "a number", writable=True)
        for request in self._lane.start([_Prepared("allreduce", view, view, 1, op="maximum", bucket=None)]):
            request.wait()
        return int(array[0])

    def _sum(self, flat: torch.Tensor, residual: Optional[torch.Tensor], shift: int, divisor: int) -> None:
        rank, size = self._comm.rank, self._comm.size
        blocks = _blocks(flat.numel(), size)
        counts = [b - a for a, b in blocks]
        others = [r for r in range(size) if r != rank]
        givers = others if counts[rank] else []  # an empty block needs no messages
        streams = [self._codec._encode(flat[a:b], None if residual is None else residual[a:b], shift=shift, whole=True)
                   for a, b in blocks]
        incoming = {r: _Incoming(self._lane, r, _CONTRIBUTION, counts[rank], flat.device) for r in givers}
        sent = self._send({r: streams[r] for r in others if counts[r]}, _CONTRIBUTION)
        results = {r: _Incoming(self._lane, r, _RESULT, counts[r], flat.device) for r in others if counts[r]}

        sums = torch.empty(counts[rank], dtype=torch.float32, device=flat.device)
        for r in range(size if counts[rank] else 0):
            given = streams[rank] if r == rank else incoming[r].stream(self._codec)
            self._codec._unpack(given, sums, add=r > 0)
        result = self._codec._encode(sums)
        sent += self._send({r: result for r in givers}, _RESULT)
        for r, (a, b) in enumerate(blocks):
            if counts[r]:
                given = result if r == rank else results[r].stream(self._codec)
                self._codec._unpack(given, flat[a:b], shift=shift, divisor=divisor)
        for request in sent:
            request.wait()
        if flat.is_cuda:
            torch.cuda.current_stream(flat.device).synchronize()

    def _send(self, streams: Dict[int, Stream], tag: int) -> List[Request]:
        """Brings streams to the host, and sends each to its rank."""
        known: Dict[int, torch.Tensor] = {}
        distinct = {id(stream): stream for stream in streams.values()}
        lengths = torch.cat([stream.length for stream in distinct.values()]).tolist() if distinct else []
        for (name, stream), length in zip(distinct.items(), lengths):
            stream._known = length
            known[name] = _host(length, stream.room.device)
            known[name].copy_(stream.bytes, non_blocking=True)
        for device in {stream.room.device for stream in distinct.values() if stream.room.is_cuda}:
            torch.cuda.current_stream(device).synchronize()
        with self._lane.lock:
            return [self._comm.isend(known[id(stream)], r, tag) for r, stream in streams.items()]


class _Incoming:
    """A stream that comes from another rank."""

    def __init__(self, lane: Lane, rank: int, tag: int, count: int, device: torch.device) -> None:
        self._count, self._device, self._rank = count, device, rank
        self._room = _host(native.codec.gn_stream_bound(native.PROFILES["dense"], count), device)
        with lane.lock:
            self._request = lane.comm.irecv(self._room, rank, tag)

    def stream(self, codec: Codec) -> Stream:
        """Waits for it, and checks it."""
        return codec.receive(self._room[:self._request.wait()], self._count, self._device)


def _host(length: int, device: torch.device) -> torch.Tensor:
    return torch.empty(length, dtype=torch.uint8, pin_memory=device.type == "cuda")


def _blocks(count: int, size: int) -> List[Tuple[int, int]]:
    """A block for each rank, of whole parts."""
    each = -(-count // (PART * size)) * PART
    return [(min(r * each, count), min((r + 1) * each, count)) for r in range(size)]


def _scale_of(counts: torch.Tensor) -> int:
    numbers = (ctypes.c_uint64 * 256)(*counts.tolist())
    return int(native.comm.gn_scale_of_exponents(numbers))
