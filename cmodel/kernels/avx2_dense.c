// SPDX-License-Identifier: Apache-2.0
// Profile dense in AVX2.
#include "avx2_dense_sum.h"

const gn_kernel_row gn_avx2_dense = GN_DENSE_ROW;
