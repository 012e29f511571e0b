# SPDX-License-Identifier: Apache-2.0
"""The C libraries that the package carries, by ctypes.

Structures are declared here a second time. They are compared with the library's own description
(gn_codec_layout(), gn_comm_layout()) when this module is imported. A library that differs is
refused, by the name of the field. Numbers of enumerations come from the library, by name.
"""

from __future__ import annotations

import ctypes
import os
from typing import Callable, Dict, List, Type

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")
"""Where the libraries are."""

P, I, Z, U = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, ctypes.c_uint
B, S, D = ctypes.c_bool, ctypes.c_char_p, ctypes.c_double
U16, U32, U64 = ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64


class LibraryMismatch(ImportError):
    """The libraries beside the package are of another version than the package."""


class Layout(ctypes.Structure):
    """gn_layout"""

    _fields_ = [("structure", S), ("field", S), ("offset", Z), ("size", Z)]


class Constant(ctypes.Structure):
    """gn_constant"""

    _fields_ = [("name", S), ("value", ctypes.c_int64)]


class Codec(ctypes.Structure):
    """gn_codec"""

    _fields_ = [("profile", I), ("bound_exp", I), ("kernel", P)]


class ContainerInfo(ctypes.Structure):
    """gn_container_info"""

    _fields_ = [("profile", I), ("bound_exp", I), ("values_per_block", U32), ("value_count", U64),
                ("block_count", U64), ("directory_bytes", U32)]


class ContainerTensor(ctypes.Structure):
    """gn_container_tensor"""

    _fields_ = [("name", S), ("dtype", I), ("fortran_order", B), ("dimensions", U),
                ("shape", ctypes.POINTER(U64)), ("count", U64)]


class ContainerFault(ctypes.Structure):
    """gn_container_fault"""

    _fields_ = [("block", U64), ("offset", U64), ("text", ctypes.c_char * 160)]


LogFunction = ctypes.CFUNCTYPE(None, P, I, S)
InterruptedFunction = ctypes.CFUNCTYPE(B, P)
WriteFunction = ctypes.CFUNCTYPE(I, P, P, Z)
ReadFunction = ctypes.CFUNCTYPE(I, P, P, Z, ctypes.POINTER(Z))


class _Channels(ctypes.Union):
    _fields_ = [("switch_channels", U), ("switch_streams", U)]


class Config(ctypes.Structure):
    """gn_comm_config"""

    _anonymous_ = ("channels",)
    _fields_ = [("rank", I), ("size", I), ("rendezvous", S), ("interface", S), ("timeout_ms", I),
                ("algorithm", I), ("segment_bytes", Z), ("offload", I), ("data_tos", I),
                ("no_shared_memory", B), ("switch_address", S), ("channels", _Channels),
                ("switch_slots", U), ("switch_values", U), ("switch_rto_us", U), ("switch_half", I), ("switch_nic", B),
                ("aggregator_weights", B), ("quantise", B), ("codec", Codec), ("scale", I),
                ("scale_target", ctypes.c_int8), ("wire", P), ("wire_plain", P),
                ("wire_context", P), ("log", LogFunction), ("log_context", P),
                ("interrupted", InterruptedFunction), ("interrupted_context", P), ("secret_file", S),
                ("groups", S), ("group_offload", I)]


class Call(ctypes.Structure):
    """gn_call"""

    _fields_ = [("collective", I), ("type", I), ("op", I), ("send", P), ("recv", P), ("count", Z),
                ("counts", ctypes.POINTER(Z)), ("root", I), ("to", I), ("lossy", B),
                ("residual", P), ("id", U32), ("layer", U16), ("layers", U16)]


class Stats(ctypes.Structure):
    """gn_comm_stats"""

    _fields_ = [("sent_bytes", U64), ("received_bytes", U64), ("quantise_seconds", D),
                ("reduce_seconds", D), ("wait_seconds", D), ("total_seconds", D),
                ("resent_packets", U64), ("late_packets", U64), ("fallback_chunks", U64),
                ("sent_wire_bytes", U64), ("received_wire_bytes", U64),
                ("group_sent_bytes", U64), ("group_received_bytes", U64), ("group_sent_wire_bytes", U64),
                ("group_received_wire_bytes", U64)]


class Received(ctypes.Structure):
    """gn_received"""

    _fields_ = [("rank", I), ("tag", I), ("bytes", Z)]


