// SPDX-License-Identifier: Apache-2.0
#include "values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <gradnic/container.h>

struct gn_values {
    gn_input *input;
    gn_format format;
    gn_npy npy;
    uint64_t count;  // UINT64_MAX: not known
    uint64_t done;
    gn_container_reader *reader;  // of .gn
    gn_error below;               // from gn_input_read() below the reader
};

gn_status gn_parse_format(const char *text, gn_format *format, gn_error *error)
{
    static const char *const names[] = {"auto", "f32", "npy", "gn"};
    for (unsigned i = 0; i < 4; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        *format = (gn_format)i;
        return GN_OK;
    }
    return gn_fail(error, GN_INVALID, "'%s' is not a format; there are auto, f32, npy and gn", text);
}

static gn_status detect(gn_input *input, gn_format *format, gn_error *error)
{
    if (gn_input_has_suffix(input, ".npy")) return *format = GN_FORMAT_NPY, GN_OK;
    if (gn_input_has_suffix(input, ".f32")) return *format = GN_FORMAT_F32, GN_OK;
    if (gn_input_has_suffix(input, ".gn")) return *format = GN_FORMAT_GN, GN_OK;
    uint8_t magic[8];
    size_t got;
    gn_status wrong = gn_input_peek(input, magic, sizeof magic, &got, error);
    if (wrong) return wrong;
    if (got >= 6 && !memcmp(magic, "\x93NUMPY", 6)) return *format = GN_FORMAT_NPY, GN_OK;
    if (got == 8 && !memcmp(magic, "GRADNIC1", 8)) return *format = GN_FORMAT_GN, GN_OK;
    if (!gn_input_is_file(input) && !got)
        return gn_fail(error, GN_INVALID, "%s: the file is empty; if it has no values, give --format f32",
                       gn_input_name(input));
    if (!gn_input_is_file(input)) return *format = GN_FORMAT_F32, GN_OK;
    return gn_fail(error, GN_UNSUPPORTED,
                   "%s: neither its name (.npy, .f32, .gn, each also .gz) nor its first bytes tell the format; for raw "
                   "binary32 give --format f32",
                   gn_input_name(input));
}

static gn_status read_input(void *context, void *data, size_t bytes, size_t *got)
{
    gn_values *values = context;
    return gn_input_read(values->input, data, bytes, got, &values->below) ? GN_IO : GN_OK;
}

static gn_status check_container(const gn_values *values, gn_status status, gn_error *error)
{
    const char *name = gn_input_name(values->input);
    if (status == GN_OK) return GN_OK;
    if (status == GN_NO_MEMORY) return gn_fail(error, status, "%s: out of memory", name);
    if (status != GN_IO) return gn_fail(error, status, "%s: %s", name, gn_container_reader_fault(values->reader)->text);
    *error = values->below;
    return error->status;
}

static gn_status open_container(gn_values *values, gn_error *error)
{
    const gn_status status = gn_container_reader_new(&values->reader, read_input, values, NULL);
    if (!status) values->count = gn_container_reader_info(values->reader)->value_count;
    return check_container(values, status, error);
}

static gn_status open_format(gn_values *values, gn_error *error)
{
    if (values->format == GN_FORMAT_NPY) {
        gn_status wrong = gn_npy_read_header(values->input, &values->npy, error);
        values->count = values->npy.count;
        return wrong;
    }
    if (values->format == GN_FORMAT_GN) return open_container(values, error);
    const uint64_t bytes = gn_input_size(values->input);
    values->count = bytes == UINT64_MAX ? UINT64_MAX : bytes / sizeof(float);
    return GN_OK;
}

gn_status gn_values_from_input(gn_values **result, gn_input *input, gn_format format, gn_error *error)
{
    gn_values *values = calloc(1, sizeof *values);
    if (!values) {
        gn_input_close(input);
        return gn_fail_memory(error);
    }
    values->input = input;
    values->format = format;
    gn_status wrong = format == GN_FORMAT_AUTO ? detect(input, &values->format, error) : GN_OK;
    if (!wrong) wrong = open_format(values, error);
    if (wrong) {
        gn_values_close(values);
        return wrong;
    }
    *result = values;
    return GN_OK;
}

