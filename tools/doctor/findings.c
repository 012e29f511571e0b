// SPDX-License-Identifier: Apache-2.0
#include "findings.h"

#include <stdarg.h>
#include <string.h>

#include "tools/kit/cli.h"
#include "tools/kit/json.h"

static const char *const level_names[GN_LEVELS] = {"ok", "warn", "fail"};
static const char *const level_colours[GN_LEVELS] = {"\033[32m", "\033[33m", "\033[31m"};

enum { COLUMN = 16, WIDTH = 96 };

void gn_find(gn_findings *findings, const char *name, gn_level level, const char *means, const char *fix,
             const char *found, ...)
{
    if (findings->count == GN_FINDINGS_MAX) return;
    gn_finding *f = &findings->list[findings->count++];
    *f = (gn_finding){.name = name, .level = level, .means = means};
    va_list arguments;
    va_start(arguments, found);
    vsnprintf(f->found, sizeof f->found, found, arguments);
    va_end(arguments);
    if (fix) snprintf(f->fix, sizeof f->fix, "%s", fix);
}

unsigned gn_findings_of(const gn_findings *findings, gn_level level)
{
    unsigned count = 0;
    for (unsigned i = 0; i < findings->count; i++) count += findings->list[i].level == level;
    return count;
}

/// Prints a text in lines of at most WIDTH columns. Each but the first is indented by COLUMN, and
/// `lead` is before the first.
static void print_filled(const char *lead, const char *text, FILE *stream)
{
    size_t column = COLUMN + strlen(lead);
    fputs(lead, stream);
    for (bool first = true; *text; first = false) {
        const size_t word = strcspn(text, " ");
        if (!first && column + 1 + word > WIDTH) {
            fprintf(stream, "\n%*s", COLUMN, "");
            column = COLUMN;
        } else if (!first) {
            fputc(' ', stream);
            column++;
        }
        fwrite(text, 1, word, stream);
        column += word;
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', stream);
}

static void print_one(const gn_finding *f, FILE *stream)
{
    const bool colour = gn_cli_colour(stream);
    fprintf(stream, "%s%-4s%s %-10s ", colour ? level_colours[f->level] : "", level_names[f->level],
            colour ? "\033[0m" : "", f->name);
    print_filled("", f->found, stream);
    fprintf(stream, "%*s", COLUMN, "");
    print_filled("", f->means, stream);
    if (!*f->fix) return;
    fprintf(stream, "%*s", COLUMN, "");
    print_filled("fix: ", f->fix, stream);
}

void gn_findings_print(const gn_findings *findings, bool quiet, FILE *stream)
{
    for (unsigned i = 0; i < findings->count; i++)
        if (!quiet || findings->list[i].level != GN_LEVEL_OK) print_one(&findings->list[i], stream);
    const unsigned warnings = gn_findings_of(findings, GN_LEVEL_WARN),
                   failures = gn_findings_of(findings, GN_LEVEL_FAIL);
    if (!quiet)
        fprintf(stream, "%u looked at: %u ok, %u to be warned of, %u failed\n", findings->count,
                findings->count - warnings - failures, warnings, failures);
}

json_t *gn_findings_json(const gn_findings *findings)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < findings->count; i++) {
        const gn_finding *f = &findings->list[i];
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:s, s:s, s:s*}", "name", f->name, "level", level_names[f->level],
                                        "found", f->found, "means", f->means, "fix", *f->fix ? f->fix : NULL));
    }
    return json_pack("{s:o, s:o, s:i, s:i}", "environment", gn_json_environment(), "findings", list, "warnings",
                     (int)gn_findings_of(findings, GN_LEVEL_WARN), "failures",
                     (int)gn_findings_of(findings, GN_LEVEL_FAIL));
}
