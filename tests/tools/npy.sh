#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2002,SC2016 # a pipe is meant; bash -c expands it
# NumPy's arrays, in every header version, order and shape, through compress and decompress. NumPy
# reads the result.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

"$PYTHON" - <<'PY'
import numpy as np
rng = np.random.default_rng(1)
shapes = [(), (0,), (1,), (7,), (3, 5), (2, 3, 4), (0, 4), (1, 1, 1, 9), (99999, 1), (1, 99999), (700, 500)]
n = 0
for shape in shapes:
    for order in "CF":
        for version in [(1, 0), (2, 0), (3, 0)]:
            a = np.array(rng.standard_normal(shape) * rng.choice([0.001, 0.1, 5, 70], shape), dtype="<f4", order=order)
            with open(f"a{n}.npy", "wb") as f:
                np.lib.format.write_array(f, a, version=version)
            n += 1
with open("count", "w") as f:
    f.write(str(n))
special = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3.4e38, 2**-10, 1.5 * 2**-9, -(2**-9), 64], dtype="<f4")
np.save("special.npy", special)
PY

count=$(cat count)
for name in $(seq -f 'a%g' 0 $((count - 1))) special; do
    for profile in lattice paper; do
        "$GRADNIC" compress -q -f -p "$profile" -k 10 "$name.npy"
        "$GRADNIC" decompress -q -f -o "$name.$profile.npy" "$name.npy.gn"
    done
done

SOURCE=$SOURCE "$PYTHON" - <<'PY'
import os, sys
import numpy as np
sys.path.insert(0, os.environ["SOURCE"] + "/tests/tools")
import reference
names = [f"a{i}" for i in range(int(open("count").read()))] + ["special"]
for name in names:
    a = np.load(name + ".npy")
    stored = a.ravel(order="F" if np.isfortran(a) else "C")  # as the file holds them
    for profile, quantise in reference.QUANTISERS.items():
        b = np.load(f"{name}.{profile}.npy")
        expected = quantise(stored, 10)[1]
        assert b.dtype == np.dtype("<f4") and b.shape == a.shape, (name, b.dtype, b.shape)
        assert np.isfortran(b) == np.isfortran(a), name
        assert b.tobytes(order="F" if np.isfortran(a) else "C") == expected.tobytes(), (name, profile)
        np.save("again.npy", b)  # NumPy writes the same bytes, padding of the header included
        assert open("again.npy", "rb").read() == open(f"{name}.{profile}.npy", "rb").read(), name
print(len(names), "arrays")
PY

# One dimension of float32: version 1 of the format holds it. Anything else: version 2.
[ "$(head -c 8 a18.npy.gn)" = GRADNIC1 ] || fail "a18.npy.gn is not of version 1"
[ "$(head -c 8 a24.npy.gn)" = GRADNIC2 ] || fail "a24.npy.gn is not of version 2"

# Standard input: an array is recognised, packed or not, and its header is not taken for values.
cat a30.npy | "$GRADNIC" compress -p paper - >stdin.gn
"$GRADNIC" compress -p paper - <a30.npy >redirected.gn
gzip -c a30.npy | "$GRADNIC" compress -p paper - >packed.gn
for name in stdin redirected packed; do same a30.npy.gn $name.gn; done
[ "$(cat a30.npy | "$GRADNIC" ratio --json --against none - | jq .files[0].values)" -eq 24 ] || fail "ratio of an array on standard input"
expect 1 "standard input: byte 200: ends after 18 of 24 values" bash -c 'head -c 200 a30.npy | "$GRADNIC" compress -o x.gn -'
expect 1 "standard input: byte 224: the file goes on after its 24 values" bash -c 'cat a30.npy a30.npy | "$GRADNIC" compress -o x.gn -'
[ ! -e x.gn ] || fail "output after a failure"

# --shape
"$GRADNIC" compress -q -f -o s.gn a24.npy
"$PYTHON" -c 'import numpy as np; print(np.load("a24.npy").size)' >size
expect 1 "shape 3,3,3 is 27 values; s.gn holds" "$GRADNIC" decompress --shape 3,3,3 -o wrong.npy s.gn
[ ! -e wrong.npy ] || fail "output after a failure"
expect 2 "--shape: '3,x' is not a shape" "$GRADNIC" decompress --shape 3,x -o wrong.npy missing.gn
expect 2 "--shape: shape '99999999999,99999999999' is impossibly large" \
    "$GRADNIC" decompress --shape 99999999999,99999999999 -o wrong.npy missing.gn
