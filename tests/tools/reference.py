# SPDX-License-Identifier: Apache-2.0
"""The codec and the container in NumPy: what the program is compared with.

Written from docs/codec.md and docs/container.md and not from the C code.
"""
import struct
import zlib

import numpy as np


def integers(values, k):
    """The common part of lattice and dense: values, integers q (0 where raw), which are raw."""
    v = np.asarray(values, dtype=np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        q = np.rint(v.astype(np.float64) * 2.0 ** (k - 1))  # ties to even, exact
        raw = ~np.isfinite(v) | (np.abs(q) > 32767)
    return v, np.where(raw, 0, q), raw


def lattice(values, k):
    """Tags and decoded values."""
    v, q, raw = integers(values, k)
    tags = np.where(raw, 3, np.where(q == 0, 0, np.where(np.abs(q) <= 127, 1, 2)))
    decoded = (q + 0.0) * 2.0 ** (1 - k)
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


PLANES = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 10, 12, 16, 32])


def dense(values, k):
    """The class of each group, the length of the stream, and decoded values."""
    v, q, raw = integers(values, k)
    groups = -(-v.size // 8)
    lanes = np.zeros(8 * groups, np.int64)
    lanes[: v.size] = q.astype(np.int64)
    some_raw = np.zeros(8 * groups, bool)
    some_raw[: v.size] = raw
    lanes, some_raw = lanes.reshape(-1, 8), some_raw.reshape(-1, 8).any(axis=1)
    bits = np.array([int(b).bit_length() for b in np.bitwise_or.reduce(lanes ^ (lanes >> 63), axis=1)], dtype=np.int64)
    negative = (lanes < 0).any(axis=1)
    signed = np.where(bits < 8, bits + 1, np.where(bits < 10, 12, np.where(bits < 12, 13, 14)))
    classes = np.where(~negative & (bits <= 3), 8 + bits, signed)
    classes[(lanes == 0).all(axis=1)] = 0
    classes[some_raw] = 15
    quads = np.zeros(-(-groups // 4) * 4, np.int64)
    quads[:groups] = classes
    zero = (quads.reshape(-1, 4) == 0).all(axis=1)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], zero.astype(np.int8), [0]))))
    runs = sum(-(-int(n) // 256) for n in edges[1::2] - edges[::2])
    size = int((PLANES[classes] + (classes == 15)).sum()) + 2 * int((~zero).sum()) + 3 * runs
    return classes, size, lattice(values, k)[1]


QUANTISERS = {"lattice": lattice, "paper": paper}


def entropy(values, k):
    """Bits per value of a perfect order-0 coder of q, with 32 more bits for each raw value."""
    v, q, raw = integers(values, k)
    counts = np.append(np.unique(q[~raw], return_counts=True)[1], raw.sum())
    p = counts[counts > 0] / v.size
    return float(-(p * np.log2(p)).sum() + 32 * raw.mean())


def read_container(data):
    """A second reader of .gn files, from docs/container.md: profile, bound exponent and values.

    It asserts instead of giving messages.
    """
    magic, profile, k, reserved, per_block, count, blocks, a, b = struct.unpack_from("<8sBbHIQQII", data)
    assert magic[:7] == b"GRADNIC" and reserved == 0 and per_block % 8 == 0 and blocks == -(-count // per_block)
    if magic[7:] == b"1":
        values, at = [], 40
        assert a == zlib.crc32(data[:32]) and b == 0
    else:
        values, at = [], 40 + a
        assert magic[7:] == b"2" and b == zlib.crc32(data[:36])
        assert sum(int(np.prod(t[3])) for t in read_directory(data)) == count
    for block in range(blocks):
        length, crc = struct.unpack_from("<II", data, at)
        stream = data[at + 8 : at + 8 + length]
        assert len(stream) == length and zlib.crc32(stream) == crc
        values.append(read_stream(stream, min(per_block, count - block * per_block), profile, k))
        at += 8 + length
    assert at == len(data)
    return profile, k, np.concatenate(values) if values else np.zeros(0, np.float32)


def read_directory(data):
    """The tensors of a file of version 2: name, type, order, shape."""
    (size,) = struct.unpack_from("<I", data, 32)
    directory, tensors, at = data[40 : 40 + size], [], 4
    assert struct.unpack("<I", directory[-4:]) == (zlib.crc32(directory[:-4]),)
    for _ in range(struct.unpack_from("<I", directory)[0]):
        length, dtype, order, dimensions, *reserved = struct.unpack_from("<HBBBBBB", directory, at)
        assert reserved == [0, 0, 0]
        shape = struct.unpack_from(f"<{dimensions}Q", directory, at + 8)
        at += 8 + 8 * dimensions + length
        tensors.append((directory[at - length : at].decode(), dtype, order, shape))
    assert at == len(directory) - 4
    return tensors


def read_stream(stream, count, profile, k):
    """From docs/codec.md."""
    return read_quads(stream, count, k) if profile == 2 else read_records(stream, count, profile, k)


def read_quads(stream, count, k):
    """Profile 2."""
    at, out = 0, []
    while len(out) < count:
        (header,) = struct.unpack_from("<H", stream, at)
        at += 2
        if not header:
            out += [0.0] * 32 * (stream[at] + 1)
            at += 1
        for group in range(4 if header else 0):
            c = header >> 4 * group & 15
            planes = stream[at : at + PLANES[c]]
            at += int(PLANES[c])
            raw = stream[at] if c == 15 else 0
            at += c == 15
            for lane in range(8):
                word = sum((plane >> lane & 1) << p for p, plane in enumerate(planes))
                if raw >> lane & 1:
                    out.append(struct.unpack("<f", struct.pack("<I", word))[0])
                else:
                    negative = c and not 9 <= c <= 11 and word >> int(PLANES[c]) - 1
                    out.append((word - (int(negative) << int(PLANES[c]))) * 2.0 ** (1 - k))
    assert at == len(stream) and not any(out[count:]) and len(out) < count + 32
    return np.array(out[:count], dtype=np.float32)


def read_records(stream, count, profile, k):
    """Profiles 0 and 1."""
    at, tags, words = 0, [], []
    for _ in range(-(-count // 8)):
        (tag_word,) = struct.unpack_from("<H", stream, at)
        at += 2
        for lane in range(8):
            tag = tag_word >> 2 * lane & 3
            size = (0, 1, 2, 4)[tag]
            tags.append(tag)
            words.append(int.from_bytes(stream[at : at + size], "little"))
            at += size
    assert at == len(stream) and not any(tags[count:])
    tags, words = np.array(tags[:count]), np.array(words[:count], dtype=np.int64)
    bits = np.array([0, 8, 16, 32])[tags]
    half = np.where(bits > 0, 1 << np.maximum(bits - 1, 0), 1)
    if profile == 1:  # two's complement
        value = np.where(words >= half, words - 2 * half, words) * 2.0 ** (1 - k)
    else:  # sign, magnitude below the binary point
        value = (words % half) / half * np.where(words >= half, -1.0, 1.0)
    out = (value + 0.0).astype(np.float32)
    out[out == 0] = 0.0
    raw = out.view(np.uint32)
    raw[tags == 3] = words[tags == 3].astype(np.uint32)
    return out
