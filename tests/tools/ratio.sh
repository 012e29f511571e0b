#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016 # bash -c expands it
# `gradnic ratio --json` against the same figures computed by NumPy from docs/codec.md alone.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

"$PYTHON" - <<'PY'
import numpy as np
rng = np.random.default_rng(3)
a = (rng.standard_normal(200003) * rng.choice([1e-4, 1e-2, 0.3, 50], 200003)).astype("<f4")
a[1000:1100] = 0
a[[5, 77, 70000]] = [np.nan, np.inf, -np.inf]
np.save("a.npy", a)
np.save("empty.npy", np.zeros(0, "<f4"))
np.save("zeros.npy", np.zeros(1000, "<f4"))
PY
cp "$DATA"/mlp-it1000-w0.npy.gz "$DATA"/cnn-it100-w1.npy.gz .
files=(a.npy mlp-it1000-w0.npy.gz cnn-it100-w1.npy.gz zeros.npy empty.npy)
"$GRADNIC" ratio --json -p all -k 6,10,14 "${files[@]}" >r.json
# A table for people says which columns are words in a way of its own, which nobody sees.
"$GRADNIC" ratio -k 10 zeros.npy >table.txt
grep -q '^ *codec  *bound  *ratio' table.txt || fail "no head of a table: $(cat table.txt)"
"$GRADNIC" ratio --json -p all -k 6,10,14 -j 1 --kernel scalar "${files[@]}" >r1.json

# Threads and kernels change the kernel's name only: all digits stay.
strip='del(.environment) | del(.. | .kernel?)'
jq "$strip" r.json >r.stripped
jq "$strip" r1.json >r1.stripped
same r.stripped r1.stripped

"$PYTHON" - <<'PY'
import gzip, json, os, sys
import numpy as np
sys.path.insert(0, os.environ["SOURCE"] + "/tests/tools")
import reference
report = json.load(open("r.json"))
CLASSES = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "u1", "u2", "u3", "10", "12", "16", "words"]
def load(name):
    return np.load(gzip.open(name) if name.endswith(".gz") else open(name, "rb")).ravel()
