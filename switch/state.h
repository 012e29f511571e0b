// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_STATE_H
#define GRADNIC_SWITCH_STATE_H
/// The switch's memory: a header, jobs, slots. No pointers in it, only numbers.

#include <gradnic/switch.h>

typedef enum gn_copy_state {
    GN_COPY_EMPTY,  ///< since the job began
    GN_COPY_OPEN,   ///< some children have contributed
    GN_COPY_UP,     ///< all have, and the parent has been given the sum
    GN_COPY_DONE    ///< holds a result: kept until a later chunk takes the copy
} gn_copy_state;

/// One of a slot's two copies; its sums lie elsewhere, so that looking at copies stays cheap.
typedef struct gn_copy {
    uint64_t seen;
    uint64_t since_ns;
    uint32_t psn;
    uint16_t values;
    uint8_t state;
    bool poison;  ///< no integers can be given for it
    bool marked;  ///< a contribution had GN_AGG_ECN
    int8_t exponent;
    int8_t next;
} gn_copy;

typedef struct gn_job_state {
    bool used;
    gn_switch_job job;
    uint32_t first_copy;  ///< 2 * job.slots of them
    gn_switch_counters counters;
} gn_job_state;

struct gn_switch_state {
    gn_switch_config config;
    gn_switch_counters counters;
    uint8_t job_of[65536];  ///< index + 1
    gn_job_state jobs[GN_SWITCH_JOBS_MAX];
    // then 2 * slots copies, and as many times slot_values sums
};

static inline gn_copy *gn_state_copies(const gn_switch *sw)
{
    return (gn_copy *)(void *)(sw->state + 1);
}

static inline int32_t *gn_state_sums(const gn_switch *sw, uint32_t copy)
{
    int32_t *sums = (int32_t *)(void *)(gn_state_copies(sw) + (size_t)2 * sw->state->config.slots);
    return sums + (size_t)copy * sw->state->config.slot_values;
}

/// What comes of adding a packet's values to a copy's sums.
typedef enum gn_added { GN_ADDED, GN_ADDED_POISON, GN_ADD_FORMAT, GN_ADD_STREAM } gn_added;

/// Adds (or, with `first`, writes) `packet`'s values. GN_ADD_FORMAT, GN_ADD_STREAM: the sums are as they were. GN_ADDED_POISON: they
/// are not to be used.
gn_added gn_sums_add(int32_t *sums, const gn_agg_packet *packet, const gn_switch_job *job, const gn_codec *codec,
                     bool first);

#endif
