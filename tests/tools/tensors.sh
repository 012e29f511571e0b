#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2002 # a pipe is meant
# Files of tensors (.npz, .safetensors, .pt) through ratio, compress and decompress: names, types
# and shapes, one tensor by name, and .gn files of version 2.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
FILES=$SOURCE/tests/data/tensors
cp "$FILES"/*.pt "$FILES"/*.safetensors .

"$PYTHON" - <<'PY'
import numpy as np
ramp = ((np.arange(6000) * 7) % 255 - 127).astype("<f4") / 512
w = ramp.reshape(60, 100)
arrays = {
    "w": w, "layer.0/bias": ramp[:33].astype("<f2"), "f": np.asfortranarray(w[:7]), "big": ramp[:9].astype(">f8"),
    "scalar": np.float32(0.25), "empty": np.zeros((0, 3), "<f4"), "step": np.int64(3), "names": np.array(["a", "b"]),
}
np.savez("stored.npz", **arrays)
np.savez_compressed("packed.npz", **arrays)
PY

# One file of each kind. The values are multiples of 2^-9, which lattice keeps as they are.
good=(stored.npz packed.npz state_dict.pt protocol4.pt checkpoint.pt types.pt bare.pt model.safetensors)
for file in "${good[@]}"; do
    "$GRADNIC" compress -q -p lattice "$file"
    "$GRADNIC" decompress -q -f -o "$file.npz" "$file.gn"
    "$GRADNIC" ratio --list --json "$file" >"$file.list"
    "$GRADNIC" ratio -p dense --against none --json "$file" >"$file.json" 2>"$file.notes"
done
"$PYTHON" - "${good[@]}" <<'PY'
import json, sys
import numpy as np

def ramp(start, *shape):  # as in tests/data/tensors/make.py
    count = int(np.prod(shape))
    return ((np.arange(count) * 7 + start) % 255 - 127).astype("<f4").reshape(shape) / 512

state = {
    "conv.weight": ramp(1, 4, 3, 2, 2), "conv.bias": ramp(2, 4), "fc.weight": ramp(3, 10, 8), "fc.bias": ramp(4, 10),
}
base = ramp(9, 20, 6)
expected = {
    "state_dict.pt": state, "protocol4.pt": state,
    "checkpoint.pt": {"model.w": ramp(5, 3, 5), "model.b": ramp(6, 5), "optimizer.state.0.step": np.float32(2),
                      "optimizer.state.0.exp_avg": ramp(7, 3, 5), "list.0": ramp(8, 2)},
    "types.pt": {"half": ramp(10, 7), "brain": ramp(11, 7), "double": ramp(12, 7), "base": base, "rows": base[5:9],
                 "transposed": base.T, "scalar": ramp(13, 1)[0], "empty": np.zeros((0, 4), "<f4")},
    "bare.pt": {"arr_0": ramp(14, 6, 5)},
    "model.safetensors": {"fc.weight": ramp(3, 10, 8), "half": ramp(10, 7), "brain": ramp(11, 7), "double": ramp(12, 7),
                          "empty": np.zeros((0, 4), "<f4")},
}
for name in ("stored.npz", "packed.npz"):
    expected[name] = {k: v for k, v in np.load(name).items() if k not in ("step", "names")}
for file in sys.argv[1:]:
    got, wanted = np.load(file + ".npz"), expected[file]
    assert sorted(got.files) == sorted(wanted), (file, got.files)
    for name, a in wanted.items():
        b = got[name]
        assert b.dtype == np.dtype("<f4") and b.shape == a.shape and (b == a.astype("<f4")).all(), (file, name)
        assert a.ndim < 2 or not a.size or np.isfortran(b) == np.isfortran(a), (file, name)
    listed = {t["name"]: t for t in json.load(open(file + ".list"))["files"][0]["tensors"]}
    for name, a in wanted.items():
        t = listed[None if file == "bare.pt" else name]
        assert t["shape"] == list(a.shape) and t["values"] == a.size, (file, t)
    result = json.load(open(file + ".json"))["files"][0]
    assert result["values"] == sum(a.size for a in wanted.values()), file
    if file != "bare.pt":
        lines = {t["name"]: t for t in result["tensors"]}
        assert sorted(lines) == sorted(wanted), file
        assert all(lines[n]["shape"] == list(a.shape) and lines[n]["values"] == a.size for n, a in wanted.items()), file
        assert sum(t["zeros"] for t in lines.values()) == result["zeros"] and len(lines) > 1
print(len(expected), "files")
PY
grep -q "stored.npz: 2 tensors are left out (the first is 'step', int64); only float16, bfloat16, float32 and float64 are read" stored.npz.notes ||
    fail "$(cat stored.npz.notes)"
grep -q "float64 read as float32, without loss" stored.npz.notes || fail "$(cat stored.npz.notes)"
grep -q "'ids' holds int64: left out; only float16" model.safetensors.notes || fail "$(cat model.safetensors.notes)"
[ -z "$("$GRADNIC" ratio -q --against none -p dense types.pt 2>&1 >/dev/null)" ] || fail "notes in spite of -q"

# A line for each tensor, and a table for the file. The total is the file's, and the entropy too.
"$GRADNIC" ratio -p dense,lattice -k 8,10 --against none state_dict.pt >lines 2>/dev/null
head -1 lines | grep 'tensor  *type  *shape  *values .* dense 2^-8  *dense 2^-10  *lattice 2^-8' >/dev/null ||
    fail "$(cat lines)"
grep '^conv.weight  *float32  *4 x 3 x 2 x 2  *48 ' lines >/dev/null || fail "$(cat lines)"
grep '^state_dict.pt: 142 values' lines >/dev/null || fail "$(cat lines)"
"$GRADNIC" ratio --list types.pt | grep '^scalar  *float32  *scalar  *1$' >/dev/null || fail "--list"
"$GRADNIC" ratio --list types.pt state_dict.pt bare.pt >lines
[ "$(grep -c '^$' lines) $(grep -cE '^(types|state_dict|bare).pt:$' lines) $(sed -n 1p lines)" = "2 3 types.pt:" ] ||
    fail "--list of three files: $(cat lines)"
"$GRADNIC" decompress -q --to f32 -o all.f32 state_dict.pt.gn
"$GRADNIC" ratio -p dense --against none --json all.f32 | jq '.files[0].entropy' >a
"$GRADNIC" ratio -p dense --against none --json state_dict.pt 2>/dev/null | jq '.files[0].entropy' >b
same a b

# The program makes the bytes that another implementation made, and reads them.
GOLDEN=$SOURCE/tests/golden
"$PYTHON" "$GOLDEN/container.py" --npz golden.npz
"$GRADNIC" compress -q -p lattice golden.npz
same golden.npz.gn "$GOLDEN/tensors.gn"
# Names and shapes stay; the types are float32 no more or less.
"$GRADNIC" compress -q -o again.gn -p lattice golden.npz.gn
SOURCE=$SOURCE "$PYTHON" - <<'PY'
import os, sys
sys.path.insert(0, os.environ["SOURCE"] + "/tests/tools")
import reference
a, b = (open(n, "rb").read() for n in ("golden.npz.gn", "again.gn"))
assert (
    reference.read_directory(a) == reference.read_directory(b)
    and reference.read_container(a)[2].tobytes() == reference.read_container(b)[2].tobytes()
)
PY
"$GRADNIC" decompress -q --to npz -o - golden.npz.gn >piped.npz # an archive is written at several places
cat golden.npz.gn | "$GRADNIC" decompress -q --to npz - | cat >pipes.npz
"$GRADNIC" decompress -q -f -o golden.npz golden.npz.gn
same golden.npz piped.npz
same golden.npz pipes.npz
"$PYTHON" -c 'import zipfile; assert zipfile.ZipFile("golden.npz").testzip() is None'
# Names beyond ASCII come back.
"$PYTHON" -c 'import numpy as np; np.savez("words.npz", **{"größe/重み": np.ones(3, "<f4"), "plain": np.ones(2, "<f4")})'
"$GRADNIC" compress -q words.npz
"$GRADNIC" decompress -q -o words2.npz words.npz.gn
[ "$("$PYTHON" -c 'import numpy as np; print(*np.load("words2.npz").files)')" = "größe/重み plain" ] ||
    fail "names beyond ASCII"
"$PYTHON" - <<'PY'
import zipfile
names = zipfile.ZipFile("words2.npz").infolist()
assert [n.flag_bits & 0x800 for n in names] == [0x800, 0], [n.flag_bits for n in names]
PY

# One tensor, or some, by name. A glob matches across dots and slashes.
"$GRADNIC" compress -q -p lattice state_dict.pt:fc.weight
"$GRADNIC" decompress -q -o w.npy state_dict.pt.fc.weight.gn
"$GRADNIC" decompress -q -o w2.npy state_dict.pt.gn:fc.weight
"$GRADNIC" decompress -q --tensor fc.weight -o w3.npy state_dict.pt.gn
same w.npy w2.npy
same w.npy w3.npy
"$PYTHON" -c 'import numpy as np; assert np.load("w.npy").shape == (10, 8)'
[ "$("$GRADNIC" ratio --list --json --tensor 'fc.*' state_dict.pt | jq -c '[.files[0].tensors[].name]')" \
    = '["fc.weight","fc.bias"]' ] || fail "a glob"
[ "$("$GRADNIC" ratio --list --json --tensor '*/bias' packed.npz | jq -c '[.files[0].tensors[].name]')" \
    = '["layer.0/bias"]' ] || fail "a slash"
