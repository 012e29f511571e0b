// SPDX-License-Identifier: Apache-2.0
#include "values.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gradnic/container.h>

#include "little.h"
#include "tensor_file.h"

enum { PIECE = 1 << 16 };  // values converted at a time

struct gn_values {
    gn_input *input;  // of the whole file
    gn_values_choice choice;
    gn_format format;
    gn_npy npy;
    gn_tensor_list tensors, left_out;
    size_t current;       // tensor that is read
    uint64_t in_current;  // values read of it
    uint64_t in_file;     // values read of a .gn file, in all
    bool by_tensor;
    uint64_t count;  // UINT64_MAX: not known
    uint64_t done;
    gn_tensor_file *file;  // of many tensors
    gn_input *member;      // the current tensor's bytes in `file`; NULL: not open
    void *piece;           // values before they are converted
    gn_cast casts[GN_DTYPE_COUNT];
    gn_container_reader *reader;  // of .gn
    gn_error below;               // from gn_input_read() below the reader
};

static const struct {
    const char *name;
    gn_format format;
} formats[] = {
    {"auto", GN_FORMAT_AUTO}, {"f32", GN_FORMAT_F32}, {"npy", GN_FORMAT_NPY}, {"gn", GN_FORMAT_GN},
    {"npz", GN_FORMAT_NPZ},   {"pt", GN_FORMAT_PT},   {"pth", GN_FORMAT_PT},  {"safetensors", GN_FORMAT_SAFETENSORS}};
enum { FORMATS = sizeof formats / sizeof *formats };

gn_status gn_parse_format(const char *text, gn_format *format, gn_error *error)
{
    for (unsigned i = 0; i < FORMATS; i++) {
        if (strcmp(text, formats[i].name) != 0) continue;
        *format = formats[i].format;
        return GN_OK;
    }
    return gn_fail(error, GN_INVALID, "'%s' is not a format; there are auto, " GN_FORMAT_NAMES, text);
}

/// Standard input tells its format by its first bytes.
static gn_status detect_stream(const gn_input *input, const uint8_t *magic, size_t got, gn_format *format,
                               gn_error *error)
{
    if (!got)
        return gn_fail(error, GN_INVALID, "%s: the file is empty; if it has no values, give --format f32",
                       gn_input_name(input));
    const bool zip = got >= 4 && !memcmp(magic, "PK\3\4", 4);
    const bool safetensors = got >= 10 && gn_little(magic, 8) < 1u << 24 && !memcmp(magic + 8, "{\"", 2);
    *format = zip ? GN_FORMAT_NPZ : safetensors ? GN_FORMAT_SAFETENSORS : GN_FORMAT_F32;
    return GN_OK;
}

