// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_STATE_H
#define GRADNIC_SWITCH_STATE_H
/// The switch's memory: a header, jobs, slots. No pointers in it, only numbers.

#include <gradnic/switch.h>

#include "copy.h"
#include "format.h"

typedef struct gn_job_state {
    bool used;
    uint8_t usual[GN_AGG_HEADER];  ///< the header of a contribution that has no values yet: usual.c
    gn_switch_job job;
    uint32_t first;  ///< of its 2 * job.slots copies (partitioned), or of its job.slots windows
    gn_switch_counters counters;
} gn_job_state;

/// Modes shared and preemptive: what the switch knows of the chunks that belong to one slot number
/// of a job. Their sums may be anywhere in the array, or nowhere.
typedef struct gn_window {
    uint64_t gone;  ///< contributions to chunk psn that went on, to parent or parameter server
    uint32_t psn;   ///< the chunk that may be under way: the result of the one before went to all
    bool begun;     ///< there was a chunk before this one
    bool poison;    ///< and it had no sum of integers
} gn_window;

struct gn_switch_state {
    gn_switch_config config;
    gn_switch_counters counters;
    uint32_t collisions;    ///< of all jobs, for GN_PREEMPT_ALTERNATELY
    size_t sums_at;         ///< bytes from here to the first copy's sums
    uint8_t job_of[65536];  ///< index + 1
    gn_job_state jobs[GN_SWITCH_JOBS_MAX];
    // Then copies, windows, and sums: slot_values for each copy. Without partitions there is one
    // more, for a chunk that has just lost its slot.
};

static inline bool gn_state_partitioned(const gn_switch_config *config)
{
    return config->mode == GN_PARTITIONED;
}

static inline gn_job_state *gn_state_job(const gn_switch *sw, unsigned index)
{
    gn_job_state *job = &sw->state->jobs[index];
    __asm__("" : "+r"(job));  // or the compiler multiplies again at every use
    return job;
}

static inline size_t gn_state_copy_count(const gn_switch_config *config)
{
    return gn_state_partitioned(config) ? (size_t)2 * config->slots : config->slots;
}

static inline size_t gn_state_window_count(const gn_switch_config *config)
{
    if (gn_state_partitioned(config)) return 0;
    return config->windows ? config->windows : (size_t)4 * config->slots;
}

static inline gn_copy *gn_state_copies(const gn_switch *sw)
{
    return (gn_copy *)(void *)(sw->state + 1);
}

static inline gn_window *gn_state_windows(const gn_switch *sw)
{
    return (gn_window *)(void *)(gn_state_copies(sw) + gn_state_copy_count(&sw->state->config));
}

static inline int32_t *gn_state_sums(const gn_switch *sw, uint32_t copy)
{
    int32_t *sums = (int32_t *)(void *)((char *)sw->state + sw->state->sums_at);
    return sums + (size_t)copy * sw->state->config.slot_values;
}

/// The number of bits that make a chunk of the job whole at this switch.
static inline unsigned gn_job_fanin(const gn_switch_job *job)
{
    return job->bits ? job->bits : job->children;
}

/// The bits that a child may have.
static inline uint64_t gn_job_child_bits(const gn_switch_job *job, unsigned child)
{
    if (!job->bits) return 1ull << child;
    const unsigned first = job->first_bit[child];
    const unsigned next = child + 1u < job->children ? job->first_bit[child + 1] : job->bits;
    return gn_everyone(next - first) << first;
}

/// The child that has the lowest of `bits`. They are bits of the job, and at least one.
static inline unsigned gn_job_child_of(const gn_switch_job *job, uint64_t bits)
{
    const unsigned bit = (unsigned)__builtin_ctzll(bits);
    if (!job->bits) return bit;
    unsigned child = job->children - 1u;
    while (job->first_bit[child] > bit) child--;
    return child;
}

/// The codec of a job's streams: between switches (and parameter servers of upper levels), or with
/// workers.
static inline const gn_codec *gn_state_codec(const gn_switch *sw, unsigned job_index, bool between_switches)
{
    return between_switches ? &sw->exact[job_index] : &sw->codec[job_index];
}

#endif
