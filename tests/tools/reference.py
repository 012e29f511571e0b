# SPDX-License-Identifier: Apache-2.0
"""The codec's quantisers in NumPy, written from docs/codec.md and not from the C code: what the program is compared with."""
import numpy as np


def lattice(values, k):
    """Tags and decoded values."""
    v = np.asarray(values, dtype=np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        q = np.rint(v.astype(np.float64) * 2.0 ** (k - 1))  # ties to even, exact
        raw = ~np.isfinite(v) | (np.abs(q) > 32767)
    tags = np.where(raw, 3, np.where(q == 0, 0, np.where(np.abs(q) <= 127, 1, 2)))
    decoded = np.where(raw, 0, q + 0.0) * 2.0 ** (1 - k)
    decoded = np.where(raw, v, decoded.astype(np.float32)).astype(np.float32)
    decoded[(tags < 3) & (decoded == 0)] = 0.0  # +0.0
    return tags, decoded


def paper(values, k):
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    e = ((bits >> 23) & 255).astype(np.int64)
    sign = bits >> 31
    bound = 127 - k
    middle = bound + (127 - bound + 1) // 2
    tags = np.where(e >= 127, 3, np.where(e < bound, 0, np.where(e >= middle, 2, 1)))
    n = np.clip(127 - e, 0, 63)
    sm = ((bits & 0x7FFFFF) | 0x800000).astype(np.int64) >> n
    kept = np.where(tags == 2, sm >> 8 << 8, sm >> 16 << 16)  # fixed point, 23 fractional bits
    decoded = kept * 2.0**-23
    decoded = np.where((sign == 1) & (kept != 0), -decoded, decoded)
    decoded[tags == 0] = 0
    decoded = np.where(tags == 3, 0, decoded).astype(np.float32)
    out = decoded.view(np.uint32).copy()
    out[tags == 3] = bits[tags == 3]
    return tags, out.view(np.float32)


QUANTISERS = {"lattice": lattice, "paper": paper}