"$GRADNIC" decompress -q --shape "1,$(cat size)" -o shaped.npy s.gn
"$PYTHON" -c 'import numpy as np; assert np.load("shaped.npy").shape == (1, int(open("size").read()))'

# Fortran order: what has no header for it comes in C order, as NumPy gives it.
"$PYTHON" - <<'PY'
import numpy as np
f = np.arange(12, dtype="<f4").reshape(3, 4)
np.save("by-columns.npy", np.asfortranarray(f))
np.save("row.npy", np.asfortranarray(f.reshape(1, 12, 1)))
np.savez("mixed.npz", a=np.zeros(3, "<f4"), b=np.asfortranarray(f), c=f)
np.save("large.npy", np.asfortranarray(np.arange(60000, dtype="<f4").reshape(30, 5, 400)))
PY
for file in by-columns.npy row.npy mixed.npz large.npy; do "$GRADNIC" compress -q -k 2 "$file"; done
"$GRADNIC" decompress -q --to f32 -o one.raw by-columns.npy.gn
"$GRADNIC" decompress -q -o two.f32 by-columns.npy.gn
"$GRADNIC" decompress -q -o - by-columns.npy.gn | cat >three.raw
"$GRADNIC" decompress -q -o mixed.f32 mixed.npz.gn
"$GRADNIC" decompress -q -o large.f32 large.npy.gn
for shape in 12 2,6 3,4; do "$GRADNIC" decompress -q --shape $shape -o "shape-$shape.npy" by-columns.npy.gn; done
"$GRADNIC" decompress -q --shape 400,150 -o - --to npy large.npy.gn | cat >shape-large.npy
lost="its values are in Fortran order, which --no-shape would lose"
expect 1 "by-columns.npy: $lost" "$GRADNIC" compress --no-shape -o lost.gn by-columns.npy
expect 1 "mixed.npz: b: $lost" "$GRADNIC" compress --no-shape -o lost.gn mixed.npz
[ ! -e lost.gn ] || fail "output after a failure"
"$GRADNIC" compress -q --no-shape -o row-alone.gn row.npy
"$PYTHON" - <<'PY'
import numpy as np
f, large = np.load("by-columns.npy"), np.load("large.npy")
for name in ("one.raw", "two.f32", "three.raw"):
    assert (np.fromfile(name, "<f4") == f.reshape(-1)).all(), name
assert (np.fromfile("mixed.f32", "<f4") == np.concatenate([np.zeros(3), f.reshape(-1), f.reshape(-1)])).all()
assert (np.fromfile("large.f32", "<f4") == large.reshape(-1)).all()
for shape in (12,), (2, 6), (3, 4):
    assert (np.load("shape-" + ",".join(map(str, shape)) + ".npy") == f.reshape(shape)).all(), shape
assert (np.load("shape-large.npy") == large.reshape(400, 150)).all()
PY

# Floating-point types of every size and order become float32. NumPy rounds them the same way.
"$PYTHON" - <<'PY'
import numpy as np
rng = np.random.default_rng(3)
bits = np.arange(65536, dtype="<u2")  # every value there is
half = bits.view("<f2")
half[np.isnan(half)] = np.nan
np.save("f2.npy", half)
np.save("f2-big.npy", half.astype(">f2"))
upper = bits.astype("<u4") << 16
np.save("bf2.npy", bits.view("V2").reshape(256, 256))  # as ml_dtypes saves bfloat16
np.save("bf2-expected.npy", upper.view("<f4").reshape(256, 256))
wide = np.concatenate([rng.standard_normal(70001) * 10.0 ** rng.integers(-50, 38, 70001), [0, -0.0, np.inf, -np.inf, np.nan, 3.4028235e38, 1e-320]])
np.save("f8.npy", wide)
np.save("f8-big.npy", wide.astype(">f8"))
np.save("f4-big.npy", wide.astype(">f4"))
PY
for name in f2 f2-big bf2 f8 f8-big f4-big bf2-expected; do
    "$GRADNIC" compress -k 31 -o "$name.gn" "$name.npy" 2>"$name.log"
    "$GRADNIC" decompress -q -f -o "$name.out.npy" "$name.gn"
