// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_BENCH_RESULTS_H
#define GRADNIC_TOOLS_BENCH_RESULTS_H
/// What benchmarks in memory do with their results.

#include <stddef.h>

#include "net/error.h"
#include "tools/kit/json.h"
#include "tools/kit/result_options.h"

/// A benchmark in memory, of files or made values.
typedef struct gn_bench {
    const char *name;     ///< in the JSON
    const char *program;  ///< argv[0], for messages
    const gn_result_options *options;
    char *const *files;  ///< whose values are measured
    size_t file_count;
    /// Measures, and prints a table unless only JSON is wanted.
    gn_status (*run)(void *context, gn_error *error);
    /// What to write besides name, environment and files: an object that the caller owns.
    json_t *(*results)(void *context);
    void *context;
} gn_bench;

/// Runs it and writes its results as the options say. @return exit status
int gn_bench_report(const gn_bench *bench);

#endif
