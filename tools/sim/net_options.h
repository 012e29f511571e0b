// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_SIM_NET_OPTIONS_H
#define GRADNIC_TOOLS_SIM_NET_OPTIONS_H
/// Options of `gradnic sim net`. They are read twice: by the program, and by the simulator that
/// the program becomes.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/kit/result_options.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GN_SIM_NET_SWEEPS = 8 };

/// What a run has come to, in the order of the columns of --csv. Times and rates are means over
/// jobs, but the slowest job's time. Counts are sums over jobs.
#define GN_SIM_NET_FIELDS                                                                                              \
    "seconds", "slowest_seconds", "exchange_seconds", "goodput_bit_s", "utilisation", "sent", "resent", "queries",     \
        "window_cuts", "results", "collisions", "evictions", "to_ps", "packets", "bytes", "lost", "dropped", "marked"

typedef struct gn_sim_net_options {
    const char *scenario;  ///< the file; owned by argv, as all texts
    uint64_t seed;
    const char *sweeps[GN_SIM_NET_SWEEPS];  ///< KEY=LIST
    size_t sweep_count;
    bool csv;                    ///< print CSV, and no table
    const char *csv_file;        ///< write CSV to this file; NULL: to none
    const char *svg_file;        ///< a plot of the sweep
    const char *plotted;         ///< a field of a run
    const char *timeline[2];     ///< files: a picture, CSV; NULL: none
    const char *job;             ///< of the time line; NULL: the first
    int64_t slot;                ///< of the time line; below 0: all
    uint64_t from_ns, until_ns;  ///< of the time line: what is sent from one time on, before the other
    gn_result_options result;
} gn_sim_net_options;

enum { GN_SIM_NET_SVG, GN_SIM_NET_CSV };  ///< indices of `timeline`

/// Reads the command line; ends the program on wrong usage and for --help.
void gn_sim_net_parse(gn_sim_net_options *options, int argc, char **argv);

#ifdef __cplusplus
}
#endif
#endif
