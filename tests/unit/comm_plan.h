// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_COMM_PLAN_H
#define GRADNIC_TESTS_COMM_PLAN_H
/// Allreduces that several ranks run as a plan says, and what came of them: for tests that compare
/// the bits of different ways.

#include "comm_ranks.h"

typedef struct plan {
    gn_algorithm algorithm;
    gn_profile profile;
    int bound_exp;
    bool weights, feedback, scale, in_place, strange;
    bool raw;  ///< values of which each is beyond the codec's range
    gn_op op;
    size_t count, segment;
    gn_offload offload;
    bool tcp;  // no shared memory
    const char *groups;
    const char *numbers;  // group of each rank, a digit; in place of `groups`
    gn_offload group_offload;
    const char *switch_address;
} plan;

typedef struct outcome {
    uint64_t hash, residuals[RANKS_MAX], sent, wire;
    uint64_t group_sent, group_wire, group_received;  // of them, and of what came, within the groups
} outcome;

/// What two NICs on the way do to a gradient: a wire function whose context is the codec.
void as_nics_do(void *codec, float *values, size_t count);

/// Runs the plan at `size` ranks. All of them must end with the same bits, and with their input
/// untouched. A NaN counts as any other.
outcome run(int size, plan p);

#endif
