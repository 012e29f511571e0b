#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# compress, decompress and ratio of 1 GiB in at most 64 MiB of memory.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

"$PYTHON" - <<'PY'
import os
import numpy as np
rng = np.random.default_rng(7)
piece = (rng.standard_normal(1 << 21) * rng.choice([1e-4, 1e-2, 0.3], 1 << 21)).astype("<f4").tobytes()
# 8 MiB of values and 8 MiB of zeros, sixteen times; the rest is a hole
with open("a.f32", "wb") as f:
    for i in range(16):
        f.write(piece)
        f.seek(len(piece), os.SEEK_CUR)
    f.truncate(1 << 30)
with open("b.f32", "wb") as f:
    for i in range(4):
        f.write(piece)
PY

# within COMMAND...: runs it and checks its largest resident size
within() {
    "$PYTHON" - "$@" <<'PY'
import os, resource, subprocess, sys
p = subprocess.run([os.environ["GRADNIC"]] + sys.argv[1:], stdout=subprocess.DEVNULL)
kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(f"{kib / 1024:.1f} MiB: {' '.join(sys.argv[1:])}")
limit = int(os.environ.get("limit", 64))
assert kib <= limit * 1024, f"more than {limit} MiB"
sys.exit(p.returncode)
PY
}
within compress -q a.f32
within compress -q -f -j 64 a.f32
within decompress -q --to f32 -o /dev/null a.f32.gn
within decompress -q --to f32 -j 64 -o /dev/null a.f32.gn
within ratio -q --against none a.f32
within ratio -q -j 64 -p all -k 6,8,10 b.f32
within ratio -q --against none -k 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15 -p dense b.f32 # entropies
gzip -1 b.f32
within compress -q -o b.gn b.f32.gz

# Archives of 1 MiB that unpack to 1 GiB, and headers and pickles as large as they may be.
"$PYTHON" - <<'PY'
import json, struct, zipfile
header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % (1 << 28)
with zipfile.ZipFile("bomb.npz", "w", zipfile.ZIP_DEFLATED) as z, z.open("a.npy", "w") as f:
    f.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header)
    for _ in range(1 << 10):
        f.write(bytes(1 << 20))
def pt(name, pickle):
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("m/data.pkl", pickle)
pt("nodes.pt", b"\x80\x02" + b"N" * ((1 << 25) - 3) + b".")
pt("long.pt", bytes(1 << 30))
many = {"t%d" % i: {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for i in range(40000)}
text = json.dumps(many).encode()
open("many.safetensors", "wb").write(struct.pack("<Q", len(text)) + text)
for name, text in (("deep", b"[" * (1 << 22)), ("wide", b"[" + b"[]," * ((1 << 22) // 3 - 2) + b"[]]"), ("long", bytes((1 << 22) + 1))):
    open(name + ".safetensors", "wb").write(struct.pack("<Q", len(text)) + text)
PY
within compress -q bomb.npz
within decompress -q -o /dev/null --to f32 bomb.npz.gn
limit=128 within ratio -q --list many.safetensors
for file in nodes.pt long.pt {deep,wide,long}.safetensors; do
    status=0
    limit=256 within ratio -q "$file" 2>errors || status=$?
    [ "$status $(grep -c '^gradnic ratio: ' errors)" = "1 1" ] || fail "$file: $status: $(cat errors)"
done
