# SPDX-License-Identifier: Apache-2.0
"""What callers give as an array: where its bytes are, without a copy.

NumPy arrays, tensors of PyTorch on the CPU, whatever has the buffer protocol (array.array, bytes,
memoryview), and with NumPy whatever speaks DLPack. Nothing here imports NumPy or PyTorch before
the caller has.
"""

from __future__ import annotations

import ctypes
import math
import operator
import sys
from typing import Any, Optional, Tuple

from ._errors import InvalidError

# Types of elements: the name here, and what NumPy, PyTorch and the buffer protocol call them.
_BY_NUMPY = {"float32": "f32", "bfloat16": "bf16", "float16": "f16", "float64": "f64", "int32": "i32", "int64": "i64",
             "uint8": "u8"}
_BY_FORMAT = {("f", 4): "float32", ("e", 2): "float16", ("d", 8): "float64", ("B", 1): "uint8", ("c", 1): "uint8",
              ("i", 4): "int32", ("l", 4): "int32", ("l", 8): "int64", ("q", 8): "int64"}


class _PyBuffer(ctypes.Structure):
    """Py_buffer, of CPython's stable ABI: it has the address of a read-only buffer."""

    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t),
                ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p)]


def _address_of(view: memoryview) -> int:
    raw = _PyBuffer()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(view), ctypes.byref(raw), 0)
    address = raw.buf or 0
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(raw))  # `view` itself keeps the memory in its place
    return address


def integer(what: str, value: Any, least: int, most: int, why: str = "") -> int:
    """Returns an integer that C takes. ctypes would drop the bits that find no room."""
    try:
        if not isinstance(value, bool) and least <= operator.index(value) <= most:
            return operator.index(value)
    except TypeError:
        pass
    raise InvalidError(f"{what} = {value!r} is not an integer from {least} to {most}{why}")


def int32(what: str, value: Any) -> int:
    """Returns an integer that fits C's int. The library says which of them are right."""
    return integer(what, value, -2**31, 2**31 - 1)


class View:
    """Elements of the caller's in memory. `owner` keeps them there."""

    __slots__ = ("address", "count", "itemsize", "type", "dtype", "shape", "fortran", "owner")

    def __init__(self, address: int, count: int, itemsize: int, dtype: str, shape: Tuple[int, ...], owner: Any,
                 fortran: bool = False) -> None:
        self.address, self.count, self.itemsize, self.shape = address, count, itemsize, shape
        self.dtype = dtype  # "float32", or what its library calls it
        self.type: Optional[str] = _BY_NUMPY.get(dtype)  # "f32"; None: not a type that can be summed
        self.fortran, self.owner = fortran, owner

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.count * self.itemsize

    def overlaps(self, other: "View") -> bool:
        """Whether two have a byte in common."""
        return self.address < other.address + other.nbytes and other.address < self.address + self.nbytes


def numpy() -> Any:
    """Returns NumPy, or None where it is not installed."""
    try:
        import numpy as module
    except ImportError:
        return None
    return module


def is_torch(value: object) -> bool:
    """Whether it is a tensor of PyTorch. It does not import PyTorch."""
    module = sys.modules.get("torch")
    return module is not None and isinstance(value, module.Tensor)


def _of_torch(tensor: Any, what: str, fortran: bool) -> View:
    if tensor.device.type != "cpu":
        raise InvalidError(f"{what} is on device {tensor.device}: give tensor.cpu()")
    if tensor.layout != sys.modules["torch"].strided:
        raise InvalidError(f"{what} is sparse: give tensor.to_dense()")
    if tensor.is_conj() or tensor.is_neg():
        raise InvalidError(f"{what} has its sign in a note beside its values: give tensor.resolve_conj().resolve_neg()")
    if not tensor.is_contiguous():
        raise InvalidError(f"{what} is not contiguous: give tensor.contiguous()")
    # `tensor.data = other` gives its memory away, though the tensor lives on.
    return View(tensor.data_ptr(), tensor.numel(), tensor.element_size(), str(tensor.dtype).split(".")[-1],
                tuple(tensor.shape), tensor.untyped_storage())


