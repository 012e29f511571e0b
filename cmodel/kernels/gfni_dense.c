// SPDX-License-Identifier: Apache-2.0
// Profile dense in AVX2 with GFNI, whose affine instruction transposes bit matrices.
#include "avx2_dense_sum.h"

const gn_kernel_row gn_gfni_dense = GN_DENSE_ROW;