static gn_status detect(gn_input *input, gn_format *format, gn_error *error)
{
    for (unsigned i = 1; i < FORMATS; i++) {
        char suffix[16];
        snprintf(suffix, sizeof suffix, ".%s", formats[i].name);
        if (gn_input_has_suffix(input, suffix)) return *format = formats[i].format, GN_OK;
    }
    uint8_t magic[10];
    size_t got;
    gn_status wrong = gn_input_peek(input, magic, sizeof magic, &got, error);
    if (wrong) return wrong;
    if (got >= 6 && !memcmp(magic, "\x93NUMPY", 6)) return *format = GN_FORMAT_NPY, GN_OK;
    if (got >= 8 && !memcmp(magic, "GRADNIC", 7)) return *format = GN_FORMAT_GN, GN_OK;
    if (!gn_input_is_file(input)) return detect_stream(input, magic, got, format, error);
    return gn_fail(error, GN_UNSUPPORTED,
                   "%s: neither its name (.npy, .f32, .gn, each also .gz; .npz, .safetensors, .pt) nor its first bytes "
                   "tell the format; for raw binary32 give --format f32",
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

/// Values without a shape: raw ones, and those of a .gn file of version 1.
static gn_status add_plain(gn_values *values, uint64_t count, gn_error *error)
{
    gn_tensor tensor = {.is_float = true, .dtype = GN_FLOAT32, .count = count};
    snprintf(tensor.type, sizeof tensor.type, "%s", gn_dtype_name(tensor.dtype));
    values->count = count;
    return gn_tensor_add(&values->tensors, &tensor, gn_input_name(values->input), error);
}

/// The tensors of a .gn file. `offset` of each is the number of values before it.
static gn_status open_container(gn_values *values, gn_error *error)
{
    gn_status wrong =
        check_container(values, gn_container_reader_new(&values->reader, read_input, values, NULL), error);
    if (wrong) return wrong;
    size_t count;
    const gn_container_tensor *t = gn_container_reader_tensors(values->reader, &count);
    if (!count) return add_plain(values, gn_container_reader_info(values->reader)->value_count, error);
    uint64_t offset = 0;
    for (size_t i = 0; i < count && !wrong; offset += t[i].count, i++) {
        gn_tensor tensor = {.name = (char *)(uintptr_t)t[i].name,
                            .is_float = true,
                            .shaped = true,
                            .fortran_order = t[i].fortran_order,
                            .dtype = t[i].dtype,
                            .dimensions = t[i].dimensions,
                            .shape = (uint64_t *)(uintptr_t)t[i].shape,
                            .count = t[i].count,
                            .offset = offset};
        snprintf(tensor.type, sizeof tensor.type, "%s", gn_dtype_name(tensor.dtype));
        wrong = gn_tensor_add(&values->tensors, &tensor, gn_input_name(values->input), error);
    }
    return wrong;
}

static gn_status open_npy(gn_values *values, gn_error *error)
{
    gn_status wrong = values->choice.any ? gn_npy_read_any_header(values->input, &values->npy, error)
                                         : gn_npy_read_header(values->input, &values->npy, error);
    if (wrong) return wrong;
    const gn_tensor tensor = gn_npy_tensor(&values->npy, NULL);
    return gn_tensor_add(&values->tensors, &tensor, gn_input_name(values->input), error);
}

static gn_status open_format(gn_values *values, gn_error *error)
{
    const uint64_t bytes = gn_input_size(values->input);
    gn_tensor_format format = GN_TENSORS_NPZ;
    switch (values->format) {
    case GN_FORMAT_NPY:
        return open_npy(values, error);
    case GN_FORMAT_GN:
        return open_container(values, error);
    case GN_FORMAT_NPZ:
        break;
    case GN_FORMAT_SAFETENSORS:
        format = GN_TENSORS_SAFETENSORS;
        break;
    case GN_FORMAT_PT:
        format = GN_TENSORS_TORCH;
        break;
    default:
        return add_plain(values, bytes == UINT64_MAX ? UINT64_MAX : bytes / sizeof(float), error);
    }
    return gn_tensor_file_open(&values->file, format, values->input, &values->tensors, error);
}

static gn_status choose(gn_values *values, gn_error *error)
{
    gn_status wrong =
        gn_tensor_choose(&values->tensors, values->choice.tensor, values->choice.any ? NULL : &values->left_out,
                         gn_input_name(values->input), error);
    if (wrong || values->count == UINT64_MAX) return wrong;
    values->count = 0;
    for (size_t i = 0; i < values->tensors.count; i++) values->count += values->tensors.tensors[i].count;
    return GN_OK;
}

gn_status gn_values_from_input(gn_values **result, gn_input *input, const gn_values_choice *choice, gn_error *error)
{
    gn_values *values = calloc(1, sizeof *values);
    if (!values) {
        gn_input_close(input);
        return gn_fail_memory(error);
    }
    values->input = input;
    values->choice = *choice;
    values->format = choice->format;
    gn_status wrong = choice->format == GN_FORMAT_AUTO ? detect(input, &values->format, error) : GN_OK;
    if (!wrong) wrong = open_format(values, error);
    if (!wrong) wrong = choose(values, error);
    if (wrong) {
        gn_values_close(values);
        return wrong;
    }
    *result = values;
    return GN_OK;
}

gn_status gn_values_split(const char *argument, char **file, const char **tensor, gn_error *error)
{
    *tensor = NULL;
    *file = strdup(argument);
    if (!*file) return gn_fail_memory(error);
    if (!strcmp(argument, "-") || !access(argument, F_OK)) return GN_OK;
    for (size_t at = strlen(argument); at-- > 1;) {  // the longest FILE that exists
        if (argument[at] != ':' || !argument[at + 1]) continue;
        (*file)[at] = 0;
        if (!access(*file, F_OK)) {
            *tensor = argument + at + 1;
            return GN_OK;
        }
        (*file)[at] = ':';
    }
    return GN_OK;
}

gn_status gn_values_open_choice(gn_values **result, const char *path, const gn_values_choice *choice, gn_error *error)
{
    gn_input *input;
    gn_status wrong = gn_input_open(&input, path, error);
    return wrong ? wrong : gn_values_from_input(result, input, choice, error);
}

gn_status gn_values_open(gn_values **result, const char *path, gn_format format, gn_error *error)
{
    char *file;
    gn_values_choice choice = {.format = format, .cast = true};
    gn_status wrong = gn_values_split(path, &file, &choice.tensor, error);
    if (wrong) return wrong;
    wrong = gn_values_open_choice(result, file, &choice, error);
    free(file);
    return wrong;
}

static gn_status expect_end(gn_values *values, gn_input *input, const gn_tensor *tensor, gn_error *error)
{
    uint8_t byte;
    size_t got;
    if (values->format == GN_FORMAT_PT) return gn_tensor_file_end(values->file, tensor, input, error);
    const gn_status wrong = gn_input_peek(input, &byte, 1, &got, error);
    if (wrong || !got) return wrong;
    return gn_fail(error, GN_CORRUPT, "%s: byte %" PRIu64 ": the file goes on after its %" PRIu64 " values",
                   gn_input_name(input), gn_input_offset(input), tensor->count);
}

static gn_status check_cast(const gn_values *values, const gn_input *input, const gn_cast *cast, gn_error *error)
{
    if (!cast->beyond || values->choice.cast) return GN_OK;
    return gn_fail(error, GN_INVALID,
                   "%s: holds values beyond float32, the first is %.4g; with --cast they become infinite",
                   gn_input_name(input), cast->first);
}

/// Reads values of the current tensor, at most as many as it has left.
static gn_status read_bytes(gn_values *values, gn_input *input, float *buffer, size_t capacity, size_t *got,
                            gn_error *error)
{
    const gn_tensor *tensor = &values->tensors.tensors[values->current];
    const size_t size = gn_dtype_bytes(tensor->dtype);
    const bool announced = tensor->shaped;  // raw values end where the file ends
    const bool plain = tensor->dtype == GN_FLOAT32 && !tensor->big_endian;
    if (!plain && capacity > PIECE) capacity = PIECE;
    if (announced && tensor->count - values->in_current < capacity)
        capacity = (size_t)(tensor->count - values->in_current);
    if (!plain && !values->piece && !(values->piece = malloc(PIECE * sizeof(double)))) return gn_fail_memory(error);
    size_t bytes;
    gn_status wrong = gn_input_read(input, plain ? (void *)buffer : values->piece, capacity * size, &bytes, error);
    if (wrong) return wrong;
    *got = bytes / size;
    gn_cast *cast = &values->casts[tensor->dtype];
    if (!plain) gn_dtype_read(tensor->dtype, tensor->big_endian, values->piece, buffer, *got, cast);
    values->in_current += *got;
    const uint64_t at = gn_input_offset(input);
    if (announced && *got < capacity)
        return gn_fail(error, GN_TRUNCATED, "%s: byte %" PRIu64 ": ends after %" PRIu64 " of %" PRIu64 " values",
                       gn_input_name(input), at, values->in_current, tensor->count);
    if (bytes % size)
        return gn_fail(error, GN_TRUNCATED, "%s: byte %" PRIu64 ": ends within a value (%zu of its %zu bytes)",
                       gn_input_name(input), at - bytes % size, bytes % size, size);
    return check_cast(values, input, cast, error);
}

/// Whether all of the current tensor is read.
static bool is_through(const gn_values *values)
{
    const gn_tensor *tensor = &values->tensors.tensors[values->current];
    return tensor->shaped && values->in_current == tensor->count;
}

/// Reads values of a .gn file, and passes over those that were not chosen. Behind the last tensor
/// it looks whether the file ends there.
static gn_status read_container(gn_values *values, const gn_tensor *tensor, float *buffer, size_t capacity, size_t *got,
                                gn_error *error)
{
    const uint64_t left = tensor->count - values->in_current;
    const bool last = tensor->offset + tensor->count == gn_container_reader_info(values->reader)->value_count;
    if (!left && !last) return GN_OK;
    for (;;) {
        const uint64_t skip = tensor->offset + values->in_current - values->in_file;
        if (!skip) break;
        size_t passed;
        const gn_status wrong = check_container(
            values, gn_container_read(values->reader, buffer, skip < capacity ? (size_t)skip : capacity, &passed),
            error);
        if (wrong) return wrong;
        values->in_file += passed;
    }
    if (left && left < capacity) capacity = (size_t)left;
    const gn_status wrong = check_container(values, gn_container_read(values->reader, buffer, capacity, got), error);
    values->in_current += *got;
    values->in_file += *got;
    return wrong;
}

static gn_status read_current(gn_values *values, float *buffer, size_t capacity, size_t *got, gn_error *error)
{
    const gn_tensor *tensor = &values->tensors.tensors[values->current];
    gn_status wrong = GN_OK;
    if (values->reader) return read_container(values, tensor, buffer, capacity, got, error);
    if (values->file && !values->member) wrong = gn_tensor_file_read(values->file, tensor, &values->member, error);
    if (wrong) return wrong;
    gn_input *input = values->file ? values->member : values->input;
    const bool was_through = is_through(values);
    if (!was_through) wrong = read_bytes(values, input, buffer, capacity, got, error);
    if (!wrong && is_through(values)) wrong = expect_end(values, input, tensor, error);
    return wrong;
}

void gn_values_by_tensor(gn_values *values)
{
    values->by_tensor = true;
}

void gn_values_next(gn_values *values)
{
    gn_input_close(values->member);
    values->member = NULL;
    if (values->current + 1 < values->tensors.count) values->current++, values->in_current = 0;
}

gn_status gn_values_read(gn_values *values, float *buffer, size_t capacity, size_t *got, gn_error *error)
{
    *got = 0;
    while (*got < capacity) {
        size_t more = 0;
        gn_status wrong = read_current(values, buffer + *got, capacity - *got, &more, error);
        if (wrong) return wrong;
        *got += more;
        values->done += more;
        if (more) continue;
        if (values->by_tensor || values->current + 1 == values->tensors.count) break;
        gn_values_next(values);
    }
    return GN_OK;
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

const gn_tensor_list *gn_values_tensors(const gn_values *values)
{
    return &values->tensors;
}

const gn_tensor_list *gn_values_left_out(const gn_values *values)
{
    return &values->left_out;
}

uint64_t gn_values_position(const gn_values *values)
{
    return values->file ? values->done * sizeof(float) : gn_input_file_position(values->input);
}

uint64_t gn_values_size(const gn_values *values)
{
    return values->file ? values->count * sizeof(float) : gn_input_file_size(values->input);
}

const gn_cast *gn_values_cast(const gn_values *values, gn_dtype dtype)
{
    return &values->casts[dtype];
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
    gn_input_close(values->member);
    gn_tensor_file_close(values->file);
    gn_container_reader_free(values->reader);
    gn_input_close(values->input);
    gn_tensor_list_clear(&values->tensors);
    gn_tensor_list_clear(&values->left_out);
    free(values->piece);
    free(values);
}