gn_status gn_values_open(gn_values **result, const char *path, gn_format format, gn_error *error)
{
    gn_input *input;
    gn_status wrong = gn_input_open(&input, path, error);
    return wrong ? wrong : gn_values_from_input(result, input, format, error);
}

static gn_status expect_end(gn_values *values, gn_error *error)
{
    uint8_t byte;
    size_t got;
    gn_status wrong = gn_input_peek(values->input, &byte, 1, &got, error);
    if (wrong || !got) return wrong;
    return gn_fail(error, GN_CORRUPT, "%s: byte %" PRIu64 ": the file goes on after its %" PRIu64 " values",
                   gn_input_name(values->input), gn_input_offset(values->input), values->count);
}

static gn_status read_plain(gn_values *values, float *buffer, size_t capacity, size_t *got, gn_error *error)
{
    const char *name = gn_input_name(values->input);
    const bool announced = values->format == GN_FORMAT_NPY;  // raw values end where the file ends
    if (announced && values->count - values->done < capacity) capacity = (size_t)(values->count - values->done);
    size_t bytes;
    gn_status wrong = gn_input_read(values->input, buffer, capacity * sizeof *buffer, &bytes, error);
    if (wrong) return wrong;
    *got = bytes / sizeof *buffer;
    values->done += *got;
    const uint64_t at = gn_input_offset(values->input);
    if (announced && *got < capacity)
        return gn_fail(error, GN_TRUNCATED, "%s: byte %" PRIu64 ": ends after %" PRIu64 " of %" PRIu64 " values", name,
                       at, values->done, values->count);
    if (bytes % sizeof *buffer)
        return gn_fail(error, GN_TRUNCATED, "%s: byte %" PRIu64 ": ends within a value (%zu of its 4 bytes)", name,
                       at - bytes % 4, bytes % 4);
    return announced && values->done == values->count ? expect_end(values, error) : GN_OK;
}

gn_status gn_values_read(gn_values *values, float *buffer, size_t capacity, size_t *got, gn_error *error)
{
    *got = 0;
    if (values->reader) return check_container(values, gn_container_read(values->reader, buffer, capacity, got), error);
    return read_plain(values, buffer, capacity, got, error);
}

uint64_t gn_values_count(const gn_values *values)
{
    return values->count;
}

gn_format gn_values_format(const gn_values *values)
{
    return values->format;
}

const gn_npy *gn_values_npy(const gn_values *values)
{
    return values->format == GN_FORMAT_NPY ? &values->npy : NULL;
}

gn_container_reader *gn_values_container(const gn_values *values)
{
    return values->reader;
}

gn_status gn_values_check_container(const gn_values *values, gn_status status, gn_error *error)
{
    return check_container(values, status, error);
}

gn_input *gn_values_input(gn_values *values)
{
    return values->input;
}

void gn_values_close(gn_values *values)
{
    if (!values) return;
    gn_container_reader_free(values->reader);
    gn_input_close(values->input);
    free(values);
}

/// Reads to the end. The buffer grows as values come, so a wrong announced count costs no memory.
static gn_status load_all(gn_values *values, float **all, size_t *count, gn_error *error)
{
    const uint64_t announced = gn_values_count(values);
    size_t capacity = announced < 1u << 20 ? (size_t)announced + 1 : 1u << 20;
    float *buffer = malloc(capacity * sizeof *buffer);
    if (!buffer) return gn_fail_memory(error);
    *count = 0;
    for (;;) {
        size_t got = 0;
        gn_status wrong = gn_values_read(values, buffer + *count, capacity - *count, &got, error);
        if (wrong) {
            free(buffer);
            return wrong;
        }
        if (!got) break;
        *count += got;
        if (*count < capacity) continue;
        float *larger = capacity > SIZE_MAX / 8 ? NULL : realloc(buffer, capacity * 2 * sizeof *buffer);
        if (!larger) {
            free(buffer);
            return gn_fail(error, GN_NO_MEMORY, "%s: out of memory", gn_input_name(values->input));
        }
        buffer = larger;
        capacity *= 2;
    }
    *all = buffer;
    return GN_OK;
}

gn_status gn_values_load(const char *path, gn_format format, float **all, size_t *count, gn_error *error)
{
    gn_values *values;
    gn_status wrong = gn_values_open(&values, path, format, error);
    if (wrong) return wrong;
    wrong = load_all(values, all, count, error);
    gn_values_close(values);
    return wrong;
}
