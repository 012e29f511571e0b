# SPDX-License-Identifier: Apache-2.0
"""Compression: .gn files in memory, and the codec's bare streams."""

from __future__ import annotations

import ctypes
import math
from typing import Any, Dict, List, Mapping, Optional, Tuple

from . import _native as native
from ._arrays import View, floats_of, integer, new_floats, view_of
from ._errors import InvalidError, error_of

_BLOCK = 262144  # values that are read at a time, as in a .gn file
_RATIO_BLOCK = 65536  # values that are measured at a time, as by `gradnic ratio`


class Codec:
    """A profile and its bound: what maps values to bytes.

    A bare stream has no header and no checksum. Its reader must know the codec and the number of
    values. For files take gradnic.compress(). A codec may be shared by threads.
    """

    def __init__(self, profile: str = "dense", k: int = 10, *, kernel: Optional[str] = None) -> None:
        """The error bound is 2^-k. `kernel`: None takes the fastest. The bytes are the same."""
        number = profile_number(profile)
        lowest, highest = ctypes.c_int(), ctypes.c_int()
        native.codec.gn_profile_range(number, ctypes.byref(lowest), ctypes.byref(highest))
        k = integer("k", k, lowest.value, highest.value, f", which profile {profile} has")
        self._native, self.profile, self.k = native.Codec(), profile, k
        wrong = native.codec.gn_codec_init_kernel(ctypes.byref(self._native), number, k,
                                                  kernel.encode() if kernel else None)
        if wrong:
            raise error_of(wrong, f"this machine has no kernel '{kernel}' for profile {profile}: it has "
                                  f"{', '.join(kernels())}")

    @property
    def bound(self) -> float:
        """The largest error of a value."""
        return 2.0**-self.k

    @property
    def kernel(self) -> str:
        """The name of the code that runs, such as "avx2"."""
        name: bytes = native.codec.gn_codec_kernel_name(ctypes.byref(self._native))
        return name.decode()

    def __repr__(self) -> str:
        return f"Codec({self.profile!r}, k={self.k})"

    def __reduce__(self) -> "Tuple[type, Tuple[str, int]]":
        return Codec, (self.profile, self.k)  # which kernel is there depends on the machine

    def encode(self, values: Any) -> bytes:
        """Compresses float values to a stream."""
        view, _ = floats_of(values, "values")
        room = native.codec.gn_stream_bound(self._native.profile, view.count)
        buffer, length = ctypes.create_string_buffer(max(room, 1)), ctypes.c_size_t()
        wrong = native.codec.gn_stream_encode(ctypes.byref(self._native), view.address, view.count, buffer, room,
                                              ctypes.byref(length))
        if wrong:
            raise error_of(wrong)
        return ctypes.string_at(buffer, length.value)

    def decode(self, stream: Any, count: int, out: Any = None) -> Any:
        """Decompresses a stream of `count` values to `out`, or to a new array."""
        if out is None:
            out = new_floats((count,))
        self._take("gn_stream_decode", stream, _floats(out, "out", count))
        return out

    def add(self, stream: Any, sums: Any) -> None:
        """Decompresses a stream and adds its values to `sums`. A bad stream adds nothing."""
        self._take("gn_stream_add", stream, _floats(sums, "sums"))

    def quantise(self, values: Any, residual: Any = None) -> Any:
        """Returns what decode(encode(values)) gives, without making bytes.

        `residual`, when given, becomes values minus that: what error feedback adds to the next.
        """
        view, _ = floats_of(values, "values")
        result = new_floats(view.shape)
        kept = _floats(residual, "residual", view.count) if residual is not None else None
        if kept is not None and kept.overlaps(view):
            raise InvalidError("residual overlaps the values, which would be overwritten")
        wrong = native.codec.gn_quantise(ctypes.byref(self._native), view.address,
                                         _floats(result, "the result").address, kept.address if kept else None,
                                         view.count)
        if wrong:
            raise error_of(wrong)
        return result

    def _take(self, function: str, stream: Any, values: View) -> None:
        view, at = view_of(stream, "the stream"), ctypes.c_size_t()
        if view.overlaps(values):
            raise InvalidError("the stream overlaps the values, which would overwrite it")
        wrong = getattr(native.codec, function)(ctypes.byref(self._native), view.address, view.nbytes, values.address,
                                                values.count, ctypes.byref(at))
        if wrong:
            raise error_of(wrong, f"byte {at.value} of the stream: it is not one of {values.count} values by {self!r}")