def _of_numpy(array: Any, what: str, writable: bool, fortran: bool) -> View:
    if array.dtype.hasobject:
        raise InvalidError(f"{what} holds Python's objects, which only this process has")
    if getattr(array, "mask", None) is not None and array.mask.any():
        raise InvalidError(f"{what} has a mask: give it.filled(0), or what masked elements are to be")
    by_columns = bool(fortran and array.flags.f_contiguous and not array.flags.c_contiguous)
    if not array.flags.c_contiguous and not by_columns:
        raise InvalidError(f"{what} is not contiguous: give numpy.ascontiguousarray(it)")
    if writable and not array.flags.writeable:
        raise InvalidError(f"{what} is read-only, and would be written")
    if not array.dtype.isnative:
        raise InvalidError(f"{what} has another byte order than this machine: give it.astype(it.dtype.newbyteorder('='))")
    return View(array.ctypes.data, array.size, array.itemsize, array.dtype.name, array.shape, array, by_columns)


def view_of(value: Any, what: str, *, writable: bool = False, fortran: bool = False) -> View:
    """Finds the elements of `value`. `what` names it in errors. `fortran` allows order F."""
    if is_torch(value):
        return _of_torch(value, what, fortran)
    module = sys.modules.get("numpy")
    if writable and module is not None and isinstance(value, module.generic):
        raise InvalidError(f"{what} is a scalar, and would be written: give an array of it")
    if module is not None and isinstance(value, (module.ndarray, module.generic)):
        return _of_numpy(module.asanyarray(value), what, writable, fortran)
    try:
        view = memoryview(value)
    except TypeError:
        module = numpy()
        if module is not None and hasattr(value, "__dlpack__"):
            return _of_numpy(module.from_dlpack(value), what, writable, fortran)
        raise InvalidError(f"{what} is a {type(value).__name__}: give a NumPy array, a tensor or a buffer such as "
                           "array.array('f')") from None
    if not view.c_contiguous:
        raise InvalidError(f"{what} is not contiguous")
    if writable and view.readonly:
        raise InvalidError(f"{what} is read-only, and would be written")
    if not view.itemsize or "O" in view.format:
        raise InvalidError(f"{what} has elements of format '{view.format}', which are no values")
    dtype = _BY_FORMAT.get((view.format.lstrip("@=<"), view.itemsize), view.format)
    return View(_address_of(view) if view.nbytes else 0, view.nbytes // view.itemsize, view.itemsize, dtype,
                tuple(view.shape or ()), view)


def floats_of(value: Any, what: str) -> Tuple[View, str]:
    """Finds the values of `value` as binary32, converted if need be. Returns their type, too."""
    if is_torch(value):
        value = value.detach()
        origin = str(value.dtype).split(".")[-1]
        given = value
        if origin in ("float16", "bfloat16", "float64"):
            value = value.float()
            if origin == "float64" and bool((value.isinf() & ~given.isinf()).any()):
                raise InvalidError(f"{what} has values beyond float32")
        view = view_of(value, what)
    else:
        view = view_of(value, what, fortran=True)
        origin = view.dtype
        if origin in ("float16", "bfloat16", "float64"):
            module = numpy()
            if module is None:
                raise InvalidError(f"{what} is {origin}: without NumPy only float32 is taken")
            given = module.asarray(view.owner)
            with module.errstate(over="ignore"):
                values = given.astype(module.float32)
            if origin == "float64" and bool((module.isinf(values) & ~module.isinf(given)).any()):
                raise InvalidError(f"{what} has values beyond float32")
            view = view_of(values, what, fortran=True)
    if view.dtype != "float32":
        raise InvalidError(f"{what} is {origin}, not float32, float16, bfloat16 or float64")
    return view, origin


def new_like(value: Any, shape: Tuple[int, ...]) -> Any:
    """Makes an array of the same kind and type as `value`, with another shape, not filled."""
    if is_torch(value):
        return value.new_empty(shape)
    module = numpy()
    if module is not None and not isinstance(value, (bytes, bytearray)):
        array = module.asarray(value)
        return module.empty(shape, dtype=array.dtype)
    view = memoryview(value)
    count: int = math.prod(shape)
    return _cast(memoryview(bytearray(count * view.itemsize)), view.format, shape)


def new_floats(shape: Tuple[int, ...]) -> Any:
    """Makes an array of binary32: NumPy's, or without NumPy a memoryview of format "f"."""
    module = numpy()
    if module is not None:
        return module.empty(shape, dtype=module.float32)
    count: int = math.prod(shape)
    return _cast(memoryview(bytearray(4 * count)), "f", shape)


def _cast(memory: Any, format: str, shape: Tuple[int, ...]) -> Any:
    return memory.cast(format, shape) if shape and all(shape) else memory.cast(format)
