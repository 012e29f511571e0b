// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_CODEC_RATIO_REPORT_H
#define GRADNIC_TOOLS_CODEC_RATIO_REPORT_H
/// The results of `gradnic ratio`, for people and as JSON.

#include <stddef.h>
#include <stdio.h>

#include "ratio_stats.h"
#include "tools/files/tensor.h"
#include "tools/kit/json.h"
#include "tools/kit/table.h"

/// One file's (or the total's) results.
typedef struct gn_ratio_result {
    const char *name;
    gn_ratio_input input;
    gn_ratio_stats stats[GN_RATIO_LINES];  ///< by subject
} gn_ratio_result;

/// Prints a heading and a table.
/// @return -1 if printing failed
int gn_ratio_print(const gn_ratio_result *result, const gn_ratio_subject *subjects, size_t count, FILE *stream);

/// A table with a line for each tensor of a file: type, shape, and the ratio of each of gradnic's
/// codecs.
gn_table *gn_ratio_lines_new(const gn_ratio_subject *subjects, size_t count);
void gn_ratio_line(gn_table *table, const gn_tensor *tensor, const gn_ratio_result *result,
                   const gn_ratio_subject *subjects, size_t count);

/// An object; NULL if memory is short.
json_t *gn_ratio_json(const gn_ratio_result *result, const gn_ratio_subject *subjects, size_t count);

#endif
