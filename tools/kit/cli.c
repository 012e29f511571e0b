// SPDX-License-Identifier: Apache-2.0
// Errors and notes of the program, and whether a stream may be coloured.
#include "cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "first_error.h"
#include "net/escape.h"
#include "progress.h"

bool gn_cli_colour(FILE *stream)
{
    const char *term = getenv("TERM");
    const char *none = getenv("NO_COLOR");  // https://no-color.org
    if (none && *none) return false;
    return isatty(fileno(stream)) && term && strcmp(term, "dumb") != 0;
}

static void print_line(const char *program, const char *colour, const char *label, const char *format, va_list args)
{
    char text[2048], shown[2 * sizeof text];
    vsnprintf(text, sizeof text, format, args);
    gn_escape(text, "", shown, sizeof shown);  // it may have words of a peer
    gn_progress_clear();
    const bool coloured = gn_cli_colour(stderr);
    // One call, so that lines of several threads or processes do not mix.
    fprintf(stderr, "%s%s:%s %s%s\n", coloured ? colour : "", program, coloured ? "\033[0m" : "", label, shown);
}

static gn_first_error *first_error;

void gn_cli_keep_first(gn_first_error *first)
{
    first_error = first;
}

static void keep_first(const char *format, va_list args)
{
    if (first_error && !atomic_fetch_add(&first_error->count, 1))
        vsnprintf(first_error->text, sizeof first_error->text, format, args);
}

void gn_cli_error(const char *program, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    keep_first(format, args);
    va_end(args);
    va_start(args, format);
    print_line(program, "\033[1;31m", "", format, args);
    va_end(args);
}

void gn_cli_note(const char *program, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_line(program, "\033[1;33m", "note: ", format, args);
    va_end(args);
}
