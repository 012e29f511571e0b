# SPDX-License-Identifier: Apache-2.0
import array
import copy
import ctypes
import json
import math
import os
import pickle
import subprocess
import sys

import pytest

import gradnic

np = pytest.importorskip("numpy")


SHARED = np.zeros(3, np.float32)


def program(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "gradnic", *map(str, arguments)], check=True, capture_output=True,
                          **options).stdout


@pytest.mark.parametrize("profile, k", [("dense", 10), ("dense", 6), ("lattice", 10), ("paper", 10)])
def test_bytes_are_those_of_the_program(tmp_path, gradients, profile, k):
    for i, gradient in enumerate(gradients):
        path = tmp_path / f"g{i}.npy"
        np.save(path, gradient)
        program("compress", "-q", "-p", profile, "-k", k, path)
        packed = path.with_suffix(".npy.gn").read_bytes()
        assert gradnic.compress(gradient, k, profile) == packed
        program("decompress", "-q", "-o", tmp_path / f"out{i}.npy", tmp_path / f"g{i}.npy.gn")
        back = gradnic.decompress(packed)
        assert back.shape == gradient.shape and back.dtype == np.float32
        assert np.array_equal(back, np.load(tmp_path / f"out{i}.npy"))
        if profile != "paper":
            assert np.abs(back - gradient).max() <= 2.0**-k


@pytest.mark.parametrize("make", [
    lambda a: a.reshape(30, -1), lambda a: a.reshape(30, -1).T, lambda a: a.reshape(2, 3, 5, -1),
    lambda a: a.astype(np.float16), lambda a: a.astype(np.float64), lambda a: a[:1].reshape(()), lambda a: a[:0],
])
def test_shapes_and_types_are_those_of_the_program(tmp_path, make):
    values = make(np.random.default_rng(1).normal(0, 0.01, 3000).astype(np.float32))
    np.save(tmp_path / "v.npy", values)
    program("compress", "-q", tmp_path / "v.npy")
    packed = gradnic.compress(values)
    assert packed == (tmp_path / "v.npy.gn").read_bytes()
    back = gradnic.decompress(packed)
    assert back.shape == values.shape
    assert np.abs(back - values).max(initial=0) <= 2**-10


def test_names_that_do_not_fit_are_refused():
    with pytest.raises(gradnic.InvalidError, match="do not fit a .gn file"):
        gradnic.compress({"n" * 1025: np.zeros(1)})


def test_names_are_kept(tmp_path):
    tensors = {"fc.weight": np.ones((3, 4), np.float32), "fc.bias": np.zeros(4, np.float16)}
    np.savez(tmp_path / "m.npz", **tensors)
    program("compress", "-q", tmp_path / "m.npz")
    assert gradnic.compress(tensors) == (tmp_path / "m.npz.gn").read_bytes()
    back = gradnic.decompress(gradnic.compress(tensors))
    assert {name: value.shape for name, value in back.items()} == {"fc.weight": (3, 4), "fc.bias": (4,)}
    assert (back["fc.weight"] == 1).all()


def test_ratio_is_that_of_the_program(tmp_path, gradients):
    np.save(tmp_path / "g.npy", gradients[0])
    told = json.loads(program("ratio", "--json", "-k", "6", "-p", "dense", tmp_path / "g.npy"))
    assert gradnic.ratio(gradients[0], k=6) == pytest.approx(told["files"][0]["results"][0]["ratio"], rel=1e-5)
    assert math.isnan(gradnic.ratio(np.zeros(0, np.float32)))


def test_every_kernel_makes_the_same_bytes(gradients):
    assert len({gradnic.compress(gradients[0], kernel=name) for name in gradnic.kernels()}) == 1


def test_a_kernel_that_is_not_there_is_refused():
    with pytest.raises(gradnic.UnsupportedError, match="no kernel 'cray'.*scalar"):
        gradnic.compress(np.zeros(3), kernel="cray")