def _floats(value: Any, what: str, count: Optional[int] = None) -> View:
    view = view_of(value, what, writable=True)
    if view.type != "f32":
        raise InvalidError(f"{what} is {view.dtype}, not float32")
    if count is not None and view.count != count:
        raise InvalidError(f"{what} has {view.count} values, not {count}")
    return view


def profile_number(name: str) -> int:
    """Returns the number of a profile."""
    if name not in native.PROFILES:
        raise InvalidError(f"there is no profile {name!r}: {', '.join(native.PROFILES)}")
    return native.PROFILES[name]


def kernels() -> List[str]:
    """Returns the kernels that run on this machine, slowest first."""
    names: List[str] = []
    while (name := native.codec.gn_kernel_name(len(names))) is not None:
        names.append(name.decode())
    return names


def ratio(array: Any, k: int = 10, profile: str = "dense") -> float:
    """Returns bytes of the values as float32 / bytes of their stream, as `gradnic ratio` does."""
    codec = Codec(profile, k)
    view, _ = floats_of(array, "the array")
    room = native.codec.gn_stream_bound(codec._native.profile, min(view.count, _RATIO_BLOCK))
    buffer, length, total = ctypes.create_string_buffer(max(room, 1)), ctypes.c_size_t(), 0
    for first in range(0, view.count, _RATIO_BLOCK):
        wrong = native.codec.gn_stream_encode(ctypes.byref(codec._native), view.address + 4 * first,
                                              min(_RATIO_BLOCK, view.count - first), buffer, room, ctypes.byref(length))
        if wrong:
            raise error_of(wrong)
        total += length.value
    return 4 * view.count / total if total else math.nan


def compress(array: Any, k: int = 10, profile: str = "dense", *, kernel: Optional[str] = None) -> bytes:
    """Compresses an array to the bytes of a .gn file, with |error| <= 2^-k of each value.

    `array` is an array or tensor of float32, float16, bfloat16 or float64. It may also be a mapping
    of names to such arrays, as state_dict() gives. Types and shapes are kept as a note; the values
    become float32. The bytes are those that `gradnic compress` writes for the same .npy or .npz.
    """
    codec = Codec(profile, k, kernel=kernel)
    named = isinstance(array, Mapping)
    items = list(array.items()) if isinstance(array, Mapping) else [("", array)]
    if not items:
        raise InvalidError("there are no arrays to compress")
    parts: List[Tuple[str, View, str]] = []
    for name, value in items:
        if not isinstance(name, str):
            raise InvalidError(f"the name {name!r} of an array is not a string")
        if "\0" in name:
            raise InvalidError(f"the name {name!r} of an array has a zero byte")
        try:
            name.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError as error:
            raise InvalidError(f"the name {name!r} of an array is not Unicode: {error.reason}") from None
        view, origin = floats_of(value, f"the array '{name}'" if named else "the array")
        parts.append((name, view, origin))
    return _write(codec, parts, plain=not named and len(parts[0][1].shape) == 1 and parts[0][2] == "float32")


def _write(codec: Codec, parts: List[Tuple[str, View, str]], plain: bool) -> bytes:
    output = bytearray()

    def write(_context: int, data: int, size: int) -> int:
        try:
            output.extend((ctypes.c_char * size).from_address(data))
        except MemoryError:  # an exception would count as success
            return native.NO_MEMORY
        return native.OK

    write_function, writer = native.WriteFunction(write), ctypes.c_void_p()
    if plain:
        wrong = native.codec.gn_container_writer_new(ctypes.byref(writer), ctypes.byref(codec._native), 0,
                                                     parts[0][1].count, write_function, None)
    else:
        tensors = (native.ContainerTensor * len(parts))()
        for tensor, (name, view, origin) in zip(tensors, parts):
            tensor.name = name.encode("utf-8", "surrogateescape")
            tensor.dtype, tensor.fortran_order = native.DTYPES[origin], view.fortran
            tensor.dimensions = len(view.shape)
            tensor.shape = (ctypes.c_uint64 * max(len(view.shape), 1))(*view.shape)
        wrong = native.codec.gn_container_writer_new_tensors(ctypes.byref(writer), ctypes.byref(codec._native), 0,
                                                             tensors, len(parts), write_function, None)
    if wrong:
        raise error_of(wrong, "names, types and shapes do not fit a .gn file: names have at most 1024 bytes; "
                              "shapes have at most 64 dimensions" if wrong == native.INVALID
                              else "")
    for _, view, _ in parts:
        wrong = native.codec.gn_container_write(writer, view.address, view.count)
        if wrong:
            native.codec.gn_container_writer_abort(writer)
            raise error_of(wrong)
    wrong = native.codec.gn_container_writer_finish(writer, None)
    if wrong:
        raise error_of(wrong)
    return bytes(output)


