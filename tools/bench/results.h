// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_BENCH_RESULTS_H
#define GRADNIC_TOOLS_BENCH_RESULTS_H
/// What benchmarks in memory do with their results.

#include <stddef.h>

#include "net/error.h"
#include "tools/files/file_options.h"
#include "tools/kit/json.h"

/// A benchmark in memory, of files or made values.
typedef struct gn_bench {
    const char *name;             ///< in the JSON
    const char *program;          ///< for messages
    const gn_file_options *file;  ///< --json, -o and -f
    char *const *files;           ///< whose values are measured
    size_t file_count;
    gn_status (*run)(
        void *context,
        gn_error *error);  ///< measures, and prints a table unless --json is given. @return NULL or what is wrong
    json_t *(*results)(
        void *context);  ///< what to write besides name, environment and files: an object that the caller owns
    void *context;
} gn_bench;

/// Runs it and writes its results where the options say: to the output whole, or not at all. @return exit status
int gn_bench_report(const gn_bench *bench);

#endif
