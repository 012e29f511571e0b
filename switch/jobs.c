// SPDX-License-Identifier: Apache-2.0
// The switch's memory, and who has which part of it.
#include <string.h>

#include <zlib.h>

#include "state.h"

static bool in_range(const gn_switch_config *config)
{
    return config->slots && config->slots <= 16u * GN_AGG_SLOTS_MAX && config->slot_values &&
           config->slot_values <= GN_AGG_VALUES_MAX && config->jobs && config->jobs <= GN_SWITCH_JOBS_MAX;
}

size_t gn_switch_bytes(const gn_switch_config *config)
{
    if (!in_range(config)) return 0;
    const size_t copies = (size_t)2 * config->slots;
    return sizeof(struct gn_switch_state) + copies * (sizeof(gn_copy) + sizeof(int32_t) * config->slot_values);
}

gn_status gn_switch_init(gn_switch *sw, const gn_switch_config *config, void *memory, size_t bytes)
{
    const size_t need = gn_switch_bytes(config);
    if (!need) return GN_INVALID;
    if (bytes < need) return GN_NO_SPACE;
    memset(memory, 0, need);
    *sw = (gn_switch){.state = memory};
    sw->state->config = *config;
    return GN_OK;
}

static bool possible(const gn_switch *sw, const gn_switch_job *job)
{
    if (!job->slots || job->slots > GN_AGG_SLOTS_MAX || (job->slots & (job->slots - 1)) ||
        job->slots > sw->state->config.slots)
        return false;
    if (!job->children || job->children > GN_AGG_WORKERS_MAX || (unsigned)job->format >= GN_AGG_FORMATS ||
        job->level > 14)
        return false;
    if (!job->has_parent) return job->leader < job->children;
    return job->parent_fanin && job->parent_fanin <= GN_AGG_WORKERS_MAX && job->parent_bit < job->parent_fanin;
}

/// Where `copies` copies in a row are free. False when nowhere.
static bool find_room(const gn_switch *sw, uint32_t copies, uint32_t *first)
{
    const struct gn_switch_state *state = sw->state;
    for (uint32_t at = 0; at + copies <= 2 * state->config.slots;) {
        uint32_t next = at;
        for (unsigned i = 0; i < state->config.jobs; i++) {
            const gn_job_state *job = &state->jobs[i];
            const uint32_t end = job->first_copy + 2u * job->job.slots;
            if (job->used && job->first_copy < at + copies && at < end) next = end;
        }
        if (next == at) {
            *first = at;
            return true;
        }
        at = next;
    }
    return false;
}

gn_status gn_switch_add_job(gn_switch *sw, const gn_switch_job *job)
{
    struct gn_switch_state *state = sw->state;
    gn_codec codec;
    const gn_profile profile = job->format == GN_AGG_LATTICE ? GN_LATTICE : GN_DENSE;
    if (!possible(sw, job)) return GN_INVALID;
    if (gn_codec_init(&codec, profile, job->format == GN_AGG_INT32 ? 0 : job->bound_exp)) return GN_INVALID;
    const unsigned there = state->job_of[job->job];
    if (there && (int16_t)(job->gen - state->jobs[there - 1].job.gen) <= 0) return GN_MISMATCH;
    const bool was_used = there != 0;
    unsigned index = there ? there - 1 : 0;
    while (!there && index < state->config.jobs && state->jobs[index].used) index++;
    if (index == state->config.jobs) return GN_NO_SPACE;

    gn_job_state *entry = &state->jobs[index];
    entry->used = false;  // an earlier start's slots are free for this one
    uint32_t first;
    if (!find_room(sw, 2u * job->slots, &first)) {
        entry->used = was_used;
        return GN_NO_SPACE;
    }
    *entry = (gn_job_state){.used = true, .job = *job, .first_copy = first};
    memset(gn_state_copies(sw) + first, 0, sizeof(gn_copy) * 2 * job->slots);
    state->job_of[job->job] = (uint8_t)(index + 1);
    sw->codec[index] = codec;
    return GN_OK;
}

gn_status gn_switch_remove_job(gn_switch *sw, uint16_t job)
{
    const unsigned index = sw->state->job_of[job];
    if (!index) return GN_INVALID;
    sw->state->jobs[index - 1] = (gn_job_state){0};
    sw->state->job_of[job] = 0;
    return GN_OK;
}

const gn_switch_job *gn_switch_job_at(const gn_switch *sw, unsigned index)
{
    return index < sw->state->config.jobs && sw->state->jobs[index].used ? &sw->state->jobs[index].job : NULL;
}

const gn_switch_counters *gn_switch_job_counters(const gn_switch *sw, unsigned index)
{
    return gn_switch_job_at(sw, index) ? &sw->state->jobs[index].counters : NULL;
}

const gn_switch_counters *gn_switch_get_counters(const gn_switch *sw)
{
    return &sw->state->counters;
}

int gn_switch_waiting(const gn_switch *sw, unsigned index, unsigned from, gn_slot_status *status)
{
    const gn_switch_job *job = gn_switch_job_at(sw, index);
    if (!job) return -1;
    const gn_copy *copies = gn_state_copies(sw) + sw->state->jobs[index].first_copy;
    const uint64_t all = job->children == 64 ? ~0ull : (1ull << job->children) - 1;
    for (unsigned i = from; i < 2u * job->slots; i++) {
        const gn_copy *c = &copies[i];
        if (c->state != GN_COPY_OPEN && c->state != GN_COPY_UP) continue;
        *status = (gn_slot_status){.psn = c->psn,
                                   .seen = c->seen,
                                   .missing = all & ~c->seen,
                                   .since_ns = c->since_ns,
                                   .waits_for_parent = c->state == GN_COPY_UP};
        return (int)i;
    }
    return -1;
}

uint64_t gn_switch_hash(const gn_switch *sw)
{
    const struct gn_switch_state *state = sw->state;
    const size_t slots = gn_switch_bytes(&state->config) - sizeof *state;
    uLong crc = crc32_z(0, (const Bytef *)(state + 1), slots), sum = adler32_z(0, (const Bytef *)(state + 1), slots);
    for (unsigned i = 0; i < state->config.jobs; i++) {
        const gn_job_state *job = &state->jobs[i];
        if (!job->used) continue;
        const Bytef *bytes = (const Bytef *)&job->job;
        crc = crc32_z(crc, bytes, sizeof job->job);
        sum = adler32_z(sum, bytes, sizeof job->job);
    }
    return (uint64_t)crc << 32 | sum;
}