def decompress(data: Any, *, limit: Optional[int] = None) -> Any:
    """Decompresses the bytes of a .gn file. A damage is a CorruptError that names block and byte.

    Returns an array of float32 in its shape: NumPy's, or without NumPy a memoryview of format "f".
    A file of tensors with names gives a dict of them. A few bytes may stand for very many zeros.
    So a file of a stranger's wants a `limit`: a file with more bytes of values is an InvalidError.
    """
    most = None if limit is None else integer("limit", limit, 0, 2**63 - 1)
    source = view_of(data, "the data")
    position = 0

    def read(_context: int, to: int, size: int, got: Any) -> int:
        nonlocal position
        taken = min(size, source.nbytes - position)
        if taken:
            ctypes.memmove(to, source.address + position, taken)
        position += taken
        got[0] = taken
        return native.OK

    read_function, reader = native.ReadFunction(read), ctypes.c_void_p()
    wrong = native.codec.gn_container_reader_new(ctypes.byref(reader), read_function, None, None)
    try:
        _check(wrong, reader)
        size = 4 * native.codec.gn_container_reader_info(reader).contents.value_count
        if most is not None and size > most:
            raise InvalidError(f"the file holds {size} bytes of values, and the limit is {most}")
        return _read_all(reader, source.nbytes)
    finally:
        native.codec.gn_container_reader_free(reader)


def _check(status: int, reader: ctypes.c_void_p) -> None:
    if not status:
        return
    text = ""
    if reader and status in (native.CORRUPT, native.TRUNCATED, native.UNSUPPORTED):
        text = native.codec.gn_container_reader_fault(reader).contents.text.decode("utf-8", "replace")
    raise error_of(status, text)


def _read_all(reader: ctypes.c_void_p, length: int) -> Any:
    info = native.codec.gn_container_reader_info(reader).contents
    number = ctypes.c_size_t()
    table = native.codec.gn_container_reader_tensors(reader, ctypes.byref(number))
    result: Dict[str, Any] = {}
    if not number.value:
        result[""] = _read_one(reader, (info.value_count,), False, length)
    for tensor in table[: number.value]:
        name = tensor.name.decode("utf-8", "surrogateescape")
        shape = tuple(tensor.shape[: tensor.dimensions])
        result[name] = _read_one(reader, shape, tensor.fortran_order, length)
    _read_values(reader, (ctypes.c_float * 1)(), 0, 1)  # nothing may follow
    return result[""] if list(result) == [""] else result


def _read_one(reader: ctypes.c_void_p, shape: Tuple[int, ...], fortran: bool, length: int) -> Any:
    """Reads one array. Where a header announces very much, memory grows as blocks come."""
    count: int = math.prod(shape)
    # A quad of zeros in a run costs next to nothing, so bytes do not limit values. A block does.
    if count > 4096 * length:
        return _read_grown(reader, shape, fortran)
    values = new_floats((count,))
    _read_values(reader, values, count, count)
    return _shaped(values, shape, fortran)


def _read_grown(reader: ctypes.c_void_p, shape: Tuple[int, ...], fortran: bool) -> Any:
    count, grown = math.prod(shape), bytearray()
    piece = (ctypes.c_float * _BLOCK)()
    while len(grown) < 4 * count:
        want = min(_BLOCK, count - len(grown) // 4)
        _read_values(reader, piece, want, want)
        grown += memoryview(piece).cast("B")[: 4 * want]
    values = new_floats((count,))
    ctypes.memmove(_floats(values, "the values").address, bytes(grown), len(grown))
    return _shaped(values, shape, fortran)


def _read_values(reader: ctypes.c_void_p, values: Any, count: int, capacity: int) -> None:
    """Reads exactly `count` values. With count 0 and capacity 1 it sees that there are no more."""
    address = ctypes.addressof(values) if isinstance(values, ctypes.Array) else _floats(values, "the values").address
    done, got = 0, ctypes.c_size_t()
    while done < capacity:
        _check(native.codec.gn_container_read(reader, address + 4 * done, capacity - done, ctypes.byref(got)), reader)
        if not got.value:
            break
        done += got.value
    if done != count:
        raise error_of(native.CORRUPT, f"the file has {done} values where {count} were announced")


def _shaped(values: Any, shape: Tuple[int, ...], fortran: bool) -> Any:
    if hasattr(values, "reshape"):
        return values.reshape(shape, order="F" if fortran else "C")
    if len(shape) == 1 or not math.prod(shape):
        return values
    if fortran:
        raise InvalidError("an array in order F needs NumPy")
    return values.cast("B").cast("f", shape)
