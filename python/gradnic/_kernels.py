# SPDX-License-Identifier: Apache-2.0
"""Profile dense on a GPU: kernels in Triton. docs/codec.md defines every bit that they make.

A part is 64 quads, 2048 values. A program handles PARTS of them, one on a GPU. Encoding takes two
passes over the values:

1. survey(): how many bytes the parts have, but for runs of zeros that began in a part before.
2. carries(): those runs. Behind it, a sum over all parts says where each part begins.
3. pack(): the bytes, and the index.

Decoding takes the index. walk() finds the quads of all parts side by side, unpack() their values.
An index comes from pack(), or from gn_stream_index(), which has checked the stream.
"""

# No "from __future__ import annotations": Triton reads the annotations itself.
import triton
import triton.language as tl

from . import _dense as dense

QUADS = tl.constexpr(dense.CONSTANTS["GN_PART"] // (dense.CONSTANTS["GN_QUAD_GROUPS"] * dense.CONSTANTS["GN_GROUP"]))
QUAD_GROUPS = tl.constexpr(dense.CONSTANTS["GN_QUAD_GROUPS"])
GROUP = tl.constexpr(dense.CONSTANTS["GN_GROUP"])
HEADER = tl.constexpr(dense.CONSTANTS["GN_QUAD_HEADER"])
RUN_ITEM = tl.constexpr(dense.CONSTANTS["GN_RUN_ITEM"])
RUN_QUADS = tl.constexpr(dense.CONSTANTS["GN_RUN_QUADS"])
WORDS = tl.constexpr(dense.WORDS)
LARGEST = tl.constexpr(dense.CONSTANTS["GN_LATTICE_MAX"])
ITEM_SHIFT = tl.constexpr(dense.CONSTANTS["GN_PART_ITEM_SHIFT"])
ITEM_MOST = tl.constexpr((1 << dense.CONSTANTS["GN_PART_ITEM_SHIFT"]) - 1)

_BYTES = dense.table(dense.BYTES.__getitem__)
_PLANES = dense.table(dense.PLANES.__getitem__)
_SIGNED = dense.table(dense.planes_of_sign)
_ANY = dense.table(lambda bits: dense.class_of(bits, True))
_POSITIVE = dense.table(lambda bits: dense.class_of(bits, False))
BYTES_LOW, BYTES_HIGH = tl.constexpr(_BYTES[0]), tl.constexpr(_BYTES[1])
PLANES_LOW, PLANES_HIGH = tl.constexpr(_PLANES[0]), tl.constexpr(_PLANES[1])
SIGNED_LOW, SIGNED_HIGH = tl.constexpr(_SIGNED[0]), tl.constexpr(_SIGNED[1])
ANY_LOW, ANY_HIGH = tl.constexpr(_ANY[0]), tl.constexpr(_ANY[1])
POSITIVE_LOW, POSITIVE_HIGH = tl.constexpr(_POSITIVE[0]), tl.constexpr(_POSITIVE[1])

# Adding it to a number below 2^22 rounds to an integer, ties to even, in the low bits of the sum.
ROUNDER = tl.constexpr(12582912.0)
ROUNDER_BITS = tl.constexpr(0x4B400000)
WHOLE = tl.constexpr(8388608.0)  # 2^23: binary32 has no fractions from here on
STEPS_MOST = tl.constexpr(16777216.0)  # 2^24: every binary32 beyond is a whole number of steps


@triton.jit
def look(low, high, at):
    """An entry of a table."""
    entries = tl.where(at < 8, low, high).to(tl.int64)
    return ((entries >> ((at & 7) * 8).to(tl.int64)) & 255).to(tl.int32)


@triton.jit
def bit_length(number):
    """Bits that a number below 2^24 needs. binary32 has them in its exponent."""
    exponent = number.to(tl.float32).to(tl.int32, bitcast=True) >> 23
    return tl.maximum(exponent - 126, 0)


@triton.jit
def highest_bit(x):
    """The number of the highest set bit of a uint64, or 0."""
    at = tl.zeros_like(x).to(tl.int32)
    for shift in tl.static_range(6):
        above = x >> (32 >> shift)
        at += tl.where(above != 0, 32 >> shift, 0)
        x = tl.where(above != 0, above, x)
    return at


@triton.jit
def transpose(x):
    """Eight bytes of eight bits: bit j of byte i becomes bit i of byte j."""
    t = (x ^ (x >> 7)) & 0x00AA00AA00AA00AA
    x = x ^ t ^ (t << 7)
    t = (x ^ (x >> 14)) & 0x0000CCCC0000CCCC
    x = x ^ t ^ (t << 14)
    t = (x ^ (x >> 28)) & 0x00000000F0F0F0F0
    return x ^ t ^ (t << 28)


@triton.jit
def load_floats(values, mask):
    """Reads floats as binary32. bfloat16 is the upper half of one."""
    if values.dtype.element_ty == tl.bfloat16:
        halves = tl.load(values, mask=mask, other=0.0).to(tl.int16, bitcast=True)
        return (halves.to(tl.int32) << 16).to(tl.float32, bitcast=True)
    else:
        return tl.load(values, mask=mask, other=0.0).to(tl.float32)


@triton.jit
def store_floats(out, v, mask):
    """Writes binary32 as floats, rounded to nearest, ties to even."""
    if out.dtype.element_ty == tl.bfloat16:
        bits = v.to(tl.uint32, bitcast=True)
        halves = tl.where(v == v, bits + 0x7FFF + ((bits >> 16) & 1), bits | 0x400000) >> 16
        tl.store(out, halves.to(tl.int16).to(tl.bfloat16, bitcast=True), mask=mask)
    else:
        tl.store(out, v.to(out.dtype.element_ty), mask=mask)


@triton.jit
def own(values, residual, at, mask, scale, step, per_step, SCALED: tl.constexpr, FEEDBACK: tl.constexpr,
        ROUND: tl.constexpr):
    """A rank's own values, before they are quantised, and after outliers are rounded.

    What exceeds 32767 steps is written raw. But only multiples of the step may enter a sum.
    """
    v = load_floats(values + at, mask)
    if FEEDBACK:
        v = v + tl.load(residual + at, mask=mask, other=0.0)
    if SCALED:
        v = v * scale
    coded = v
    if ROUND:
        steps = tl.abs(v * per_step)
        whole = tl.where(steps < WHOLE, (steps + WHOLE) - WHOLE, steps) * step
        outlier = (steps > LARGEST) & (steps < STEPS_MOST)
        coded = tl.where(outlier, tl.where(v < 0, -whole, whole), v)
    return v, coded


@triton.jit
def words_of(v, per_step):
    """Words of dense: q, or the bits of a raw value."""
    steps = v * per_step
    plain = tl.abs(steps) < LARGEST + 0.5  # what is not a number is raw, too
    q = (tl.where(plain, steps, 0.0) + ROUNDER).to(tl.int32, bitcast=True) - ROUNDER_BITS
    return tl.where(plain, q, v.to(tl.int32, bitcast=True)), plain


@triton.jit
def class_of(words, plain):
    """The classes of groups: [groups, 8] to [groups]."""
    negative = tl.max((words < 0).to(tl.int32), axis=1)
    bits = bit_length(tl.max(tl.where(plain, words ^ (words >> 31), 0), axis=1))
    kind = tl.where(negative != 0, look(ANY_LOW, ANY_HIGH, bits), look(POSITIVE_LOW, POSITIVE_HIGH, bits))
    return tl.where(tl.min(plain.to(tl.int32), axis=1) == 0, WORDS, kind)


@triton.jit
def up_to(part_bits):
    """Sets of quads: [parts] to [parts, QUADS], those up to and with each quad."""
    quad = tl.arange(0, QUADS)[None, :].to(tl.uint64)
    return part_bits[:, None] & (tl.full([1, 1], 0xFFFFFFFFFFFFFFFF, tl.uint64) >> (63 - quad))


@triton.jit
def set_of(flags):
    """A set of quads as bits: [parts, QUADS] to [parts]."""
    quad = tl.arange(0, QUADS)[None, :].to(tl.uint64)
    return tl.sum(flags.to(tl.uint64) << quad, axis=1)


@triton.jit
def places(first_part, count, PARTS: tl.constexpr):
    """Where the values of a program lie: [groups, 8], and which there are."""
    group = tl.arange(0, PARTS * QUADS * QUAD_GROUPS)
    lane = tl.arange(0, GROUP)
    first = first_part.to(tl.int64) * (QUADS * QUAD_GROUPS * GROUP)
    at = first + (group[:, None] * GROUP + lane[None, :])
    return at, at < count


@triton.jit
def survey(values, residual, count, scale, step, per_step, last, leading, total, SCALED: tl.constexpr,
           FEEDBACK: tl.constexpr, ROUND: tl.constexpr, PARTS: tl.constexpr):
    """For each part: its last quad that is not zeros (-1: none), zeros it begins with, bytes."""
    first_part = tl.program_id(0) * PARTS
    at, mask = places(first_part, count, PARTS)
    _, v = own(values, residual, at, mask, scale, step, per_step, SCALED, FEEDBACK, ROUND)
    words, plain = words_of(v, per_step)
    kinds = class_of(words, plain)
    bytes = tl.reshape(look(BYTES_LOW, BYTES_HIGH, kinds), [PARTS * QUADS, QUAD_GROUPS])
    payload = tl.reshape(tl.sum(bytes, axis=1), [PARTS, QUADS])
    part = first_part + tl.arange(0, PARTS)
    quad = part[:, None] * QUADS + tl.arange(0, QUADS)[None, :]
    here = quad < tl.cdiv(count, QUAD_GROUPS * GROUP)
    filled = payload != 0
    bits = set_of(filled)
    before = up_to(bits)
    # A quad of zeros behind one that is not begins a run.
    begins = ((bits << 1)[:, None] >> tl.arange(0, QUADS)[None, :].to(tl.uint64)) & 1
    begins = (begins != 0) & (filled == 0) & here
    there = part * QUADS < tl.cdiv(count, QUAD_GROUPS * GROUP)
    tl.store(last + part, tl.where(bits != 0, part * QUADS + highest_bit(bits), -1), mask=there)
    tl.store(leading + part, tl.sum(((before == 0) & here).to(tl.int32), axis=1), mask=there)
    size = tl.where(filled, payload + HEADER, 0) + tl.where(begins, RUN_ITEM, 0)
    tl.store(total + part, tl.sum(size, axis=1).to(tl.int64), mask=there)


@triton.jit
def carries(last, leading, total, carry, parts, BLOCK: tl.constexpr):
    """Zeros in a row ahead of each part, modulo a run's most. Adds runs that begin in the part.

    `last` is the largest of this part's and all before it.
    """
    part = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    here = part < parts
    before = tl.load(last + part - 1, mask=here & (part > 0), other=-1)
    zeros = (part * QUADS - 1 - before) & (RUN_QUADS - 1)
    begins = ((RUN_QUADS - zeros) & (RUN_QUADS - 1)) < tl.load(leading + part, mask=here, other=0)
    size = tl.load(total + part, mask=here, other=0)
    tl.store(total + part, size + tl.where(begins, RUN_ITEM, 0), mask=here)
    tl.store(carry + part, zeros, mask=here)


@triton.jit
def put(stream, at, word, wanted):
    """Writes a byte."""
    tl.store(stream + at, (word & 255).to(tl.uint8), mask=wanted)


@triton.jit
def put_planes(stream, at, words, planes, FIRST: tl.constexpr):
    """Writes up to eight planes of groups, the first of them plane FIRST."""
    lane = tl.arange(0, GROUP)[None, :].to(tl.uint64)
    columns = transpose(tl.sum(((words >> FIRST) & 255).to(tl.uint64) << (lane * 8), axis=1))
    for plane in tl.static_range(8):
        put(stream, at + (FIRST + plane), columns >> (8 * plane), planes > FIRST + plane)


@triton.jit
def pack(values, residual, count, scale, unscale, step, per_step, leading, carry, end, stream, index,
         SCALED: tl.constexpr, FEEDBACK: tl.constexpr, ROUND: tl.constexpr, PARTS: tl.constexpr):
    """Writes the bytes of parts. `end`: where each part ends. `residual` gets what is lost."""
    first_part = tl.program_id(0) * PARTS
    at, mask = places(first_part, count, PARTS)
    v, coded = own(values, residual, at, mask, scale, step, per_step, SCALED, FEEDBACK, ROUND)
    words, plain = words_of(coded, per_step)
    kinds = class_of(words, plain)
    if FEEDBACK:
        lost = v - tl.where(plain, words.to(tl.float32) * step, coded)
        lost = tl.where(tl.abs(v) < float("inf"), lost, 0.0)
        if SCALED:
            lost = lost * unscale
        tl.store(residual + at, lost, mask=mask)

    # Where each quad goes: [parts, QUADS].
    bytes = tl.reshape(look(BYTES_LOW, BYTES_HIGH, kinds), [PARTS * QUADS, QUAD_GROUPS])
    payload = tl.reshape(tl.sum(bytes, axis=1), [PARTS, QUADS])
    quads = tl.cdiv(count, QUAD_GROUPS * GROUP)
    part = first_part + tl.arange(0, PARTS)
    there = part * QUADS < quads
    column = tl.arange(0, QUADS)[None, :]
    here = part[:, None] * QUADS + column < quads
    filled = payload != 0
    empty = (filled == 0) & here
    bits = set_of(filled)
    before = up_to(bits)
    ahead = tl.load(carry + part, mask=there, other=0)
    zeros = tl.where(before != 0, column - highest_bit(before) - 1, column + ahead[:, None]) & (RUN_QUADS - 1)
    size = tl.where(filled, payload + HEADER, 0) + tl.where(empty & (zeros == 0), RUN_ITEM, 0)
    begin = tl.load(end + part - 1, mask=there & (part > 0), other=0)
    ends = begin[:, None] + tl.cumsum(size, axis=1)
    starts = ends - size

    # Runs: the last quad of an item writes it.
    more = tl.load(leading + part + 1, mask=(part + 1) * QUADS < quads, other=0) > 0
    follows = ((set_of(empty) >> 1)[:, None] >> column.to(tl.uint64)) & 1
    goes_on = (follows != 0) | ((column == QUADS - 1) & more[:, None])
    writes = empty & ((goes_on == 0) | (zeros == RUN_QUADS - 1))
    put(stream, ends - RUN_ITEM, zeros & 0, writes)
    put(stream, ends - RUN_ITEM + 1, zeros & 0, writes)
    put(stream, ends - RUN_ITEM + 2, zeros, writes)

    # The index speaks of the first quad.
    first_start = tl.sum(tl.where(column == 0, starts, 0), axis=1)
    first_zeros = tl.sum(tl.where((column == 0) & empty, zeros, 0), axis=1)
    item = first_start - tl.where(first_zeros != 0, RUN_ITEM, 0)
    tl.store(index + part, (item << ITEM_SHIFT) | first_zeros, mask=there)

    # Records.
    nibble = (tl.arange(0, QUAD_GROUPS) * 4)[None, :]
    header = tl.reshape(tl.sum(tl.reshape(kinds, [PARTS * QUADS, QUAD_GROUPS]) << nibble, axis=1), [PARTS, QUADS])
    put(stream, starts, header, filled)
    put(stream, starts + 1, header >> 8, filled)
    payloads = tl.reshape(starts, [PARTS * QUADS])[:, None] + HEADER + (tl.cumsum(bytes, axis=1) - bytes)
    payloads = tl.reshape(payloads, [PARTS * QUADS * QUAD_GROUPS])
    planes = look(PLANES_LOW, PLANES_HIGH, kinds)
    put_planes(stream, payloads, words, planes, 0)
    widest = tl.max(planes, axis=0)
    if widest > 8:
        put_planes(stream, payloads, words, planes, 8)
    if widest > 16:
        put_planes(stream, payloads, words, planes, 16)
        put_planes(stream, payloads, words, planes, 24)
        lane = tl.arange(0, GROUP)[None, :]
        raw = tl.sum((plain == 0).to(tl.int32) << lane, axis=1)
        put(stream, payloads + planes, raw, kinds == WORDS)


@triton.jit
def byte_of(stream, at, wanted):
    """Reads a byte."""
    return tl.load(stream + at, mask=wanted, other=0).to(tl.int32)


@triton.jit
def walk(stream, length, index, count, parts, pairs, headers, payloads, BLOCK: tl.constexpr):
    """Finds the quads of parts, each part from its first on: header (0: zeros) and payload.

    `pairs`: payload bytes of two groups, by their byte of the header.
    """
    part = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    here = part < parts
    entry = tl.load(index + part, mask=here, other=0)
    at = entry >> ITEM_SHIFT
    done = (entry & ITEM_MOST).to(tl.int32)
    quads = tl.cdiv(count, QUAD_GROUPS * GROUP)
    for column in range(QUADS):
        quad = part * QUADS + column
        reads = here & (quad < quads) & (at + HEADER < length)
        header = byte_of(stream, at, reads) | (byte_of(stream, at + 1, reads) << 8)
        run = byte_of(stream, at + HEADER, reads & (header == 0))
        tl.store(headers + quad, header.to(tl.uint16), mask=here & (quad < quads))
        tl.store(payloads + quad, at + HEADER, mask=here & (quad < quads))
        bytes = HEADER + tl.load(pairs + (header & 255)).to(tl.int32) + tl.load(pairs + (header >> 8)).to(tl.int32)
        whole = done >= run
        at += tl.where(header != 0, bytes, tl.where(whole, RUN_ITEM, 0))
        done = tl.where((header != 0) | whole, 0, done + 1)


@triton.jit
def get_planes(stream, length, at, planes, FIRST: tl.constexpr):
    """Reads up to eight planes of groups, the first of them plane FIRST: [groups, 8] words."""
    columns = tl.zeros_like(at).to(tl.uint64)
    for plane in tl.static_range(8):
        byte = byte_of(stream, at + (FIRST + plane), (planes > FIRST + plane) & (at + (FIRST + plane) < length))
        columns = columns | (byte.to(tl.uint64) << (8 * plane))
    lane = tl.arange(0, GROUP)[None, :].to(tl.uint64)
    return ((transpose(columns)[:, None] >> (lane * 8)) & 255).to(tl.int32) << FIRST


@triton.jit
def unpack(stream, length, headers, payloads, count, step, unscale, divisor, out, ADD: tl.constexpr,
           FINISH: tl.constexpr, PARTS: tl.constexpr):
    """Writes the values of parts to `out`, or adds them. FINISH scales back, and divides."""
    first_part = tl.program_id(0) * PARTS
    at, mask = places(first_part, count, PARTS)
    group = first_part * (QUADS * QUAD_GROUPS) + tl.arange(0, PARTS * QUADS * QUAD_GROUPS)
    quad = group // QUAD_GROUPS
    there = quad < tl.cdiv(count, QUAD_GROUPS * GROUP)
    header = tl.load(headers + quad, mask=there, other=0).to(tl.int32)
    payload = tl.load(payloads + quad, mask=there, other=0)
    own_group = group % QUAD_GROUPS
    for other in tl.static_range(QUAD_GROUPS - 1):
        bytes = look(BYTES_LOW, BYTES_HIGH, (header >> (4 * other)) & 15)
        payload += tl.where(own_group > other, bytes, 0)
    kinds = (header >> (own_group * 4)) & 15
    planes = look(PLANES_LOW, PLANES_HIGH, kinds)
    words = get_planes(stream, length, payload, planes, 0)
    widest = tl.max(planes, axis=0)
    if widest > 8:
        words = words | get_planes(stream, length, payload, planes, 8)
    raw = tl.zeros_like(planes)
    if widest > 16:
        words = words | get_planes(stream, length, payload, planes, 16) | get_planes(stream, length, payload, planes, 24)
        raw = byte_of(stream, payload + planes, (kinds == WORDS) & (payload + planes < length))
    signed = look(SIGNED_LOW, SIGNED_HIGH, kinds)
    spare = tl.where(signed != 0, 32 - signed, 0)[:, None]
    q = (words << spare) >> spare
    is_raw = (raw[:, None] >> tl.arange(0, GROUP)[None, :]) & 1
    v = tl.where(is_raw != 0, q.to(tl.float32, bitcast=True), q.to(tl.float32) * step)
    if ADD:
        v = tl.load(out + at, mask=mask, other=0.0) + v
    if FINISH:
        v = tl.div_rn(v * unscale, divisor)
    store_floats(out + at, v, mask)


@triton.jit
def exponents(values, count, counts, BLOCK: tl.constexpr):
    """Counts values by their biased exponents."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    bits = load_floats(values + at, at < count).to(tl.int32, bitcast=True)
    found = tl.histogram((bits >> 23) & 255, 256, mask=at < count)
    tl.atomic_add(counts + tl.arange(0, 256), found.to(tl.int64))