checked = 0
total = {}
for f in report["files"]:
    v = load(f["name"])
    finite = np.isfinite(v)
    wide = v[finite].astype(np.float64)
    assert f["values"] == v.size and f["not_finite"] == int((~finite).sum()) and f["zeros"] == int((v == 0).sum())
    def close(x, y, what):
        assert (x is None and not np.isfinite(y)) or abs(x - y) <= 1e-9 * max(abs(y), 1e-9), (f["name"], what, x, y)
    for r in f["results"]:
        k = r.get("bound_exp")
        if r["codec"] == "dense":
            pieces = [reference.dense(v[i : i + 65536], k) for i in range(0, max(v.size, 1), 65536)]
            classes, decoded = (np.concatenate([p[i] for p in pieces]) for i in (0, 2))
            stream_bytes = sum(p[1] for p in pieces)
            payload = int((reference.PLANES[classes] + (classes == 15)).sum())
            assert "tags" not in r and [r["classes"][n]["groups"] for n in CLASSES] == np.bincount(classes, minlength=16).tolist()
        elif r["codec"] in reference.QUANTISERS:
            tags, decoded = reference.QUANTISERS[r["codec"]](v, k)
            payload = int(np.array([0, 1, 2, 4])[tags].sum())
            stream_bytes = payload + 2 * ((v.size + 7) // 8)
            assert "classes" not in r and [r["tags"][n]["values"] for n in ("0", "8", "16", "32")] == np.bincount(tags, minlength=4).tolist()
        else:
            continue
        assert r["bytes"] == stream_bytes and r["payload_bytes"] == payload, (f["name"], r["codec"], k, r["bytes"], stream_bytes)
        if v.size == 0:
            assert r["ratio"] is None and r["max_error"] is None
            continue
        error = decoded[finite].astype(np.float64) - wide
        close(r["ratio"], 4 * v.size / stream_bytes, "ratio")
        close(r["payload_ratio"], 4 * v.size / payload if payload else np.inf, "payload ratio")
        close(r["max_error"], np.abs(error).max(), "max")
        close(r["rms_error"], np.sqrt((error**2).mean()), "rms")
        assert abs(r["mean_error"] - error.mean()) < 1e-12
        if np.abs(wide).sum():
            close(r["magnitude_kept"], np.abs(decoded[finite].astype(np.float64)).sum() / np.abs(wide).sum(), "kept")
        assert r["above_bound"] == int((np.abs(error) > 2.0**-k).sum())
        if r["codec"] != "paper":
            assert r["above_bound"] == 0 and r["max_error"] <= r["bound"]
        key = (r["codec"], k)
        total[key] = total.get(key, 0) + stream_bytes
        checked += 1
    for r in f["results"]:
        if r["codec"].startswith("zfp"):
            assert not f["not_finite"]
            assert not v.size or r["max_error"] <= r["bound"]
        if r["lossless"] and v.size:
            assert r["ratio"] > 0.9
for r in report["total"]["results"]:
    if (r["codec"], r.get("bound_exp")) in total:
        assert r["bytes"] == total[r["codec"], r["bound_exp"]]
assert report["total"]["values"] == sum(f["values"] for f in report["files"])
assert checked == 4 * 9, checked

# Entropies: of each file, and of all values together (zeros.npy has none, empty.npy no value).
everything = np.concatenate([load(f["name"]) for f in report["files"]])
for values, f in [(load(f["name"]), f) for f in report["files"]] + [(everything, report["total"])]:
    assert [e["bound_exp"] for e in f["entropy"]] == [6, 10, 14]
    for e in f["entropy"]:
        if not values.size:
            assert e["bits_per_value"] is None and e["symbols"] == 0
            continue
        bits = reference.entropy(values, e["bound_exp"])
        assert abs(e["bits_per_value"] - bits) <= 1e-9 * bits
        assert e["ratio"] is None if bits == 0 else abs(e["ratio"] - 32 / bits) <= 1e-9 * e["ratio"]
        tags = reference.lattice(values, e["bound_exp"])[0]
        assert e["raw"] == int((tags == 3).sum())
PY

# The table has the same figures. All profiles are its default. Classes are below it; entropies
# are only for profiles with integers.
near() { # WHAT TABLE JSON
    awk -v a="$2" -v b="$3" 'BEGIN {exit !(a - b < 0.011 && b - a < 0.011)}' || fail "$1: $2 in the table, $3 in JSON"
}
"$GRADNIC" ratio --against none cnn-it100-w1.npy.gz >table
for codec in paper lattice dense; do
    near "$codec" "$(awk -v c=$codec '$1 == c {print $3; exit}' table)" \
        "$(jq --arg c $codec '.files[2].results[] | select(.codec == $c and .bound_exp == 10) | .ratio' r.json)"
done
near entropy "$(awk '$1 == "entropy" {print $3}' table)" "$(jq '.files[2].entropy[1].ratio' r.json)"
near "groups of zeros" "$(awk '$1 == "dense" {share = $3} END {print share}' table)" \
    "$(jq '.files[2].results[] | select(.codec == "dense" and .bound_exp == 10) | .classes["0"].share * 100' r.json)"
"$GRADNIC" ratio --against none -p paper -k 10 cnn-it100-w1.npy.gz >table
! grep -E '^(entropy|groups|dense|lattice)' table || fail "more than paper"

"$GRADNIC" ratio -q a.npy >table
! grep -q '^zfp ' table || fail "zfp of what is not finite"
"$GRADNIC" ratio -q zeros.npy >other
! grep -q '^zfp ' other || grep -qx 'zfp: data not finite, left out' table || fail "nothing is said about zfp"

# Several files: one that cannot be read is reported and left out, and the status is 1.
expect 1 "gradnic ratio: missing.npy: No such file or directory" "$GRADNIC" ratio a.npy missing.npy zeros.npy
[ "$("$GRADNIC" ratio -q --json --against none missing.npy zeros.npy 2>/dev/null | jq '.files | length')" = 1 ] || fail "the good file is missing"
expect 2 "can be read only once" "$GRADNIC" ratio - a.npy -
expect 2 "kernel 'mmx'" "$GRADNIC" ratio --kernel mmx a.npy
expect 2 "'zip' is not a profile; there are paper, lattice, dense, all" "$GRADNIC" ratio -p zip a.npy
expect 2 "'zip' is not a profile; there are paper, lattice, dense, none" "$GRADNIC" train -p zip
expect 2 "no FILE" "$GRADNIC" ratio
expect 2 "bound 6 is given twice" "$GRADNIC" ratio -k 6,6 a.npy
expect 2 "'rar' is not a compressor; there are zstd, lz4, snappy, zlib, zfp, all, none" "$GRADNIC" ratio --against rar a.npy
expect 2 "paper takes bounds from 2^-1 (k = 1)" "$GRADNIC" ratio -k 0 a.npy
expect 1 "standard output: " bash -c '"$GRADNIC" ratio -q --against none a.npy >/dev/full'

# A name may have any bytes. In JSON they come back: what is not UTF-8 as \xHH, a backslash as two.
odd=$'caf\xc3\xa9-\xff\xfe\\n.npy'
cp a.npy "$odd"
"$GRADNIC" ratio --json -p dense --against none a.npy "$odd" >odd.json
[ "$(jq '.files | length' odd.json)" -eq 2 ] || fail "a file is missing: $(cat odd.json)"
[ "$(jq -r '.files[1].name' odd.json)" = 'café-\xff\xfe\\n.npy' ] || fail "another name: $(jq '.files[1].name' odd.json)"
"$GRADNIC" compress --json "$odd" >odd.json
[ "$(jq -r .output odd.json)" = 'café-\xff\xfe\\n.npy.gn' ] || fail "another name: $(cat odd.json)"
"$GRADNIC" bench codec --json -p dense -r 1 --layout cache "$odd" >odd.json
[ "$(jq -r '.files[0]' odd.json)" = 'café-\xff\xfe\\n.npy' ] || fail "another name: $(jq .files odd.json)"
expect 2 "printable ASCII" "$GRADNIC" switch end $'job\xff'
