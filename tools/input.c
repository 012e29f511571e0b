// SPDX-License-Identifier: Apache-2.0
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

struct gn_input {
    char *name;
    bool standard;
    FILE *stream;  // one of the two
    gzFile packed;
    uint64_t offset;
    uint64_t file_size;  // 0: not a regular file
    uint8_t ahead[16];   // looked at, not taken
    size_t ahead_count;
};

static bool ends_in(const char *name, size_t length, const char *suffix)
{
    const size_t n = strlen(suffix);
    return length > n && !memcmp(name + length - n, suffix, n);
}

static gn_message open_packed(gn_input *input, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return gn_message_format("%s: %s", path, strerror(errno));
    input->packed = gzdopen(fd, "rb");
    if (!input->packed) {
        close(fd);
        return "out of memory";
    }
    gzbuffer(input->packed, 1 << 17);
    struct stat st;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode)) input->file_size = (uint64_t)st.st_size;
    return NULL;
}

static gn_message open_plain(gn_input *input, const char *path)
{
    input->stream = input->standard ? stdin : fopen(path, "rbe");
    if (!input->stream) return gn_message_format("%s: %s", path, strerror(errno));
    struct stat st;
    if (!fstat(fileno(input->stream), &st) && S_ISREG(st.st_mode)) {
        const off_t at = ftello(input->stream);  // standard input need not begin at its beginning
        if (at >= 0 && at <= st.st_size) input->file_size = (uint64_t)(st.st_size - at);
    }
    return NULL;
}

gn_message gn_input_open(gn_input **result, const char *path)
{
    gn_input *input = calloc(1, sizeof *input);
    if (!input) return "out of memory";
    input->standard = !strcmp(path, "-");
    input->name = strdup(input->standard ? "standard input" : path);
    gn_message wrong = !input->name                         ? "out of memory"
                       : ends_in(path, strlen(path), ".gz") ? open_packed(input, path)
                                                            : open_plain(input, path);
    if (wrong) {
        gn_input_close(input);
        return wrong;
    }
    *result = input;
    return NULL;
}

gn_message gn_input_from_stream(gn_input **result, FILE *stream, const char *name)
{
    gn_input *input = calloc(1, sizeof *input);
    if (!input) return "out of memory";
    input->standard = true;
    input->stream = stream;
    input->name = strdup(name);
    if (!input->name) {
        free(input);
        return "out of memory";
    }
    *result = input;
    return NULL;
}

/// Bytes of the gzip file, `*got` of them; `offset` of the first for messages.
static gn_message read_packed(gn_input *input, uint64_t offset, uint8_t *buffer, size_t bytes, size_t *got)
{
    while (*got < bytes) {
        const size_t rest = bytes - *got;
        const int n = gzread(input->packed, buffer + *got, rest > 1u << 30 ? 1u << 30 : (unsigned)rest);
        if (n > 0) *got += (size_t)n;
        int code = Z_OK;
        const char *text = gzerror(input->packed, &code);
        const uintmax_t at = offset + *got;
        if (code == Z_ERRNO) return gn_message_format("%s: %s", input->name, strerror(errno));
        if (code == Z_BUF_ERROR)
            return gn_message_format("%s: byte %ju after unpacking: the gzip file is cut short", input->name, at);
        if (n < 0) return gn_message_format("%s: byte %ju after unpacking: %s", input->name, at, text);
        if (at && gzdirect(input->packed))  // zlib hands over what is no gzip file as it is
            return gn_message_format("%s: byte 0: not a gzip file, though its name says so", input->name);
        if (n == 0) break;
    }
    return NULL;
}

static gn_message read_bytes(gn_input *input, uint64_t offset, uint8_t *buffer, size_t bytes, size_t *got)
{
    *got = 0;
    if (input->packed) return read_packed(input, offset, buffer, bytes, got);
    *got = fread(buffer, 1, bytes, input->stream);
    if (*got < bytes && ferror(input->stream)) return gn_message_format("%s: %s", input->name, strerror(errno));
    return NULL;
}

gn_message gn_input_read(gn_input *input, void *buffer, size_t bytes, size_t *got)
{
    const size_t first = input->ahead_count < bytes ? input->ahead_count : bytes;
    memcpy(buffer, input->ahead, first);
    input->ahead_count -= first;
    memmove(input->ahead, input->ahead + first, input->ahead_count);
    input->offset += first;
    *got = first;
    if (first == bytes) return NULL;
    size_t more;
    gn_message wrong = read_bytes(input, input->offset, (uint8_t *)buffer + first, bytes - first, &more);
    input->offset += more;
    *got += more;
    return wrong;
}

gn_message gn_input_peek(gn_input *input, void *buffer, size_t bytes, size_t *got)
{
    if (bytes > sizeof input->ahead) bytes = sizeof input->ahead;
    while (input->ahead_count < bytes) {
        size_t more;
        gn_message wrong = read_bytes(input, input->offset + input->ahead_count, input->ahead + input->ahead_count,
                                      bytes - input->ahead_count, &more);
        if (wrong) return wrong;
        if (!more) break;
        input->ahead_count += more;
    }
    *got = input->ahead_count < bytes ? input->ahead_count : bytes;
    memcpy(buffer, input->ahead, *got);
    return NULL;
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

uint64_t gn_input_offset(const gn_input *input)
{
    return input->offset;
}

uint64_t gn_input_size(const gn_input *input)
{
    return input->packed || !input->file_size ? UINT64_MAX : input->file_size;
}

uint64_t gn_input_file_position(const gn_input *input)
{
    if (!input->packed) return input->offset;
    const z_off_t at = gzoffset(input->packed);
    return at < 0 ? 0 : (uint64_t)at;
}

uint64_t gn_input_file_size(const gn_input *input)
{
    return input->file_size;
}

void gn_input_close(gn_input *input)
{
    if (!input) return;
    if (input->packed) gzclose(input->packed);
    if (input->stream && input->stream != stdin) fclose(input->stream);
    free(input->name);
    free(input);
}
