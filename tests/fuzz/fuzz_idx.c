// SPDX-License-Identifier: Apache-2.0
// IDX files from anywhere: either a message, or dimensions that agree with the bytes.
#include <stdlib.h>

#include "examples/train/idx.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gn_train_error error;
    gn_idx idx;
    if (gn_idx_parse(data, size, &idx, &error)) return 0;
    size_t count = 1;
    for (unsigned d = 0; d < idx.dims; d++) count *= idx.size[d];
    if (!idx.dims || idx.dims > GN_IDX_DIMS_MAX || !count || count != idx.count) abort();
    if (idx.values < data || idx.values + count != data + size) abort();
    unsigned sum = 0;
    for (size_t i = 0; i < count; i++) sum += idx.values[i];
    return sum == 0x7fffffff;
}
