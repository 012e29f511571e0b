// SPDX-License-Identifier: Apache-2.0
// Any bytes as a .npy file: a message, or as many values as the header announces.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"
#include "tools/files/values.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size) return 0;
    gn_error error;
    gn_input *input;
    gn_values *values;
    FILE *stream = fmemopen((void *)(uintptr_t)data, size, "rb");
    if (!stream || gn_input_from_stream(&input, stream, "fuzz.npy", &error)) abort();
    if (gn_values_from_input(&values, input, &(gn_values_choice){.format = GN_FORMAT_NPY, .cast = true}, &error))
        return 0;
    uint64_t count = 0;
    for (;;) {
        float buffer[61];
        size_t got;
        if (gn_values_read(values, buffer, 61, &got, &error)) break;
        count += got;
        if (got) continue;
        const gn_npy *npy = gn_values_npy(values);
        if (count != npy->count || npy->header_bytes + count * gn_dtype_bytes(npy->dtype) != size) abort();
        break;
    }
    gn_values_close(values);
    return 0;
}
