# SPDX-License-Identifier: Apache-2.0
"""The codec on a GPU: streams are made and read where the tensors are.

    codec = gradnic.gpu.Codec(k=10)
    stream = codec.encode(gradient)        # a tensor of CUDA in; its bytes stay on the device
    values = codec.decode(stream)
    codec.add(stream, sums)

Profile dense, by kernels in Triton, which PyTorch's builds for CUDA bring along. The bytes are
those of gradnic.Codec, bit for bit. Only they need to cross to the host: `stream.bytes.cpu()`. What
comes from others is checked on the host before the device reads it: `codec.receive(data, count,
device)`.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
from typing import Any, ContextManager, Optional, Tuple

import torch

from . import _dense as dense
from . import _native as native
from ._arrays import view_of
from ._errors import InvalidError, UnsupportedError, error_of
from ._types import FLOATS
from .codec import Codec as HostCodec

PART = dense.CONSTANTS["GN_PART"]
"""Values that have an entry in the index of a stream."""

_TILE = 1024  # parts or values that a program of a small kernel handles


def _kernels() -> Any:
    try:
        from . import _kernels as module
    except ImportError as error:
        raise UnsupportedError(f"Triton is not installed ({error}); PyTorch's builds for CUDA bring it along") from None
    return module


def available(device: Any = "cuda") -> bool:
    """Whether the codec runs on this device: Triton is there, and takes its tensors.

    With TRITON_INTERPRET=1, Triton's interpreter takes those of the CPU, slowly.
    """
    try:
        import triton
    except ImportError:
        return False
    if torch.device(device).type == "cuda":
        return bool(torch.cuda.is_available())
    return torch.device(device).type == "cpu" and bool(triton.knobs.runtime.interpret)


def _on(tensor: torch.Tensor) -> ContextManager[Any]:
    """Triton launches on the current device."""
    return torch.cuda.device(tensor.device) if tensor.is_cuda else contextlib.nullcontext()


@functools.lru_cache(None)
def _pairs(device: torch.device) -> torch.Tensor:
    return torch.frombuffer(bytearray(dense.PAIRS), dtype=torch.uint8).to(device)


def _parts_of(count: int) -> int:
    return -(-count // PART)


class Stream:
    """A stream of `count` values on a device. `room` may be longer than the stream is."""

    def __init__(self, room: torch.Tensor, length: torch.Tensor, count: int, index: torch.Tensor) -> None:
        self.room, self.length, self.count, self.index = room, length, count, index
        self._known: Optional[int] = None

    @property
    def nbytes(self) -> int:
        """Bytes of the stream. The first time it waits for the device."""
        if self._known is None:
            self._known = int(self.length.item())
        return self._known

    @property
    def bytes(self) -> torch.Tensor:
        """The bytes, on the device."""
        return self.room[:self.nbytes]


class Codec:
    """Profile dense on a device, with the error bound 2^-k."""

    def __init__(self, k: int = 10) -> None:
        self._host = HostCodec("dense", k)
        self.k, self._step, self._per_step = k, 2.0 ** (1 - k), 2.0 ** (k - 1)

    def __repr__(self) -> str:
        return f"gradnic.gpu.Codec(k={self.k})"

    def encode(self, values: torch.Tensor) -> Stream:
        """Compresses float values. It does not wait for the device."""
        return self._encode(values)

    def decode(self, stream: Stream, out: Optional[torch.Tensor] = None) -> torch.Tensor:
        """Decompresses a stream to `out`, or to a new tensor of float32."""
        if out is None:
            out = torch.empty(stream.count, dtype=torch.float32, device=stream.room.device)
        self._unpack(stream, out)
        return out

    def add(self, stream: Stream, sums: torch.Tensor) -> None:
        """Decompresses a stream, and adds its values to `sums`."""
        self._unpack(stream, sums, add=True)

    def receive(self, data: Any, count: int, device: Any) -> Stream:
        """Checks bytes that lie on the host, and copies them to the device as a stream.

        Bad ones raise CorruptError. From pinned memory the copy does not wait.
        """
        view, at = view_of(data, "the stream"), ctypes.c_size_t()
        index = torch.empty(_parts_of(count), dtype=torch.int64, pin_memory=torch.device(device).type == "cuda")
        wrong = native.codec.gn_stream_index(ctypes.byref(self._host._native), view.address, view.nbytes, count,
                                             index.data_ptr(), ctypes.byref(at))
        if wrong:
            raise error_of(wrong, f"byte {at.value} of the stream: it is not one of {count} values by {self!r}")
        given = data if isinstance(data, torch.Tensor) else torch.frombuffer(bytearray(data), dtype=torch.uint8) \
            if view.nbytes else torch.empty(0, dtype=torch.uint8)
        stream = Stream(given.to(device, non_blocking=True), torch.tensor([view.nbytes]), count,
                        index.to(device, non_blocking=True))
        stream._known = view.nbytes
        return stream

    def _encode(self, values: torch.Tensor, residual: Optional[torch.Tensor] = None, *, shift: int = 0,
                whole: bool = False) -> Stream:
        """Compresses (values + residual) * 2^shift. `residual` gets what is lost.

        `whole`: also a raw value becomes a multiple of the step, so that sums do.
        """
        kernels = _kernels()
        _check(values, "values", FLOATS)
        if residual is not None:
            _check(residual, "residual", (torch.float32,), values.numel())
        count, device = values.numel(), values.device
        parts = _parts_of(count)
        room = torch.empty(native.codec.gn_stream_bound(native.PROFILES["dense"], count), dtype=torch.uint8,
                           device=device)
        if not count:
            return Stream(room, torch.zeros(1, dtype=torch.int64), 0, torch.empty(0, dtype=torch.int64, device=device))
        small = torch.empty((3, parts), dtype=torch.int32, device=device)
        last, leading, carry = small[0], small[1], small[2]
        long = torch.empty((2, parts), dtype=torch.int64, device=device)
        total, index = long[0], long[1]
        scales = (2.0**shift, self._step, self._per_step)
        how = {"SCALED": bool(shift) or residual is not None, "FEEDBACK": residual is not None, "ROUND": whole}
        lost = values if residual is None else residual
        each, grid = _programs(values, parts)
        with _on(values):
            kernels.survey[grid](values, lost, count, *scales, last, leading, total, **how, **each)
            last = torch.cummax(last, 0).values
            kernels.carries[(-(-parts // _TILE),)](last, leading, total, carry, parts, BLOCK=_TILE)
            end = torch.cumsum(total, 0)
            kernels.pack[grid](values, lost, count, scales[0], 2.0**-shift, *scales[1:], leading, carry, end, room, index,
                               **how, **each)
        return Stream(room, end[-1:], count, index)

    def _unpack(self, stream: Stream, out: torch.Tensor, *, add: bool = False, shift: int = 0,
                divisor: int = 1) -> None:
        """Decompresses. `out` gets values / 2^shift / divisor."""
        kernels = _kernels()
        _check(out, "out", (torch.float32,) if add else FLOATS, stream.count)
        if not stream.count:
            return
        device, quads = out.device, -(-stream.count // (dense.CONSTANTS["GN_GROUP"] * dense.CONSTANTS["GN_QUAD_GROUPS"]))
        headers = torch.empty(quads, dtype=torch.uint16, device=device)
        payloads = torch.empty(quads, dtype=torch.int64, device=device)
        parts, length = _parts_of(stream.count), stream.room.numel() if stream._known is None else stream._known
        tile = _TILE if not out.is_cuda else 64  # many programs: each waits for memory most of the time
        each, grid = _programs(out, parts)
        with _on(out):
            kernels.walk[(-(-parts // tile),)](stream.room, length, stream.index, stream.count, parts, _pairs(device),
                                               headers, payloads, BLOCK=tile)
            kernels.unpack[grid](stream.room, length, headers, payloads, stream.count, self._step, 2.0**-shift,
                                 float(divisor), out, ADD=add, FINISH=bool(shift) or divisor != 1, **each)


def exponents(values: torch.Tensor) -> torch.Tensor:
    """Counts values by their biased exponents: 256 numbers, on the device."""
    _check(values, "values", FLOATS)
    counts = torch.zeros(256, dtype=torch.int64, device=values.device)
    if values.numel():
        block = 4096 if values.is_cuda else 1 << 16
        with _on(values):
            _kernels().exponents[(-(-values.numel() // block),)](values, values.numel(), counts, BLOCK=block)
    return counts


def _programs(tensor: torch.Tensor, parts: int) -> "Tuple[dict[str, Any], Tuple[int]]":
    """How kernels over parts are launched. The interpreter is faster with large programs."""
    each = 1 if tensor.is_cuda else min(64, 1 << (parts - 1).bit_length())
    options = {"PARTS": each}
    if tensor.is_cuda:  # one multiplication and one addition round twice, as in C
        options.update(num_warps=4, enable_fp_fusion=False)
    return options, (-(-parts // each),)


def _check(tensor: Any, what: str, types: "Tuple[Any, ...]", count: Optional[int] = None) -> None:
    if not isinstance(tensor, torch.Tensor):
        raise InvalidError(f"{what} is a {type(tensor).__name__}, not a tensor")
    if not available(tensor.device):
        raise InvalidError(f"{what} is on device {tensor.device}, where Triton does not run: gradnic.Codec takes tensors "
                           "of the CPU")
    if tensor.dtype not in types:
        names = ", ".join(str(kind).split(".")[-1] for kind in types)
        raise InvalidError(f"{what} is {str(tensor.dtype).split('.')[-1]}, not {names}")
    if not tensor.is_contiguous():
        raise InvalidError(f"{what} is not contiguous: give tensor.contiguous()")
    if count is not None and tensor.numel() != count:
        raise InvalidError(f"{what} has {tensor.numel()} values, not {count}")
