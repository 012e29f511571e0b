// SPDX-License-Identifier: Apache-2.0
#include "safetensors.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "little.h"

enum { LENGTH_BYTES = 8 };

static const struct {
    char name[8];
    const char *type;  // for people
    uint8_t bytes;
    bool is_float;
    gn_dtype dtype;
} types[] = {
    {"F32", "float32", 4, true, GN_FLOAT32},
    {"F16", "float16", 2, true, GN_FLOAT16},
    {"BF16", "bfloat16", 2, true, GN_BFLOAT16},
    {"F64", "float64", 8, true, GN_FLOAT64},
    {"I64", "int64", 8, false, 0},
    {"I32", "int32", 4, false, 0},
    {"I16", "int16", 2, false, 0},
    {"I8", "int8", 1, false, 0},
    {"U64", "uint64", 8, false, 0},
    {"U32", "uint32", 4, false, 0},
    {"U16", "uint16", 2, false, 0},
    {"U8", "uint8", 1, false, 0},
    {"BOOL", "bool", 1, false, 0},
    {"F8_E4M3", "float8_e4m3", 1, false, 0},
    {"F8_E5M2", "float8_e5m2", 1, false, 0},
};

typedef struct file {
    const char *name;
    uint64_t data, bytes;  // where the tensors' bytes begin, and how many there are
    gn_error *error;
} file;

static gn_status bad(const file *f, const char *tensor, const char *what)
{
    return gn_fail(f->error, GN_CORRUPT, "%s: tensor '%s': %s", f->name, gn_label(tensor).s, what);
}

/// Reads a list of numbers; false if it is anything else or longer than `room`.
static bool read_numbers(const json_t *list, uint64_t *numbers, size_t room, size_t *count)
{
    *count = json_array_size(list);
    if (!json_is_array(list) || *count > room) return false;
    for (size_t i = 0; i < *count; i++) {
        const json_t *number = json_array_get(list, i);
        if (!json_is_integer(number) || json_integer_value(number) < 0) return false;
        numbers[i] = (uint64_t)json_integer_value(number);
    }
    return true;
}

static gn_status add_tensor(const file *f, const char *name, const json_t *entry, gn_tensor_list *list)
{
    uint64_t shape[GN_TENSOR_DIMENSIONS], range[2];
    size_t dimensions = 0, ends = 0, type = 0;
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    if (!dtype) return bad(f, name, "has no dtype");
    if (!read_numbers(json_object_get(entry, "shape"), shape, GN_TENSOR_DIMENSIONS, &dimensions))
        return bad(f, name, "has no shape of at most 64 dimensions");
    if (!read_numbers(json_object_get(entry, "data_offsets"), range, 2, &ends) || ends != 2)
        return bad(f, name, "has no data_offsets");
    if (json_object_size(entry) != 3) return bad(f, name, "has other members than dtype, shape and data_offsets");
    gn_tensor tensor = {.name = (char *)(uintptr_t)name,
                        .shaped = true,
                        .dimensions = (unsigned)dimensions,
                        .shape = shape,
                        .offset = f->data + range[0]};
    if (!gn_shape_count(shape, tensor.dimensions, &tensor.count)) return bad(f, name, "its shape is impossibly large");
    if (range[0] > range[1] || range[1] > f->bytes) {
        char what[128];
        snprintf(what, sizeof what, "bytes %" PRIu64 " to %" PRIu64 " are not within the file's %" PRIu64, range[0],
                 range[1], f->bytes);
        return bad(f, name, what);
    }
    const size_t count = sizeof types / sizeof *types;
    while (type < count && strcmp(types[type].name, dtype) != 0) type++;
    if (type < count && tensor.count * types[type].bytes != range[1] - range[0])
        return bad(f, name, "its bytes are not as many as its shape needs");
    tensor.is_float = type < count && types[type].is_float;
    if (tensor.is_float) tensor.dtype = types[type].dtype;
    snprintf(tensor.type, sizeof tensor.type, "%s", type < count ? types[type].type : dtype);
    tensor.place = range[1] - range[0];
    return gn_tensor_add(list, &tensor, f->name, f->error);
}

static int by_offset(const void *a, const void *b)
{
    const gn_tensor *x = a, *y = b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/// One tensor begins where the one before ends, and the last one ends with the file.
static gn_status check_order(const file *f, gn_tensor_list *list)
{
    uint64_t at = f->data;
    if (list->count) qsort(list->tensors, list->count, sizeof *list->tensors, by_offset);
    for (size_t i = 0; i < list->count; i++) {
        const gn_tensor *t = &list->tensors[i];
        if (t->offset < at) return bad(f, t->name, "shares bytes with another tensor");
        if (t->offset > at) return bad(f, t->name, "bytes before it belong to no tensor");
        at += t->place;
    }
    if (at == f->data + f->bytes) return GN_OK;
    return gn_fail(f->error, GN_CORRUPT, "%s: byte %" PRIu64 ": the file goes on after its last tensor", f->name, at);
}

static gn_status list_tensors(const file *f, const char *header, size_t length, gn_tensor_list *list)
{
    json_error_t fault;
    json_t *root = json_loadb(header, length, JSON_REJECT_DUPLICATES, &fault);
    if (!root)
        return gn_fail(f->error, GN_CORRUPT, "%s: byte %d: the header is not JSON: %s", f->name,
                       LENGTH_BYTES + fault.position, gn_label(fault.text).s);
    gn_status wrong = GN_OK;
    if (!json_is_object(root)) wrong = gn_fail(f->error, GN_CORRUPT, "%s: the header is not a JSON object", f->name);
    const char *name;
    json_t *entry;
    json_object_foreach(root, name, entry)
    {
        if (wrong) break;
        if (strcmp(name, "__metadata__") != 0) wrong = add_tensor(f, name, entry, list);
    }
    json_decref(root);
    return wrong ? wrong : check_order(f, list);
}

gn_status gn_safetensors_list(FILE *stream, uint64_t bytes, const char *name, gn_tensor_list *list, gn_error *error)
{
    uint8_t prefix[LENGTH_BYTES];
    if (fseeko(stream, 0, SEEK_SET) || fread(prefix, 1, sizeof prefix, stream) != sizeof prefix)
        return gn_fail(error, GN_TRUNCATED, "%s: ends within its first %d bytes", name, LENGTH_BYTES);
    const uint64_t length = gn_little(prefix, LENGTH_BYTES);
    if (length > bytes - LENGTH_BYTES || length > GN_SAFETENSORS_HEADER_MAX)
        return gn_fail(error, GN_CORRUPT,
                       "%s: byte 0: a header of %" PRIu64 " bytes; the file has %" PRIu64 ", and at most %d are read",
                       name, length, bytes, GN_SAFETENSORS_HEADER_MAX);
    char *header = malloc((size_t)length + 1);
    if (!header) return gn_fail_memory(error);
    const file f = {name, LENGTH_BYTES + length, bytes - LENGTH_BYTES - length, error};
    errno = 0;
    const gn_status wrong = fread(header, 1, (size_t)length, stream) == length
                                ? list_tensors(&f, header, (size_t)length, list)
                                : gn_fail(error, GN_IO, "%s: %s", name, errno ? strerror(errno) : "read error");
    free(header);
    return wrong;
}
