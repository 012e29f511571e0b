// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_REPORT_RUNS_H
#define GRADNIC_TOOLS_REPORT_RUNS_H
/// A demo's result file: what every variant of the training measured. docs/demo.md describes the file.

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "net/error.h"

enum { GN_RUNS_MAX = 16, GN_RUN_PARTS = 5, GN_RUN_POINTS_MAX = 512 };

/// One variant. Strings belong to the JSON document.
typedef struct gn_run {
    const char *name;
    double accuracy;               ///< at the end, 0 to 1
    double exchange_ms;            ///< median per step
    double part_ms[GN_RUN_PARTS];  ///< mean per step: compute, quantise, sum, communicate, update
    double wire_bytes;             ///< per step, all workers together: IP packets between the NICs
    double ratio;                  ///< payload before over payload after the NIC
    double speedup;                ///< of the exchange over the last run, the baseline
    bool identical;                ///< replicas
    double point_step[GN_RUN_POINTS_MAX], point_accuracy[GN_RUN_POINTS_MAX];
    size_t points;
} gn_run;

typedef struct gn_runs {
    json_t *document;
    const char *date, *cpu, *kernel, *mode;
    int cores, workers, steps;
    double rate_bits, parameters;
    gn_run run[GN_RUNS_MAX];
    size_t count;
} gn_runs;

/// Names of the parts, in order.
extern const char *const gn_run_part_names[GN_RUN_PARTS];

/// Reads a file; a message names the field that is missing or of the wrong type. The caller frees with gn_runs_free().
gn_status gn_runs_load(gn_runs *runs, const char *path, gn_error *error);
void gn_runs_free(gn_runs *runs);

#endif
