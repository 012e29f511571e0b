// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_EXAMPLES_TRAIN_BREAKDOWN_H
#define GRADNIC_EXAMPLES_TRAIN_BREAKDOWN_H
/// Where the time of a step goes: INCEPTIONN's Table II for this run.

#include <stddef.h>
#include <stdint.h>

#include <gradnic/status.h>

typedef enum gn_phase {
    GN_PHASE_INPUT,  ///< assembling the batch: augmentation (not in the paper's table)
    GN_PHASE_FORWARD,
    GN_PHASE_BACKWARD,
    GN_PHASE_QUANTISE,  ///< quantising, error feedback, scale (not in the paper's table)
    GN_PHASE_SUM,       ///< adding received values
    GN_PHASE_COMMUNICATE,
    GN_PHASE_UPDATE,
    GN_PHASES
} gn_phase;

typedef struct gn_breakdown {
    double total[GN_PHASES];  ///< seconds over all steps
    size_t steps;
    double *exchange;  ///< seconds of each step's exchange: quantise, sum and communicate together
    size_t capacity;
} gn_breakdown;

/// "forward", "backward", ...
const char *gn_phase_name(gn_phase phase);

/// Adds a step.
/// @return GN_OK or GN_NO_MEMORY
gn_status gn_breakdown_add(gn_breakdown *breakdown, const double seconds[GN_PHASES]);

/// Mean seconds of a phase per step; 0 without steps.
double gn_breakdown_mean(const gn_breakdown *breakdown, gn_phase phase);

/// Median seconds of the exchange; 0 without steps.
double gn_breakdown_exchange(const gn_breakdown *breakdown);

void gn_breakdown_free(gn_breakdown *breakdown);

#endif
