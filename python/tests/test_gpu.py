# SPDX-License-Identifier: Apache-2.0
"""The kernels of a GPU give the bits of the C codec.

Without a GPU, Triton's interpreter takes tensors of the CPU.
"""

import os
import subprocess
import sys

import pytest
from device import DEVICE, torch

np = pytest.importorskip("numpy")

import gradnic  # noqa: E402
from gradnic import _dense as dense  # noqa: E402
from gradnic import gpu  # noqa: E402

# NumPy tells of infinities that kernels make on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

ALL_K = range(-31, 32)
QUAD = 32


def same(a, b):
    """Bit for bit."""
    return np.array_equal(a.view(np.uint32), b.view(np.uint32))


def same_sums(a, b):
    """The same, but which NaN a sum is may differ."""
    return np.array_equal(np.isnan(a), np.isnan(b)) and same(np.nan_to_num(a), np.nan_to_num(b))


def check_decoding(data, count, k):
    host, device = gradnic.Codec("dense", k), gpu.Codec(k)
    stream = device.receive(data, count, DEVICE)
    want = host.decode(data, count)
    assert same(device.decode(stream).cpu().numpy(), want)
    first = np.resize(np.array([1.0, -0.0, 0.0, -3e-39, 2.0**-20, -1e30], np.float32), count)
    sums, there = first.copy(), torch.from_numpy(first.copy()).to(DEVICE)
    with np.errstate(all="ignore"):
        host.add(data, sums)
    device.add(stream, there)
    assert same_sums(there.cpu().numpy(), sums)
    return stream


def check(values, k, decode=True):
    """Encodes and decodes. Returns the stream's bytes."""
    values = np.ascontiguousarray(values, np.float32)
    want = gradnic.Codec("dense", k).encode(values)
    stream = gpu.Codec(k).encode(torch.from_numpy(values.copy()).to(DEVICE))
    got = bytes(stream.bytes.cpu().numpy())
    assert got == want, f"k {k}, {values.size} values: {len(got)} and {len(want)} bytes"
    if decode:
        assert torch.equal(stream.index, check_decoding(want, values.size, k).index)
    return want


def every_kind():
    """All exponents, both signs, chosen and random mantissas, like values side by side."""
    random = np.random.default_rng(1).integers(0, 1 << 23, 14)
    mantissas = [0, 1, 2, 3, 0x7FFFFF, 0x7FFFFE, 0x555555, 0x3FFFFF, 0x400001, *(1 << b for b in range(3, 23)), *random]
    mantissas = np.array(mantissas[:40], np.uint32)
    bits = np.arange(512, dtype=np.uint32)[:, None] << np.uint32(23) | mantissas[None, :]
    return np.ascontiguousarray(bits.ravel()).view(np.float32)


@pytest.mark.parametrize("k", ALL_K)
def test_all_exponents_and_special_values_at_every_bound(k):
    values = every_kind()
    check(values, k, decode=k % 6 == 0)
    check(np.random.default_rng(k & 255).permutation(values)[:2048], k, decode=False)


@pytest.mark.parametrize("k", [10, -31, 31])
def test_all_integers_and_the_ties_between_them(k):
    q = np.arange(0, 32769, dtype=np.float64)
    ties = ((q + 0.5) * 2.0 ** (1 - k)).astype(np.float32)
    whole = (q * 2.0 ** (1 - k)).astype(np.float32)
    some = np.concatenate([whole, ties, np.nextafter(ties, np.float32(0)), np.nextafter(ties, np.float32(np.inf))])
    check(some, k, decode=k == 10)
    check(-some, k, decode=False)


def test_all_classes():
    rng = np.random.default_rng(2)
    groups = []
    for bits in range(16):
        for low in (0, -1):  # one sign, or both
            most = (1 << bits) - 1
            for _ in range(24):
                q = rng.integers(low * most, most + 1, 8)
                q[rng.integers(8)] = most if low == 0 or rng.integers(2) else -most - 1
                groups.append(np.clip(q, -32767, 32767))
    values = rng.permutation(np.array(groups)).ravel().astype(np.float32) / 512
    for raw in (0, 40):
        values[rng.integers(0, values.size, raw)] = rng.choice([np.inf, np.nan, 1e20, -3e38, 64.0, -64.0], raw)
        check(values, 10)


RUNS = [1, 2, 31, 63, 64, 65, 127, 128, 191, 255, 256, 257, 319, 320, 511, 512, 513, 768, 1025]


@pytest.mark.parametrize("before", [0, 1, 63, 64, 65])
def test_runs_of_zeros(before):
    for run in RUNS:
        for after in (0, 1):
            values = np.zeros((before + run + after) * QUAD, np.float32)
            values[:before * QUAD] = 0.25
            if after:
                values[-1] = -1
            check(values, 10, decode=False)
    pattern = np.concatenate([np.repeat([0.0, 0.5], [run, 1]) for run in RUNS])
    check(np.repeat(np.concatenate([np.ones(before), pattern]), QUAD), 10)


def test_sparse_values():
    rng = np.random.default_rng(3)
    for share in (0.5, 0.01, 0.001, 0.0001):
        values = rng.normal(0, 1, 70000) * (rng.random(70000) < share)
        check(values, 6, decode=share < 0.01)


