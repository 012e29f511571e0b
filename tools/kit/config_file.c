// SPDX-License-Identifier: Apache-2.0
#include "config_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net/whole_file.h"
#include "output.h"

static const char blanks[] = " \t\r";

/// Ends the line at its comment, and cuts blanks off both ends. @return where it begins
static char *trim(char *line)
{
    line += strspn(line, blanks);
    for (char *at = line; *at; at++) {
        const bool fresh = at == line || strchr(blanks, at[-1]);
        if (*at == '#' && fresh) *at = 0;
        if (!*at) break;
    }
    size_t length = strlen(line);
    while (length && strchr(blanks, line[length - 1])) line[--length] = 0;
    return line;
}

static gn_config_line split(unsigned number, char *line)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    gn_config_line result = {.number = number, .key = line};
    char *end = line + strspn(line, letters);
    char *after = end + strspn(end, blanks);
    if (*after == '=') result.value = trim(after + 1);
    if (end == line || (*after && *after != '='))
        return (gn_config_line){.number = number, .wrong = "KEY = VALUE is needed"};
    if (result.value && !*result.value)
        return (gn_config_line){.number = number, .wrong = "there is no value behind the ="};
    *end = 0;
    return result;
}

gn_status gn_config_parse(gn_config_file *file, const char *bytes, size_t size, gn_error *error)
{
    *file = (gn_config_file){0};
    if (size > GN_CONFIG_BYTES_MAX) return gn_fail(error, GN_INVALID, "longer than %d bytes", GN_CONFIG_BYTES_MAX);
    if (memchr(bytes, 0, size)) return gn_fail(error, GN_INVALID, "has a zero byte: it is not a text");
    size_t most = 1;
    for (size_t i = 0; i < size; i++) most += bytes[i] == '\n';
    file->text = malloc(size + 1);
    file->lines = calloc(most, sizeof *file->lines);
    if (!file->text || !file->lines) {
        gn_config_free(file);
        return gn_fail_memory(error);
    }
    memcpy(file->text, bytes, size);
    file->text[size] = 0;
    unsigned number = 0;
    static const char mark[] = "\xEF\xBB\xBF";  // a byte order mark, which some editors write
    const size_t skipped = strncmp(file->text, mark, sizeof mark - 1) == 0 ? sizeof mark - 1 : 0;
    for (char *rest = file->text + skipped, *line; (line = strsep(&rest, "\n"));) {
        line = trim(line);
        number++;
        if (*line) file->lines[file->count++] = split(number, line);
    }
    return GN_OK;
}

gn_status gn_config_load(gn_config_file *file, const char *path, gn_error *error)
{
    *file = (gn_config_file){0};
    gn_error why;
    size_t size;
    const int fd = gn_whole_file_open(path);
    gn_output_spare(fd);
    char *bytes = gn_whole_file_load(fd, path, GN_CONFIG_BYTES_MAX, &size, error);
    gn_status status = bytes ? GN_OK : error->status;
    if (bytes && gn_config_parse(file, bytes, size, &why))
        status = gn_fail(error, why.status, "%s: %s", path, why.text);
    free(bytes);
    if (fd >= 0) close(fd);
    return status;
}

void gn_config_free(gn_config_file *file)
{
    free(file->text);
    free(file->lines);
    *file = (gn_config_file){0};
}
