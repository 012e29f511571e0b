#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# NumPy's arrays, in every header version, order and shape, through compress and decompress. NumPy
# reads the result.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

"$PYTHON" - <<'PY'
import numpy as np
rng = np.random.default_rng(1)
shapes = [(), (0,), (1,), (7,), (3, 5), (2, 3, 4), (0, 4), (1, 1, 1, 9), (700, 500)]
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
        assert b.dtype == np.dtype("<f4") and b.shape == (a.size,), (name, b.dtype, b.shape)
        assert b.tobytes() == expected.tobytes(), (name, profile)
        np.save("again.npy", b)  # NumPy writes the same bytes
        assert open("again.npy", "rb").read() == open(f"{name}.{profile}.npy", "rb").read(), name
print(len(names), "arrays")
PY

# --shape
"$GRADNIC" compress -q -f -o s.gn a24.npy
"$PYTHON" -c 'import numpy as np; print(np.load("a24.npy").size)' >size
expect 1 "shape 3,3,3 is 27 values; s.gn holds" "$GRADNIC" decompress --shape 3,3,3 -o wrong.npy s.gn
[ ! -e wrong.npy ] || fail "output after a failure"
"$GRADNIC" decompress -q --shape "1,$(cat size)" -o shaped.npy s.gn
"$PYTHON" -c 'import numpy as np; assert np.load("shaped.npy").shape == (1, int(open("size").read()))'

# Other types than little-endian binary32 are refused by name.
"$PYTHON" - <<'PY'
import numpy as np
for name, dtype in {"f8": "<f8", "f2": "<f2", "i4": "<i4", "be": ">f4", "c8": "<c8", "bool": "?", "struct": [("a", "<f4")]}.items():
    np.save(f"bad-{name}.npy", np.zeros(5, dtype=dtype))
np.save("bad-object.npy", np.array([{}, 1], dtype=object), allow_pickle=True)
PY
expect 1 "gradnic compress: bad-f8.npy: byte 20: dtype '<f8' is not binary32" "$GRADNIC" compress bad-f8.npy
expect 1 "bad-f2.npy: byte 20: dtype '<f2' is not binary32" "$GRADNIC" compress bad-f2.npy
expect 1 "bad-i4.npy: byte 20: dtype '<i4' is not binary32" "$GRADNIC" ratio bad-i4.npy
expect 1 "bad-be.npy: byte 20: dtype '>f4' is big-endian" "$GRADNIC" compress bad-be.npy
expect 1 "bad-c8.npy: byte 20: dtype '<c8' is not binary32" "$GRADNIC" compress bad-c8.npy
expect 1 "bad-bool.npy: byte 20: dtype '|b1' is not binary32" "$GRADNIC" compress bad-bool.npy
expect 1 "bad-struct.npy: byte 20: a structured dtype is not binary32" "$GRADNIC" compress bad-struct.npy
expect 1 "bad-object.npy: byte 20: dtype '|O' is not binary32" "$GRADNIC" compress bad-object.npy
[ -z "$(find . -name 'bad-*.gn' -o -name '.gradnic*')" ] || fail "something was left behind"
