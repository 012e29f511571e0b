// SPDX-License-Identifier: Apache-2.0
#include "parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "command.h"
#include "net/escape.h"

static ssize_t write_escaped(void *unused, const char *bytes, size_t count)
{
    (void)unused;
    char *text = strndup(bytes, count);
    char *shown = text ? gn_escape_new(text, "\n\t") : NULL;
    if (shown) (void)!write(STDERR_FILENO, shown, strlen(shown));
    free(text);
    free(shown);
    return (ssize_t)count;
}

FILE *gn_stderr_escape(void)
{
    FILE *const before = stderr;
    FILE *const escaped = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_escaped});
    if (!escaped) return before;
    (void)setvbuf(escaped, NULL, _IOLBF, BUFSIZ);
    fflush(before);
    stderr = escaped;  // exit() flushes it
    return before;
}

void gn_stderr_restore(FILE *before)
{
    if (stderr == before) return;
    fclose(stderr);
    stderr = before;
}

void gn_argp_parse(const struct argp *argp, int argc, char **argv, void *input)
{
    FILE *const before = gn_stderr_escape();
    const error_t result = argp_parse(argp, argc, argv, 0, NULL, input);
    gn_stderr_restore(before);
    if (result) {  // what is wrong with options ends the program within, so this is no memory
        gn_cli_error(argv[0], "%s", strerror(result));
        exit(GN_EXIT_FAILED);
    }
}
