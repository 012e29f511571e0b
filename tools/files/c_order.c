// SPDX-License-Identifier: Apache-2.0
#include "c_order.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "npy.h"

/// Where values go, some at a time.
typedef struct sink {
    FILE *stream;
    const char *name;
} sink;

static gn_status put(const sink *to, const void *bytes, size_t size, gn_error *error)
{
    errno = 0;
    if (fwrite(bytes, 1, size, to->stream) == size) return GN_OK;
    return gn_fail(error, GN_IO, "%s: %s", to->name, errno ? strerror(errno) : "write error");
}

/// Values whose first index is the fastest. `at` is the place of the next one, `index` its indices.
static gn_status put_columns(const sink *to, const float *values, const gn_tensor *t, gn_error *error)
{
    uint64_t stride[GN_NPY_DIMENSIONS], index[GN_NPY_DIMENSIONS] = {0}, at = 0;
    for (unsigned i = 0; i < t->dimensions; i++) stride[i] = i ? stride[i - 1] * t->shape[i - 1] : 1;
    float piece[4096];
    size_t filled = 0;
    for (uint64_t done = 1; done <= t->count; done++) {
        piece[filled++] = values[at];
        if (filled == sizeof piece / sizeof *piece || done == t->count) {
            if (put(to, piece, filled * sizeof *piece, error)) return error->status;
            filled = 0;
        }
        for (unsigned i = t->dimensions; i-- > 0;) {
            at += stride[i];
            if (++index[i] < t->shape[i]) break;
            at -= stride[i] * t->shape[i];
            index[i] = 0;
        }
    }
    return GN_OK;
}

static gn_status put_tensors(const sink *to, const float *values, const gn_tensor_list *list, gn_error *error)
{
    for (size_t i = 0; i < list->count; i++) {
        const gn_tensor *t = &list->tensors[i];
        const gn_status wrong = gn_tensor_by_columns(t) ? put_columns(to, values, t, error)
                                                        : put(to, values, (size_t)t->count * sizeof *values, error);
        if (wrong) return wrong;
        values += t->count;
    }
    return GN_OK;
}

gn_status gn_c_order_copy(FILE *from, size_t header, const gn_tensor_list *list, FILE *to, const char *to_name,
                          gn_error *error)
{
    size_t size = header;
    for (size_t i = 0; i < list->count; i++) size += (size_t)list->tensors[i].count * sizeof(float);
    if (!size) return GN_OK;
    if (fflush(from)) return gn_fail(error, GN_IO, "temporary file: %s", strerror(errno));
    const uint8_t *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fileno(from), 0);
    if (bytes == MAP_FAILED) return gn_fail(error, GN_IO, "temporary file: %s", strerror(errno));
    const sink s = {to, to_name};
    gn_status wrong = put(&s, bytes, header, error);
    if (!wrong) wrong = put_tensors(&s, (const float *)(const void *)(bytes + header), list, error);
    munmap((void *)(uintptr_t)bytes, size);
    return wrong;
}
