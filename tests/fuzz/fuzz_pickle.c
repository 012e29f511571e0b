// SPDX-License-Identifier: Apache-2.0
// Any bytes as the pickle of a .pt file: a message, or tensors that lie within their storages.
#include <stdint.h>
#include <string.h>

#include "fuzz.h"
#include "tools/files/pickle.h"

static gn_status found(void *context, const gn_pickle_tensor *t, gn_error *error)
{
    (void)error;
    uint64_t product;
    ++*(size_t *)context;
    check(gn_shape_count(t->tensor->shape, t->tensor->dimensions, &product) && product == t->tensor->count);
    check(t->tensor->offset <= t->storage_count && product <= t->storage_count - t->tensor->offset);
    check(strlen(t->storage) < GN_PICKLE_STORAGE_NAME && strlen(t->tensor->name) <= GN_TENSOR_NAME_MAX);
    return GN_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t count = 0;
    gn_error error;
    uint8_t *bytes = exact(size);
    if (size) memcpy(bytes, data, size);
    if (gn_pickle_read(bytes, size, "fuzz", found, &count, &error)) check(error.text[0]);
    free(bytes);
    return 0;
}