def test_codec(gradients):
    codec = gradnic.Codec("dense", k=8)
    assert codec.bound == 2**-8 and codec.kernel in gradnic.kernels()
    values = gradients[0].ravel()
    stream = codec.encode(values)
    back = codec.decode(stream, values.size)
    residual = np.empty_like(values)
    assert np.array_equal(codec.quantise(values, residual), back)
    assert np.array_equal(residual, values - back)
    sums = back.copy()
    codec.add(stream, sums)
    assert np.array_equal(sums, back + back)
    with pytest.raises(gradnic.CorruptError, match="byte"):
        codec.decode(stream[:-1], values.size)
    with pytest.raises(gradnic.InvalidError, match="has 3 values, not 4"):
        codec.decode(stream, 4, np.empty(3, np.float32))


def test_damage_is_found_and_named(gradients):
    packed = bytearray(gradnic.compress(gradients[0]))
    for at in (0, 8, 20, 33, 60, len(packed) // 2):
        bad = bytearray(packed)
        bad[at] ^= 0x10
        with pytest.raises(gradnic.CorruptError, match="byte"):
            gradnic.decompress(bad)
    for cut in (0, 39, 100, len(packed) - 1):
        with pytest.raises(gradnic.CorruptError):
            gradnic.decompress(packed[:cut])
    with pytest.raises(gradnic.CorruptError, match="last block|goes on|behind"):
        gradnic.decompress(packed + b"x")


def test_a_header_that_announces_too_much_costs_nothing():
    import resource
    import struct
    import zlib

    head = b"GRADNIC1" + struct.pack("<BbHIQQ", 2, 10, 0, 262144, 2**44, 2**26)
    head += struct.pack("<II", zlib.crc32(head), 0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(gradnic.CorruptError, match="too early|ends"):
        gradnic.decompress(head + b"\0" * 100)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10
    zeros = np.zeros(3_000_000, np.float32)  # many more values than bytes, and right
    assert np.array_equal(gradnic.decompress(gradnic.compress(zeros)), zeros)


@pytest.mark.parametrize("call, text", [
    (lambda: gradnic.compress(np.zeros(3), k=99), "k = 99 is not an integer from -31 to 31"),
    (lambda: gradnic.compress(np.zeros(3), profile="fine"), "no profile 'fine': paper, lattice, dense"),
    (lambda: gradnic.compress(np.zeros(3, np.int32)), "is int32, not float32"),
    (lambda: gradnic.compress(np.zeros((4, 4), np.float32)[:, ::2]), "not contiguous"),
    (lambda: gradnic.compress(np.full(3, 1e300)), "beyond float32"),
    (lambda: gradnic.compress("text"), "is a str"),
    (lambda: gradnic.compress({}), "no arrays"),
    (lambda: gradnic.compress({"a": np.zeros(2), "b": [1]}), "array 'b' is a list"),
    (lambda: gradnic.compress({"a\0b": np.zeros(2)}), "zero byte"),
    (lambda: gradnic.compress(np.zeros(3, ">f4")), "byte order"),
    (lambda: gradnic.Codec().quantise(np.zeros(3), np.zeros(3)), "residual is float64, not float32"),
    (lambda: gradnic.Codec().quantise(SHARED, SHARED), "residual overlaps the values"),
    (lambda: gradnic.Codec().add(b"", np.float32(1)), "sums is a scalar, and would be written"),
    (lambda: gradnic.Codec("dense", True), "k = True is not an integer"),
    (lambda: gradnic.compress(np.ma.array([1.0, 2.0], mask=[False, True])), "has a mask"),
    (lambda: gradnic.compress(np.array([None])), "Python's objects"),
    (lambda: gradnic.compress((ctypes.py_object * 2)()), "which are no values"),
    (lambda: gradnic.compress((type("Empty", (ctypes.Structure,), {"_fields_": []}) * 2)()), "which are no values"),
    (lambda: gradnic.compress({"\ud800": np.zeros(2)}), "is not Unicode"),
])
def test_errors_say_what_is_wrong(call, text):
    with pytest.raises(gradnic.InvalidError, match=text):
        call()


def test_a_stream_that_the_values_would_overwrite_is_refused():
    codec = gradnic.Codec()
    stream, count = codec.encode(np.ones(1000, np.float32)), 1000
    memory = bytearray(4 * count + len(stream))
    values = np.frombuffer(memory, np.float32, count)
    for at in (0, 400, 4 * count - 1):
        memory[at:at + len(stream)] = stream
        for call in (lambda view: codec.decode(view, count, values), lambda view: codec.add(view, values)):
            with pytest.raises(gradnic.InvalidError, match="overlaps"):
                call(memoryview(memory)[at:at + len(stream)])
    memory[4 * count:] = stream
    assert codec.decode(memoryview(memory)[4 * count:], count, values).tolist() == [1] * count


def test_a_limit_refuses_what_a_small_file_may_hold():
    zeros = gradnic.compress(np.zeros(1 << 20, np.float32))
    assert len(zeros) < 1000
    with pytest.raises(gradnic.InvalidError, match="4194304 bytes of values, and the limit is 4194303"):
        gradnic.decompress(zeros, limit=(4 << 20) - 1)
    assert gradnic.decompress(zeros, limit=4 << 20).shape == (1 << 20,)
    with pytest.raises(gradnic.InvalidError, match="limit"):
        gradnic.decompress(zeros, limit=-1)


def test_a_codec_can_be_copied_and_pickled():
    codec, values = gradnic.Codec("lattice", np.int64(7)), np.linspace(-1, 1, 99, dtype=np.float32)
    for other in (copy.copy(codec), copy.deepcopy(codec), pickle.loads(pickle.dumps(codec))):
        assert other.encode(values) == codec.encode(values)


def test_names_of_bytes_go_there_and_back():
    name = b"w\xff".decode("utf-8", "surrogateescape")
    assert list(gradnic.decompress(gradnic.compress({name: np.zeros(2)}))) == [name]


def test_masks_that_hide_nothing_are_taken():
    assert gradnic.decompress(gradnic.compress(np.ma.array([0.5, 0.25]))).tolist() == [0.5, 0.25]


def test_buffers_and_bytes():
    values = array.array("f", [0.5, -0.25, 0.125])
    packed = gradnic.compress(values)
    assert packed == gradnic.compress(np.array(values, np.float32))
    assert packed == gradnic.compress(memoryview(bytes(values)).cast("f"))  # read-only
    for kind in (bytes, bytearray, memoryview, lambda b: np.frombuffer(b, np.uint8)):
        assert gradnic.decompress(kind(packed)).tolist() == values.tolist()


def test_without_numpy():
    code = """
import sys; sys.modules["numpy"] = None
import array, gradnic
values = array.array("f", [0.5, -0.25, 0.125, 1.0] * 1000)
back = gradnic.decompress(gradnic.compress(values))
assert type(back) is memoryview and back.format == "f" and back.tolist() == values.tolist()
assert gradnic.decompress(gradnic.compress(memoryview(values).cast("B").cast("f", (40, 100)))).shape == (40, 100)
assert gradnic.decompress(gradnic.compress(array.array("f"))).tolist() == []
assert gradnic.ratio(values) > 1
try: gradnic.compress(array.array("d", [1.0]))
except gradnic.InvalidError as error: assert "without NumPy only float32" in str(error)
else: raise SystemExit("took doubles")
"""
    subprocess.run([sys.executable, "-c", code], check=True, env={k: v for k, v in os.environ.items()})


def test_module_is_the_program():
    assert program("--version").startswith(b"gradnic ")
    done = subprocess.run([sys.executable, "-m", "gradnic", "nonsense"], capture_output=True, text=True)
    assert done.returncode != 0 and "nonsense" in done.stderr
