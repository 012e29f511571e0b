// SPDX-License-Identifier: Apache-2.0
// .gn files of version 2: the directory behind the header, with names, types and shapes of tensors
// (docs/container.md).
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "container_bytes.h"

// A directory is a count, entries, and a CRC of what stands before it.
enum { COUNT_BYTES = 4, CRC_BYTES = 4 };

// Offsets within an entry. The shape and the name follow.
enum { AT_NAME_BYTES = 0, AT_DTYPE = 2, AT_ORDER = 3, AT_DIMENSIONS = 4, AT_RESERVED = 5, ENTRY_BYTES = 8 };

static int by_name(const void *a, const void *b)
{
    const gn_container_tensor *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

// Finds a tensor whose name another one has, too. `*twice` is NULL if there is none.
static gn_status find_twice(const gn_container_tensor *tensors, size_t count, const gn_container_tensor **twice)
{
    *twice = NULL;
    const gn_container_tensor **sorted = malloc((count + 1) * sizeof *sorted);
    if (!sorted) return GN_NO_MEMORY;
    for (size_t i = 0; i < count; i++) sorted[i] = &tensors[i];
    qsort(sorted, count, sizeof *sorted, by_name);
    for (size_t i = 1; i < count && !*twice; i++)
        if (!strcmp(sorted[i - 1]->name, sorted[i]->name))
            *twice = sorted[i] > sorted[i - 1] ? sorted[i] : sorted[i - 1];
    free(sorted);
    return GN_OK;
}

// The product of a shape; false if it does not fit.
static bool product(const uint64_t *shape, unsigned dimensions, uint64_t *count)
{
    *count = 1;
    for (unsigned i = 0; i < dimensions; i++)
        if (!shape[i]) *count = 0;
    for (unsigned i = 0; i < dimensions && *count; i++)
        if (__builtin_mul_overflow(*count, shape[i], count)) return false;
    return true;
}

static gn_status measure(const gn_container_tensor *tensors, size_t count, size_t *size, uint64_t *value_count)
{
    if (!count || count > GN_CONTAINER_TENSORS_MAX) return GN_INVALID;
    *size = COUNT_BYTES + CRC_BYTES;
    *value_count = 0;
    for (size_t i = 0; i < count; i++) {
        const gn_container_tensor *t = &tensors[i];
        const size_t name_bytes = strlen(t->name);
        uint64_t values;
        if (name_bytes > GN_CONTAINER_NAME_MAX || t->dimensions > GN_CONTAINER_DIMENSIONS || t->dtype >= GN_DTYPE_COUNT)
            return GN_INVALID;
        if (!product(t->shape, t->dimensions, &values) || __builtin_add_overflow(*value_count, values, value_count))
            return GN_INVALID;
        *size += ENTRY_BYTES + 8 * (size_t)t->dimensions + name_bytes;
    }
    return *size <= GN_CONTAINER_DIRECTORY_MAX && *value_count != GN_CONTAINER_UNKNOWN ? GN_OK : GN_INVALID;
}

static uint8_t *put_entry(uint8_t *at, const gn_container_tensor *t)
{
    const size_t name_bytes = strlen(t->name);
    memset(at, 0, ENTRY_BYTES);
    at[AT_NAME_BYTES] = (uint8_t)name_bytes;
    at[AT_NAME_BYTES + 1] = (uint8_t)(name_bytes >> 8);
    at[AT_DTYPE] = (uint8_t)t->dtype;
    at[AT_ORDER] = t->fortran_order;
    at[AT_DIMENSIONS] = (uint8_t)t->dimensions;
    at += ENTRY_BYTES;
    for (unsigned i = 0; i < t->dimensions; i++, at += 8) gn_store64(at, t->shape[i]);
    memcpy(at, t->name, name_bytes);
    return at + name_bytes;
}

gn_status gn_container_encode_directory(const gn_container_tensor *tensors, size_t count, uint8_t **bytes, size_t *size,
                                        uint64_t *value_count)
{
    const gn_container_tensor *twice;
    gn_status status = measure(tensors, count, size, value_count);
    if (!status) status = find_twice(tensors, count, &twice);
    if (status) return status;
    if (twice) return GN_INVALID;
    *bytes = malloc(*size);
    if (!*bytes) return GN_NO_MEMORY;
    gn_store32(*bytes, (uint32_t)count);
    uint8_t *at = *bytes + COUNT_BYTES;
    for (size_t i = 0; i < count; i++) at = put_entry(at, &tensors[i]);
    gn_store32(at, gn_container_crc(*bytes, *size - CRC_BYTES));
    return GN_OK;
}

// What is being read, and how far.
typedef struct cursor {
    const uint8_t *bytes;
    size_t at, end;  // of the entries
    gn_container_fault *fault;
} cursor;

static gn_status bad(const cursor *c, size_t at, const char *what)
{
    return gn_container_fail(c->fault, GN_CORRUPT, GN_CONTAINER_UNKNOWN, GN_CONTAINER_HEADER + at, "%s", what);
}

// Reads one entry. `*shapes` and `*names` are where its shape and its name are stored.
static gn_status read_entry(cursor *c, gn_container_tensor *t, uint64_t **shapes, char **names)
{
    const size_t begin = c->at;
    if (c->end - begin < ENTRY_BYTES) return bad(c, begin, "the directory ends within a tensor");
    const uint8_t *entry = c->bytes + begin;
    const size_t name_bytes = (size_t)entry[AT_NAME_BYTES] | (size_t)entry[AT_NAME_BYTES + 1] << 8;
    const unsigned dimensions = entry[AT_DIMENSIONS];
    if (name_bytes > GN_CONTAINER_NAME_MAX) return bad(c, begin, "a name of more than 1024 bytes");
    if (entry[AT_DTYPE] >= GN_DTYPE_COUNT) return bad(c, begin + AT_DTYPE, "the type is unknown");
    if (entry[AT_ORDER] > 1) return bad(c, begin + AT_ORDER, "the order is unknown");
    if (dimensions > GN_CONTAINER_DIMENSIONS) return bad(c, begin + AT_DIMENSIONS, "more than 64 dimensions");
    if (entry[AT_RESERVED] || entry[AT_RESERVED + 1] || entry[AT_RESERVED + 2])
        return bad(c, begin + AT_RESERVED, "the reserved field is not zero");
    if (c->end - begin - ENTRY_BYTES < 8 * (size_t)dimensions + name_bytes)
        return bad(c, begin, "the directory ends within a tensor");
    const uint8_t *at = entry + ENTRY_BYTES;
    *t = (gn_container_tensor){.name = *names,
                               .dtype = (gn_dtype)entry[AT_DTYPE],
                               .fortran_order = entry[AT_ORDER],
                               .dimensions = dimensions,
                               .shape = *shapes};
    for (unsigned i = 0; i < dimensions; i++, at += 8) *(*shapes)++ = gn_load64(at);
    if (memchr(at, 0, name_bytes)) return bad(c, begin, "a name holds a zero byte");
    memcpy(*names, at, name_bytes);
    (*names)[name_bytes] = 0;
    *names += name_bytes + 1;
    c->at = begin + ENTRY_BYTES + 8 * (size_t)dimensions + name_bytes;
    return product(t->shape, dimensions, &t->count) ? GN_OK : bad(c, begin + ENTRY_BYTES, "the shape is too large");
}

static gn_status read_entries(cursor *c, gn_container_directory *d, uint64_t value_count)
{
    uint64_t *shapes = d->shapes;
    char *names = d->names;
    const gn_container_tensor *twice;
    gn_status status = GN_OK;
    for (size_t i = 0; i < d->count; i++) {
        const size_t begin = c->at;
        status = read_entry(c, &d->tensors[i], &shapes, &names);
        if (status) return status;
        if (d->tensors[i].count > value_count - d->value_count)
            return bad(c, begin, "the tensors have more values than the file");
        d->value_count += d->tensors[i].count;
    }
    if (c->at != c->end) return bad(c, c->at, "the directory goes on behind its last tensor");
    if (d->value_count != value_count)
        return gn_container_fail(c->fault, GN_CORRUPT, GN_CONTAINER_UNKNOWN, GN_CONTAINER_HEADER,
                                 "the tensors have %" PRIu64 " values, the file %" PRIu64, d->value_count, value_count);
    status = find_twice(d->tensors, d->count, &twice);
    if (status || !twice) return status;
    return gn_container_fail(c->fault, GN_CORRUPT, GN_CONTAINER_UNKNOWN, GN_CONTAINER_HEADER,
                             "tensor %zu has the name of another one", (size_t)(twice - d->tensors));
}

gn_status gn_container_decode_directory(const uint8_t *bytes, size_t size, uint64_t value_count,
                                        gn_container_directory *d, gn_container_fault *fault)
{
    cursor c = {.bytes = bytes, .at = COUNT_BYTES, .end = size - CRC_BYTES, .fault = fault};
    *d = (gn_container_directory){0};
    if (size < COUNT_BYTES + CRC_BYTES) return bad(&c, 0, "the directory is too short");
    const uint32_t stated = gn_load32(bytes + c.end), found = gn_container_crc(bytes, c.end);
    if (stated != found)
        return gn_container_fail(fault, GN_CORRUPT, GN_CONTAINER_UNKNOWN, GN_CONTAINER_HEADER + c.end,
                                 "the directory's crc32 is %08" PRIx32 ", it says %08" PRIx32, found, stated);
    const uint32_t count = gn_load32(bytes);
    if (!count || count > GN_CONTAINER_TENSORS_MAX || count > (c.end - c.at) / ENTRY_BYTES)
        return bad(&c, 0, "an impossible number of tensors");
    d->tensors = calloc(count, sizeof *d->tensors);
    d->shapes = malloc(size + sizeof *d->shapes);
    d->names = malloc(size + count);
    d->count = count;
    if (!d->tensors || !d->shapes || !d->names) return GN_NO_MEMORY;
    return read_entries(&c, d, value_count);
}

void gn_container_directory_clear(gn_container_directory *d)
{
    free(d->tensors);
    free(d->shapes);
    free(d->names);
    *d = (gn_container_directory){0};
}
