# SPDX-License-Identifier: Apache-2.0
"""The numbers of profile dense, as the library has them, and tables made of them.

A table has an entry of 8 bits for each of 16 indices. It is two numbers of 64 bits, since kernels
look up by shifting.
"""

from __future__ import annotations

import ctypes
from typing import Callable, Dict, List, Tuple

from . import _native as native

CONSTANTS: Dict[str, int] = {}
"""GN_QUAD_HEADER and the like."""
_classes: Dict[str, List[int]] = {}  # "planes", "bytes" and "unsigned", by class

_count = native.Z()
_rows = native.codec.gn_dense_constants(ctypes.byref(_count))
for _row in _rows[:_count.value]:
    if _row.name.startswith(b"GN_"):
        CONSTANTS[_row.name.decode()] = _row.value
    else:
        _classes.setdefault(_row.name.decode(), []).append(_row.value)

PLANES, BYTES, UNSIGNED = _classes["planes"], _classes["bytes"], _classes["unsigned"]
WORDS = CONSTANTS["GN_CLASS_WORDS"]
CLASSES = CONSTANTS["GN_CLASS_COUNT"]

Table = Tuple[int, int]


def table(entry: Callable[[int], int]) -> Table:
    """Makes a table."""
    low, high = (sum(entry(first + i) << 8 * i for i in range(8)) for first in (0, 8))
    return low, high


def class_of(bits: int, negative: bool) -> int:
    """The class of a group without raw values. `bits`: of its largest magnitude."""
    if not negative:
        fits = [c for c in range(CLASSES) if (UNSIGNED[c] or not c) and PLANES[c] >= bits]
        if fits:
            return fits[0]
    return next(c for c in range(1, CLASSES) if not UNSIGNED[c] and PLANES[c] > bits)


def planes_of_sign(number: int) -> int:
    """Planes of a class whose words have a sign to extend, else 0."""
    return PLANES[number] if not UNSIGNED[number] and PLANES[number] < 32 else 0


PAIRS = bytes(BYTES[pair & 15] + BYTES[pair >> 4] for pair in range(256))
"""Payload bytes of two groups, by their byte of a quad's header."""
