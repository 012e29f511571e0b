// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_DOCTOR_FINDINGS_H
#define GRADNIC_TOOLS_DOCTOR_FINDINGS_H
/// What `gradnic doctor` has found: one finding for each thing that it looked at. One thread.

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

typedef enum gn_level {
    GN_LEVEL_OK,    ///< works, as fast as it can
    GN_LEVEL_WARN,  ///< works, but slower or with a limit
    GN_LEVEL_FAIL,  ///< a part of gradnic does not work here
    GN_LEVELS
} gn_level;

enum { GN_FINDINGS_MAX = 32, GN_FOUND_TEXT = 240, GN_FIX_TEXT = 320 };

typedef struct gn_finding {
    const char *name;  ///< of what was looked at: one word, the same in every version
    gn_level level;
    char found[GN_FOUND_TEXT];  ///< what there is
    const char *means;          ///< what that means for gradnic
    char fix[GN_FIX_TEXT];      ///< what to do; "" where there is nothing to do
} gn_finding;

/// Zeros are no findings yet.
typedef struct gn_findings {
    gn_finding list[GN_FINDINGS_MAX];
    unsigned count;
} gn_findings;

/// Adds a finding. `name` and `means` are static texts; `fix` is copied, and NULL is none. The rest
/// is what was found, printf-like.
void gn_find(gn_findings *findings, const char *name, gn_level level, const char *means, const char *fix,
             const char *found, ...) __attribute__((format(printf, 6, 7)));

unsigned gn_findings_of(const gn_findings *findings, gn_level level);  ///< how many

/// Prints them for people, and a last line with their numbers. `quiet`: leaves out what is ok, and
/// the last line.
void gn_findings_print(const gn_findings *findings, bool quiet, FILE *stream);

/// {"environment": ..., "findings": [...], "warnings": n, "failures": n}. NULL when out of memory.
json_t *gn_findings_json(const gn_findings *findings);

#endif
