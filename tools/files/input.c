// SPDX-License-Identifier: Apache-2.0
#include "input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gunzip.h"
#include "tools/kit/output.h"

struct gn_input {
    char *name;
    bool standard;
    FILE *stream;
    gn_gunzip *packed;       // over the stream; NULL: not packed
    gn_input_source source;  // read is NULL: there is none
    uint64_t offset;
    uint64_t file_size;  // 0: not a regular file
    uint8_t ahead[16];   // peeked, not read yet
    size_t ahead_count;
};

static bool ends_in(const char *name, size_t length, const char *suffix)
{
    const size_t n = strlen(suffix);
    return length > n && !memcmp(name + length - n, suffix, n);
}

static gn_status open_stream(gn_input *input, const char *path, gn_error *error)
{
    if (!*path) return gn_fail(error, GN_INVALID, "the name of an input file is empty");
    input->stream = input->standard ? stdin : fopen(path, "rbe");
    if (!input->stream) return gn_fail(error, GN_IO, "%s: %s", path, strerror(errno));
    struct stat st;
    gn_output_spare(fileno(input->stream));
    if (!fstat(fileno(input->stream), &st) && S_ISREG(st.st_mode)) {
        const off_t at = ftello(input->stream);  // standard input may be positioned anywhere
        if (at >= 0 && at <= st.st_size) input->file_size = (uint64_t)(st.st_size - at);
    }
    return GN_OK;
}

/// Starts to unpack if the name says so. Standard input has no name, so its first bytes say it.
static gn_status open_packed(gn_input *input, const char *path, gn_error *error)
{
    if (!input->standard) {
        if (!ends_in(path, strlen(path), ".gz")) return GN_OK;
        return gn_gunzip_open(&input->packed, input->stream, input->name, NULL, 0, error);
    }
    uint8_t magic[GN_GUNZIP_MAGIC];
    size_t got;
    gn_status wrong = gn_input_peek(input, magic, sizeof magic, &got, error);
    if (wrong || got < sizeof magic || !gn_gunzip_magic(magic)) return wrong;
    wrong = gn_gunzip_open(&input->packed, input->stream, input->name, input->ahead, input->ahead_count, error);
    input->ahead_count = 0;
    return wrong;
}

gn_status gn_input_open(gn_input **result, const char *path, gn_error *error)
{
    gn_input *input = calloc(1, sizeof *input);
    if (!input) return gn_fail_memory(error);
    input->standard = !strcmp(path, "-");
    input->name = strdup(input->standard ? "standard input" : path);
    gn_status wrong = input->name ? open_stream(input, path, error) : gn_fail_memory(error);
    if (!wrong) wrong = open_packed(input, path, error);
    if (wrong) {
        gn_input_close(input);
        return wrong;
    }
    *result = input;
    return GN_OK;
}

gn_status gn_input_from_stream(gn_input **result, FILE *stream, const char *name, gn_error *error)
{
    gn_input *input = calloc(1, sizeof *input);
    if (!input) return gn_fail_memory(error);
    input->standard = true;
    input->stream = stream;
    input->name = strdup(name);
    if (!input->name) {
        free(input);
        return gn_fail_memory(error);
    }
    *result = input;
    return GN_OK;
}

gn_status gn_input_from_source(gn_input **result, const gn_input_source *source, const char *name, gn_error *error)
{
    const gn_status wrong = gn_input_from_stream(result, NULL, name, error);
    if (wrong) {
        source->close(source->context);
        return wrong;
    }
    (*result)->source = *source;
    return GN_OK;
}

static gn_status read_bytes(gn_input *input, uint8_t *buffer, size_t bytes, size_t *got, gn_error *error)
{
    *got = 0;
    if (input->source.read) return input->source.read(input->source.context, buffer, bytes, got, error);
    if (input->packed) return gn_gunzip_read(input->packed, buffer, bytes, got, error);
    *got = fread(buffer, 1, bytes, input->stream);
    if (*got < bytes && ferror(input->stream)) return gn_fail(error, GN_IO, "%s: %s", input->name, strerror(errno));
    return GN_OK;
}

gn_status gn_input_read(gn_input *input, void *buffer, size_t bytes, size_t *got, gn_error *error)
{
    const size_t first = input->ahead_count < bytes ? input->ahead_count : bytes;
    memcpy(buffer, input->ahead, first);
    input->ahead_count -= first;
    memmove(input->ahead, input->ahead + first, input->ahead_count);
    input->offset += first;
    *got = first;
    if (first == bytes) return GN_OK;
    size_t more;
    gn_status wrong = read_bytes(input, (uint8_t *)buffer + first, bytes - first, &more, error);
    input->offset += more;
    *got += more;
    return wrong;
}

gn_status gn_input_peek(gn_input *input, void *buffer, size_t bytes, size_t *got, gn_error *error)
{
    if (bytes > sizeof input->ahead) bytes = sizeof input->ahead;
    while (input->ahead_count < bytes) {
        size_t more;
        gn_status wrong =
            read_bytes(input, input->ahead + input->ahead_count, bytes - input->ahead_count, &more, error);
        if (wrong) return wrong;
        if (!more) break;
        input->ahead_count += more;
    }
    *got = input->ahead_count < bytes ? input->ahead_count : bytes;
    memcpy(buffer, input->ahead, *got);
    return GN_OK;
}

const char *gn_input_name(const gn_input *input)
{
    return input->name;
}

bool gn_input_has_suffix(const gn_input *input, const char *suffix)
{
    if (input->standard) return false;
    size_t length = strlen(input->name);
    if (ends_in(input->name, length, ".gz")) length -= 3;
    return ends_in(input->name, length, suffix);
}

bool gn_input_is_file(const gn_input *input)
{
    return !input->standard;
}

gn_status gn_input_take_stream(gn_input *input, FILE **stream, gn_error *error)
{
    if (input->packed)
        return gn_fail(error, GN_UNSUPPORTED, "%s: such a file cannot be read through gzip; unpack it first",
                       input->name);
    if (!input->stream || input->stream == stdin || fseeko(input->stream, 0, SEEK_SET))
        return gn_fail(error, GN_UNSUPPORTED,
                       "%s: such a file is read at many places, not from standard input or a pipe; name a file",
                       input->name);
    *stream = input->stream;
    input->stream = NULL;
    input->ahead_count = 0;
    input->offset = 0;
    return GN_OK;
}

gn_status gn_input_check_list(char *const *files, size_t count, gn_error *error)
{
    size_t standard = 0;
    for (size_t i = 0; i < count; i++) standard += !strcmp(files[i], "-");
    return standard > 1 ? gn_fail(error, GN_INVALID, "'-', standard input, can be read only once") : GN_OK;
}

uint64_t gn_input_offset(const gn_input *input)
{
    return input->offset;
}

uint64_t gn_input_size(const gn_input *input)
{
    if (input->source.read) return input->source.size;
    return input->packed || !input->file_size ? UINT64_MAX : input->file_size;
}

uint64_t gn_input_file_position(const gn_input *input)
{
    return input->packed ? gn_gunzip_position(input->packed) : input->offset;
}

uint64_t gn_input_file_size(const gn_input *input)
{
    return input->file_size;
}

void gn_input_close(gn_input *input)
{
    if (!input) return;
    if (input->source.close) input->source.close(input->source.context);
    gn_gunzip_close(input->packed);
    if (input->stream && input->stream != stdin) fclose(input->stream);
    free(input->name);
    free(input);
}