"$GRADNIC" decompress -q --tensor 'fc.*' -o fc.npz state_dict.pt.gn
[ "$("$PYTHON" -c 'import numpy as np; print(*np.load("fc.npz").files)')" = "fc.weight fc.bias" ] ||
    fail "some of a .gn file"
"$GRADNIC" ratio -q --against none -p dense 'state_dict.pt:conv.*' | head -3 | grep conv.bias >/dev/null ||
    fail "FILE:GLOB"
# By default the output is called what it is. No part gets the name of the whole, which -f would
# replace.
mkdir part
(
    cd part
    cp ../golden.npz m.npz
    "$GRADNIC" compress -q m.npz ../stored.npz -o .
    names=$("$GRADNIC" ratio --list --json m.npz | jq -r '.files[0].tensors[].name')
    one=$(head -1 <<<"$names")
    "$GRADNIC" decompress -q -f --tensor "$one" m.npz.gn
    "$GRADNIC" decompress -q -f --tensor '*' m.npz.gn
    "$GRADNIC" decompress -q -f "stored.npz.gn:layer.0/bias"
    "$GRADNIC" decompress -q -f --to npz stored.npz.gn:w
    "$GRADNIC" decompress -q -f --to f32 m.npz.gn
    same m.npz ../golden.npz
    file=m.npz.${one//\//_}.npy
    wanted=$(printf '%s\n' "$file" m.npz m.npz.f32 m.npz.gn m.npz.npz stored.npz.gn \
        stored.npz.layer.0_bias.npy stored.npz.w.npz | sort)
    [ "$(find . -type f -printf '%P\n' | sort)" = "$wanted" ] || fail "names: $(echo *), not: $wanted"
    "$PYTHON" -c 'import numpy as np, sys
assert isinstance(np.load(sys.argv[1]), np.ndarray)
assert np.load("stored.npz.w.npz").files == ["w"] and len(np.load("m.npz.npz").files) > 1' "$file"
) || exit 1
cp stored.npz 'a:b.npz'
"$GRADNIC" ratio --list 'a:b.npz:w' >/dev/null || fail "a colon in a file's name"
"$GRADNIC" ratio --list 'a:b.npz' >/dev/null || fail "a colon in a file's name"
expect 1 "state_dict.pt: no tensor has the name 'nosuch'; --list shows the names" \
    "$GRADNIC" compress state_dict.pt:nosuch
expect 1 "model.safetensors: 'ids' holds int64; only float16, bfloat16, float32 and float64 are read" \
    "$GRADNIC" ratio model.safetensors:ids
expect 1 "bare.pt: its values have no name; leave 'w' out" "$GRADNIC" ratio --tensor w bare.pt
expect 1 "state_dict.pt.gn: holds 4 tensors; write .npz, or choose one with --tensor" \
    "$GRADNIC" decompress -o all.npy state_dict.pt.gn
[ ! -e all.npy ] || fail "output after a failure"
expect 2 "--tensor is given twice; take a glob, as 'layer1.*'" \
    "$GRADNIC" ratio --tensor fc.weight --tensor fc.bias state_dict.pt
expect 1 "no tensor has the name 'nosuch'" "$GRADNIC" decompress --tensor nosuch -o x.npz state_dict.pt.gn

# --no-shape: version 1, for older programs.
"$GRADNIC" compress -q --no-shape -p lattice -o plain.gn state_dict.pt
[ "$(head -c 8 plain.gn)" = GRADNIC1 ] || fail "--no-shape wrote another version"
"$GRADNIC" decompress -q -o plain.f32 plain.gn
same plain.f32 all.f32
"$GRADNIC" decompress -q -o plain.npz plain.gn
"$PYTHON" -c 'import numpy as np; assert np.load("plain.npz")["arr_0"].shape == (142,)'

# What cannot be read is refused with a reason.
expect 1 "module.pt: byte 34 of the pickle asks for 'torch.nn.modules.linear.Linear'; gradnic runs no code of files" \
    "$GRADNIC" ratio module.pt
expect 1 "before-1.6.pt: saved as PyTorch did before version 1.6" "$GRADNIC" compress before-1.6.pt
expect 1 "strided.pt: tensor 'columns': its values do not lie one behind the other; save it as tensor.contiguous()" \
    "$GRADNIC" ratio strided.pt
gzip -k stored.npz
expect 1 "stored.npz.gz: such a file cannot be read through gzip; unpack it first" "$GRADNIC" ratio stored.npz.gz
for file in stored.npz model.safetensors; do
    expect 1 "standard input: such a file is read at many places, not from standard input or a pipe; name a file" \
        bash -c "cat $file | \"\$GRADNIC\" compress -o x.gn -"
done
expect 1 "model.safetensors: not a zip archive, or its end is missing" "$GRADNIC" ratio --format npz model.safetensors
: >empty.npz
: >empty.pt
"$PYTHON" -c 'import zipfile; zipfile.ZipFile("nothing.npz", "w").close()'
for file in empty.npz empty.pt; do expect 1 "$file: the file is empty" "$GRADNIC" compress "$file"; done
expect 1 "nothing.npz: the archive is empty" "$GRADNIC" compress nothing.npz
"$PYTHON" - <<'END'
import json, struct
head = json.dumps({"w": {"dtype": "F8_E4M3", "shape": [4], "data_offsets": [0, 4]}}).encode()
open("small.safetensors", "wb").write(struct.pack("<Q", len(head)) + head + b"abcd")
END
expect 1 "small.safetensors: 'w' holds float8_e4m3; only float16, bfloat16, float32 and float64 are read" \
    "$GRADNIC" compress small.safetensors
# Shells make empty names of variables that are not set.
for command in compress decompress ratio estimate; do
    expect 1 "gradnic $command: the name of an input file is empty" "$GRADNIC" "$command" ""
done
expect 1 "the name of an output file is empty" "$GRADNIC" compress -f -o "" stored.npz
expect 1 "the name of an output file is empty" "$GRADNIC" ratio --json= stored.npz
expect 1 "stored.npz: not a file of torch.save(): it has 0 members FOLDER/data.pkl, not one" \
    "$GRADNIC" ratio --format pt stored.npz
[ ! -e x.gn ] || fail "output after a failure"

# Other commands read them, too, and say what they do.
"$GRADNIC" estimate --help >/dev/null
"$GRADNIC" bench codec -t 0.01 -r 1 -p dense state_dict.pt:fc.weight >/dev/null 2>notes
"$GRADNIC" bench codec -t 0.01 -r 1 -p dense types.pt:half >/dev/null 2>notes
grep -q "float16 read as float32, without loss" notes || fail "bench codec: $(cat notes)"