STRUCTURES: Dict[str, Type[ctypes.Structure]] = {
    "gn_layout": Layout,
    "gn_constant": Constant,
    "gn_codec": Codec,
    "gn_container_info": ContainerInfo,
    "gn_container_tensor": ContainerTensor,
    "gn_container_fault": ContainerFault,
    "gn_comm_config": Config,
    "gn_call": Call,
    "gn_received": Received,
    "gn_comm_stats": Stats,
}


def _load(name: str, *, everywhere: bool = False) -> ctypes.CDLL:
    path = os.path.join(FOLDER, name)
    try:
        return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL if everywhere else ctypes.DEFAULT_MODE)
    except OSError as error:
        raise ImportError(f"gradnic: {error}; 'pip install --force-reinstall' brings {path} back") from None


codec = _load("libgradnic.so.0")
comm = _load("libgradnic-comm.so.0")


def _declare() -> None:
    """Says what functions take and give. Those that are not here take and give int."""
    pointer = ctypes.POINTER
    status = I
    table = [
        (codec, "gn_codec_layout", pointer(Layout), [pointer(Z)]),
        (codec, "gn_dense_constants", pointer(Constant), [pointer(Z)]),
        (codec, "gn_status_string", S, [I]),
        (codec, "gn_codec_init_kernel", status, [pointer(Codec), I, I, S]),
        (codec, "gn_codec_kernel_name", S, [pointer(Codec)]),
        (codec, "gn_kernel_name", S, [U]),
        (codec, "gn_profile_name", S, [I]),
        (codec, "gn_profile_range", status, [I, pointer(I), pointer(I)]),
        (codec, "gn_stream_bound", Z, [I, Z]),
        (codec, "gn_stream_encode", status, [pointer(Codec), P, Z, P, Z, pointer(Z)]),
        (codec, "gn_stream_decode", status, [pointer(Codec), P, Z, P, Z, pointer(Z)]),
        (codec, "gn_stream_index", status, [pointer(Codec), P, Z, Z, P, pointer(Z)]),
        (codec, "gn_stream_add", status, [pointer(Codec), P, Z, P, Z, pointer(Z)]),
        (codec, "gn_quantise", status, [pointer(Codec), P, P, P, Z]),
        (codec, "gn_container_writer_new", status, [pointer(P), pointer(Codec), U32, U64, WriteFunction, P]),
        (codec, "gn_container_writer_new_tensors", status,
         [pointer(P), pointer(Codec), U32, pointer(ContainerTensor), Z, WriteFunction, P]),
        (codec, "gn_container_write", status, [P, P, Z]),
        (codec, "gn_container_writer_finish", status, [P, P]),
        (codec, "gn_container_writer_abort", None, [P]),
        (codec, "gn_container_reader_new", status, [pointer(P), ReadFunction, P, S]),
        (codec, "gn_container_reader_free", None, [P]),
        (codec, "gn_container_reader_info", pointer(ContainerInfo), [P]),
        (codec, "gn_container_reader_tensors", pointer(ContainerTensor), [P, pointer(Z)]),
        (codec, "gn_container_reader_fault", pointer(ContainerFault), [P]),
        (codec, "gn_container_read", status, [P, P, Z, pointer(Z)]),
        (comm, "gn_comm_layout", pointer(Layout), [pointer(Z)]),
        (comm, "gn_op_name", S, [I]),
        (comm, "gn_type_name", S, [I]),
        (comm, "gn_algorithm_name", S, [I]),
        (comm, "gn_offload_name", S, [I]),
        (comm, "gn_collective_name", S, [I]),
        (comm, "gn_comm_config_default", Config, []),
        (comm, "gn_comm_config_check", status, [pointer(Config)]),
        (comm, "gn_comm_init", status, [pointer(P), pointer(Config)]),
        (comm, "gn_comm_run", status, [P, pointer(Call)]),
        (comm, "gn_comm_start", status, [P, pointer(Call), pointer(P)]),
        (comm, "gn_comm_split", status, [P, I, I, pointer(P)]),
        (comm, "gn_test", status, [P, pointer(B)]),
        (comm, "gn_wait_done", status, [P, pointer(B)]),
        (comm, "gn_isend", status, [P, P, Z, I, I, pointer(P)]),
        (comm, "gn_irecv", status, [P, P, Z, I, I, pointer(Received), pointer(P)]),
        (comm, "gn_scale_of_exponents", I, [P]),
        (comm, "gn_scale_shift", I, [I, I]),
        (comm, "gn_comm_abort", status, [P, S]),
        (comm, "gn_comm_scale", I, [P, U32]),
        (comm, "gn_comm_set_scale", status, [P, U32, I]),
        (comm, "gn_comm_free", None, [P]),
        (comm, "gn_comm_rank", I, [P]),
        (comm, "gn_comm_size", I, [P]),
        (comm, "gn_comm_last_error", S, [P]),
        (comm, "gn_comm_get_stats", Stats, [P]),
    ]
    for library, name, result, arguments in table:
        function = getattr(library, name, None)
        if function is None:
            raise LibraryMismatch(f"gradnic: the library in {FOLDER} has no {name}: it is of another version")
        function.restype = result
        function.argtypes = arguments


