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
sys.exit(p.returncode or kib > 64 * 1024)
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
