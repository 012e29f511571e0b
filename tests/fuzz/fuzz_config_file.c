// SPDX-License-Identifier: Apache-2.0
// Any bytes as a configuration file: a message, or lines in order. A good line is found again when
// it is written as KEY = VALUE.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "tools/kit/config_file.h"

static void check_again(const gn_config_line *line)
{
    gn_config_file again;
    gn_error error;
    char *text;
    if (asprintf(&text, "%s%s%s\n", line->key, line->value ? " = " : "", line->value ? line->value : "") < 0) abort();
    if (gn_config_parse(&again, text, strlen(text), &error) || again.count != 1) abort();
    const gn_config_line *read = &again.lines[0];
    if (read->wrong || strcmp(read->key, line->key) || !read->value != !line->value) abort();
    if (read->value && strcmp(read->value, line->value)) abort();
    gn_config_free(&again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gn_config_file file;
    gn_error error = {0};
    unsigned last = 0;
    if (gn_config_parse(&file, (const char *)data, size, &error)) {
        if (!*error.text) abort();
        return 0;
    }
    for (size_t i = 0; i < file.count; i++) {
        const gn_config_line *line = &file.lines[i];
        if (line->number <= last || !line->key != !!line->wrong) abort();
        last = line->number;
        if (!line->wrong && i < 64) check_again(line);
    }
    gn_config_free(&file);
    return 0;
}