done
SOURCE=$SOURCE "$PYTHON" - <<'PY'
import os, sys
import numpy as np
sys.path.insert(0, os.environ["SOURCE"] + "/tests/tools")
import reference
def same(name, expected):
    got = np.load(name + ".out.npy")
    expected = np.asarray(expected)
    assert got.shape == expected.shape and got.dtype == np.dtype("<f4"), name
    wanted = reference.lattice(expected.ravel(), 31)[1]
    got = got.ravel()
    assert (np.isnan(got) == np.isnan(wanted)).all() and got[~np.isnan(got)].tobytes() == wanted[~np.isnan(wanted)].tobytes(), name
with np.errstate(over="ignore"):
    for name in ("f2", "f2-big", "f8", "f8-big", "f4-big"):
        same(name, np.load(name + ".npy").astype("<f4"))
same("bf2", np.load("bf2-expected.npy"))
same("bf2-expected", np.load("bf2-expected.npy"))
PY
grep -qF "note: f2.npy: float16 read as float32, without loss" f2.log || fail "no note: $(cat f2.log)"
grep -qF "note: bf2.npy: bfloat16 read as float32, without loss" bf2.log || fail "no note: $(cat bf2.log)"
grep -qF "note: f8.npy: float64 read as float32: values changed by up to " f8.log || fail "no note: $(cat f8.log)"
grep -qF ", more than the bound" f8.log || fail "no word of the bound: $(cat f8.log)"
grep -q note f4-big.log && fail "a note where nothing happened: $(cat f4-big.log)"
[ -z "$("$GRADNIC" compress -q -f -o x.gn f8.npy 2>&1)" ] || fail "a note in spite of -q"
rm x.gn

# float64 beyond float32 is refused unless --cast says otherwise.
"$PYTHON" -c '
import numpy as np
np.save("beyond.npy", np.array([1, 1e39, -1e300, 0.25]))
np.save("edge.npy", np.array([3.4028235677973362e38]))  # rounds down to the largest float32
np.save("over.npy", np.array([3.4028235677973366e38]))'
expect 1 "beyond.npy: holds values beyond float32, the first is 1e+39; with --cast they become infinite" "$GRADNIC" compress beyond.npy
expect 1 "over.npy: holds values beyond float32" "$GRADNIC" ratio over.npy
expect 0 "" "$GRADNIC" compress edge.npy
[ ! -e beyond.npy.gn ] || fail "output after a failure"
expect 0 "float64 read as float32, without loss; 2 beyond its range became infinite" "$GRADNIC" compress --cast beyond.npy
"$GRADNIC" decompress -q -o beyond.f32 beyond.npy.gn
"$PYTHON" -c 'import numpy as np; assert np.fromfile("beyond.f32", "<f4").tolist() == [1, np.inf, -np.inf, 0.25]'

# Other types are refused by name.
"$PYTHON" - <<'PY'
import numpy as np
for name, dtype in {"i4": "<i4", "c8": "<c8", "bool": "?", "struct": [("a", "<f4")], "f16": np.longdouble}.items():
    np.save(f"bad-{name}.npy", np.zeros(5, dtype=dtype))
np.save("bad-object.npy", np.array([{}, 1], dtype=object), allow_pickle=True)
PY
types="is not float16, bfloat16, float32 or float64"
expect 1 "gradnic compress: bad-i4.npy: byte 20: dtype '<i4' $types" "$GRADNIC" compress bad-i4.npy
expect 1 "bad-i4.npy: byte 20: dtype '<i4' $types" "$GRADNIC" ratio bad-i4.npy
expect 1 "bad-c8.npy: byte 20: dtype '<c8' $types" "$GRADNIC" compress bad-c8.npy
expect 1 "bad-f16.npy: byte 20: dtype '<f16' $types" "$GRADNIC" compress bad-f16.npy
expect 1 "bad-bool.npy: byte 20: dtype '|b1' $types" "$GRADNIC" compress bad-bool.npy
expect 1 "bad-struct.npy: byte 20: a structured dtype is not floating point" "$GRADNIC" compress bad-struct.npy
expect 1 "bad-object.npy: byte 20: dtype '|O' $types" "$GRADNIC" compress bad-object.npy
[ -z "$(find . -name 'bad-*.gn' -o -name '.gradnic*')" ] || fail "something was left behind"