def fields_of(structure: Type[ctypes.Structure]) -> Dict[str, "tuple[int, int]"]:
    """Returns offset and size of each field that has a name, as ctypes has laid them out."""
    names: List[str] = []
    for name, kind in [entry[:2] for entry in structure._fields_]:
        if name in getattr(structure, "_anonymous_", ()):
            names += [inner[0] for inner in getattr(kind, "_fields_")]
        else:
            names.append(name)
    return {name: (getattr(structure, name).offset, getattr(structure, name).size) for name in names}


def check_layout(rows: "List[tuple[str, str, int, int]]", structures: Dict[str, Type[ctypes.Structure]]) -> None:
    """Compares structures with rows of (structure, field, offset, size), where "" is no field.

    Raises LibraryMismatch, which names the first difference.
    """
    seen: Dict[str, Dict[str, "tuple[int, int]"]] = {}
    for structure, field, offset, size in rows:
        seen.setdefault(structure, {})[field] = (offset, size)
    for name, declared in structures.items():
        theirs = seen.get(name)
        if theirs is None:
            raise LibraryMismatch(f"gradnic: the library in {FOLDER} does not describe {name}")
        ours = dict(fields_of(declared))
        ours[""] = (0, ctypes.sizeof(declared))
        for field in [*filter(None, [*theirs, *ours]), ""]:  # the structure as a whole comes last
            if ours.get(field) == theirs.get(field):
                continue
            what = f"{name}.{field}" if field else name
            told = [f"at {at[0]} with {at[1]} bytes" if at else "missing" for at in (ours.get(field), theirs.get(field))]
            raise LibraryMismatch(f"gradnic: {what} is {told[0]} in the Python package, and {told[1]} in the library "
                                  f"in {FOLDER}. They are of different versions: install gradnic again")


def library_rows() -> "List[tuple[str, str, int, int]]":
    """Returns what the libraries say of their structures."""
    rows = []
    for function in (codec.gn_codec_layout, comm.gn_comm_layout):
        count = Z()
        table = function(ctypes.byref(count))
        rows += [(table[i].structure.decode(), table[i].field.decode(), table[i].offset, table[i].size)
                 for i in range(count.value)]
    return rows


def _names(function: Callable[[int], "bytes | None"]) -> Dict[str, int]:
    names: Dict[str, int] = {}
    while (name := function(len(names))) is not None:
        names[name.decode()] = len(names)
    return names


_declare()
check_layout(library_rows(), STRUCTURES)

PROFILES = _names(codec.gn_profile_name)
OPS = _names(comm.gn_op_name)
TYPES = _names(comm.gn_type_name)
ALGORITHMS = _names(comm.gn_algorithm_name)
OFFLOADS = _names(comm.gn_offload_name)
COLLECTIVES = _names(comm.gn_collective_name)

# gn_status has no names of its own in C, only texts: these are the numbers of status.h, and the
# tests compare them with it. The same holds for gn_scale, gn_dtype and gn_log_level.
(OK, INVALID, NO_SPACE, NO_MEMORY, CORRUPT, TRUNCATED, UNSUPPORTED, IO, TIMEOUT, PEER_LOST, MISMATCH,
 ABORTED, DEAD) = range(13)
SCALES = {"none": 0, "auto": 1}
DTYPES = {"float32": 0, "float16": 1, "bfloat16": 2, "float64": 3}
LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG = range(4)
BUCKET_NONE = 2**32 - 1
SCALE_UNSEEN: int = comm.gn_scale_of_exponents((U64 * 256)())
