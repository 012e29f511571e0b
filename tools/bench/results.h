// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_BENCH_RESULTS_H
#define GRADNIC_TOOLS_BENCH_RESULTS_H
/// Results of the benchmarks that run in memory (codec, switch).

#include <stddef.h>

#include "net/error.h"
#include "tools/kit/json.h"
#include "tools/kit/result_options.h"

/// A benchmark in memory, with values of files or made values.
typedef struct gn_bench {
    const char *name;     ///< in the JSON
    const char *program;  ///< argv[0], for messages
    const gn_result_options *options;
    char *const *files;  ///< their values are measured
    size_t file_count;
    /// Measures. Prints a table, unless --json asks for JSON only.
    gn_status (*run)(void *context, gn_error *error);
    /// An object with the results. The caller takes it over, and adds name, environment and
    /// files.
    json_t *(*results)(void *context);
    void *context;
} gn_bench;

/// Runs it, and prints or writes its results as the options say.
/// @return exit status
int gn_bench_report(const gn_bench *bench);

#endif
