#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The same bytes with any number of threads and with every kernel of this machine.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

"$PYTHON" -c '
import numpy as np
rng = np.random.default_rng(4)
n = 3000005
(rng.standard_normal(n) * rng.choice([1e-5, 1e-3, 0.02, 0.7, 80], n)).astype("<f4").tofile("a.f32")'
for profile in paper lattice dense; do
    "$GRADNIC" compress -q -p $profile -j 1 --kernel scalar -o reference.gn a.f32
    "$GRADNIC" decompress -q -j 1 -o reference.f32 reference.gn
    for threads in 1 2 3 7 0; do
        "$GRADNIC" compress -q -f -p $profile -j $threads -o x.gn a.f32
        same reference.gn x.gn
        "$GRADNIC" decompress -q -f -j $threads -o x.f32 x.gn
        same reference.f32 x.f32
    done
    for kernel in avx2 gfni avx512 avx512-gfni neon auto; do
        if "$GRADNIC" compress -q -f -p $profile --kernel $kernel -o x.gn a.f32 2>err; then
            same reference.gn x.gn
        else
            grep -q "kernel" err || fail "kernel $kernel: $(cat err)"
            echo "this machine has no $kernel: $profile was not tried with it"
        fi
    done
    rm reference.*
done