@pytest.mark.parametrize("fill", [0.0, 0.01])
def test_any_number_of_values(fill):
    for count in [*range(1, 34), 40, 41, 63, 64, 65, 96, 2016, 2017, 2047, 2048, 2049, 4096, 4097, 8192, 8193, 67000]:
        check(np.full(count, fill, np.float32), 10, decode=count in (1, 9, 33, 2047, 2049, 8193))


def test_no_values():
    stream = gpu.Codec(10).encode(torch.empty(0, device=DEVICE))
    assert stream.nbytes == 0 and gpu.Codec(10).decode(stream).numel() == 0
    assert gpu.Codec(10).receive(b"", 0, DEVICE).count == 0


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
def test_halves(name):
    kind = getattr(torch, name)
    values = torch.arange(-32768, 32768, dtype=torch.int32).to(torch.int16).view(kind)
    if name == "float16":  # which NaN one becomes as float32 is up to the device
        values[values.isnan()] = float("inf")
    want = gradnic.Codec("dense", 6).encode(values.float())
    stream = gpu.Codec(6).encode(values.to(DEVICE))
    assert bytes(stream.bytes.cpu().numpy()) == want
    out = torch.empty(65536, dtype=kind, device=DEVICE)
    back = torch.from_numpy(gradnic.Codec("dense", 6).decode(want, 65536)).to(kind)
    gpu.Codec(6).decode(stream, out)
    assert torch.equal(out.cpu().nan_to_num(), back.nan_to_num()) and torch.equal(out.cpu().isnan(), back.isnan())


def made_up(count, rng):
    """A legal stream that no encoder makes: any classes, any planes, runs cut in pieces."""
    out, quads = bytearray(), -(-count // QUAD)
    quad = 0
    while quad < quads:
        last = quad == quads - 1 and count % QUAD
        if rng.random() < 0.2 or last:
            run = int(rng.integers(1, min(256, quads - quad) + 1))
            out += bytes([0, 0, run - 1])
            quad += run
            continue
        classes = [int(c) for c in rng.integers(0, 16, 4)]
        header = sum(c << 4 * g for g, c in enumerate(classes)) or 1
        classes = [header >> 4 * g & 15 for g in range(4)]
        out += header.to_bytes(2, "little")
        out += rng.bytes(sum(dense.BYTES[c] for c in classes))
        quad += 1
    return bytes(out)


@pytest.mark.parametrize("k", [10, -31, 31])
def test_streams_that_no_encoder_makes(k):
    rng = np.random.default_rng(4)
    for count in (31 * QUAD, 3000 * QUAD, 700 * QUAD + 5):
        check_decoding(made_up(count, rng), count, k)


def test_damaged_streams_are_refused_as_on_the_host():
    rng = np.random.default_rng(5)
    values = rng.normal(0, 0.1, 5000).astype(np.float32)
    good = gradnic.Codec("dense", 10).encode(values)
    refused = 0
    for at in range(0, len(good), 13):
        bad = bytearray(good)
        bad[at] ^= 1 << int(rng.integers(8))
        for data in (bytes(bad), bytes(bad[:at]), bytes(bad) + b"\0"):
            try:
                gradnic.Codec("dense", 10).decode(data, 5000)
            except gradnic.CorruptError as error:
                refused += 1
                with pytest.raises(gradnic.CorruptError) as caught:
                    gpu.Codec(10).receive(data, 5000, DEVICE)
                assert str(caught.value).split(":")[0] == str(error).split(":")[0]
            else:
                gpu.Codec(10).receive(data, 5000, DEVICE)
    assert refused > 200


def test_exponents_are_counted():
    values = every_kind()
    want = np.bincount(values.view(np.uint32) >> 23 & 255, minlength=256)
    assert gpu.exponents(torch.from_numpy(values).to(DEVICE)).tolist() == want.tolist()


@pytest.mark.parametrize("call, text", [
    (lambda codec: codec.encode(torch.zeros(3, dtype=torch.int32, device=DEVICE)), "is int32, not float32, bfloat16"),
    (lambda codec: codec.encode(torch.zeros(4, 4, device=DEVICE)[:, ::2]), "not contiguous"),
    (lambda codec: codec.encode([1.0]), "is a list, not a tensor"),
    (lambda codec: codec.encode(torch.zeros(3, device="meta")), "is on device meta, where Triton does not run"),
    (lambda codec: codec.decode(codec.encode(torch.ones(3, device=DEVICE)), torch.ones(4, device=DEVICE)),
     "has 4 values, not 3"),
    (lambda codec: gpu.Codec(32), "k = 32"),
])
def test_errors_say_what_is_wrong(call, text):
    with pytest.raises(gradnic.InvalidError, match=text):
        call(gpu.Codec(10))


def test_kernels_compile_for_gpus():
    """The interpreter takes more than the compiler does. No GPU is needed for it."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compile_kernels.py")
    done = subprocess.run([sys.executable, path, "80", "90"], capture_output=True, text=True, timeout=500,
                          env={**os.environ, "TRITON_INTERPRET": "0"})
    assert done.returncode == 0, done.stderr[-3000:]
    assert "pack for 90" in done.stdout
