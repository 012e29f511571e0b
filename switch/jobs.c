// SPDX-License-Identifier: Apache-2.0
// The switch's memory, and which job has which part of it.
#include <string.h>

#include <libdeflate.h>

#include "format.h"
#include "state.h"

static bool in_range(const gn_switch_config *config)
{
    return config->slots && config->slots <= 16u * GN_AGG_SLOTS_MAX && config->slot_values &&
           config->slot_values <= GN_AGG_VALUES_MAX && config->jobs && config->jobs <= GN_SWITCH_JOBS_MAX &&
           (unsigned)config->mode < GN_MEMORY_MODES && config->windows <= GN_SWITCH_JOBS_MAX * GN_AGG_SLOTS_MAX &&
           (unsigned)config->results < GN_RESULTS_WAYS && (unsigned)config->preempting < GN_PREEMPTINGS;
}

/// Where sums begin: behind copies and windows, at the beginning of a cache line if the memory is
/// aligned so.
static size_t sums_at(const gn_switch_config *config)
{
    enum { LINE = 64 };
    const size_t end = sizeof(struct gn_switch_state) + gn_state_copy_count(config) * sizeof(gn_copy) +
                       gn_state_window_count(config) * sizeof(gn_window);
    return (end + LINE - 1) / LINE * LINE;
}

size_t gn_switch_bytes(const gn_switch_config *config)
{
    if (!in_range(config)) return 0;
    const size_t copies = gn_state_copy_count(config), spare = gn_state_partitioned(config) ? 0 : 1;
    return sums_at(config) + (copies + spare) * sizeof(int32_t) * config->slot_values;
}

gn_status gn_switch_init(gn_switch *sw, const gn_switch_config *config, void *memory, size_t bytes)
{
    const size_t need = gn_switch_bytes(config);
    if (!need) return GN_INVALID;
    if (bytes < need) return GN_NO_SPACE;
    memset(memory, 0, need);
    *sw = (gn_switch){.state = memory};
    sw->state->config = *config;
    sw->state->sums_at = sums_at(config);
    return GN_OK;
}

/// How many units there are for jobs: copies, or windows.
static uint32_t all_units(const gn_switch_config *config)
{
    return (uint32_t)(gn_state_partitioned(config) ? gn_state_copy_count(config) : gn_state_window_count(config));
}

/// How many of them a job takes.
static uint32_t units(const gn_switch_config *config, const gn_switch_job *job)
{
    return gn_state_partitioned(config) ? 2u * job->slots : job->slots;
}

/// Whether every child has bits, and no two children have the same.
static bool bits_possible(const gn_switch_job *job)
{
    if (!job->bits) return true;
    if (job->bits > GN_AGG_WORKERS_MAX || job->first_bit[0]) return false;
    for (unsigned i = 1; i < job->children; i++)
        if (job->first_bit[i] <= job->first_bit[i - 1]) return false;
    return job->first_bit[job->children - 1] < job->bits;
}

/// What a job with shared slots must keep to. No child may be where the parent or the parameter
/// server is.
static bool may_share(const gn_switch_job *job)
{
    const uint16_t above = job->has_parent ? job->parent_port : job->ps_port;
    for (unsigned i = 0; i < job->children; i++)
        if (job->port[i] == above) return false;
    return bits_possible(job) && (!job->has_parent || job->parent_bit + gn_job_fanin(job) <= job->parent_fanin);
}

static bool possible(const gn_switch *sw, const gn_switch_job *job)
{
    const gn_switch_config *config = &sw->state->config;
    if (!gn_slots_possible(job->slots) || units(config, job) > all_units(config)) return false;
    if (!job->children || job->children > GN_AGG_WORKERS_MAX || (unsigned)job->format >= GN_AGG_FORMATS ||
        job->level > 14)
        return false;
    if (gn_state_partitioned(config) ? job->bits != 0 : !may_share(job)) return false;
    if (!job->has_parent) return job->leader < job->children;
    return job->parent_fanin && job->parent_fanin <= GN_AGG_WORKERS_MAX && job->parent_bit < job->parent_fanin;
}

/// Finds `count` copies (or windows) in a row that are free. @return false when there are none
static bool find_room(const gn_switch *sw, uint32_t count, uint32_t *first)
{
    const struct gn_switch_state *state = sw->state;
    for (uint32_t at = 0; at + count <= all_units(&state->config);) {
        uint32_t next = at;
        for (unsigned i = 0; i < state->config.jobs; i++) {
            const gn_job_state *job = &state->jobs[i];
            const uint32_t end = job->first + units(&state->config, &job->job);
            if (job->used && job->first < at + count && at < end) next = end;
        }
        if (next == at) {
            *first = at;
            return true;
        }
        at = next;
    }
    return false;
}

/// Frees the shared slots that the job at `index` holds.
static void free_slots(gn_switch *sw, unsigned index)
{
    gn_copy *copies = gn_state_copies(sw);
    for (size_t i = 0; i < gn_state_copy_count(&sw->state->config); i++)
        if (copies[i].state != GN_COPY_EMPTY && copies[i].job == index) copies[i] = (gn_copy){0};
}

static void begin(gn_switch *sw, unsigned index)
{
    const gn_job_state *job = &sw->state->jobs[index];
    if (gn_state_partitioned(&sw->state->config)) {
        memset(gn_state_copies(sw) + job->first, 0, sizeof(gn_copy) * 2 * job->job.slots);
        return;
    }
    free_slots(sw, index);
    gn_window *windows = gn_state_windows(sw) + job->first;
    for (uint32_t i = 0; i < job->job.slots; i++) windows[i] = (gn_window){.psn = i};
}

/// Writes what the headers of the job's contributions have in common.
static void describe_usual(gn_job_state *entry)
{
    const gn_switch_job *job = &entry->job;
    const gn_agg_packet packet = {.type = GN_AGG_GRADIENT,
                                  .job = job->job,
                                  .gen = job->gen,
                                  .level = job->level,
                                  .fanin = (uint16_t)gn_job_fanin(job)};
    gn_agg_write_header(&packet, entry->usual);
}

gn_status gn_switch_add_job(gn_switch *sw, const gn_switch_job *job)
{
    struct gn_switch_state *state = sw->state;
    gn_codec codec = {0}, exact = {0};
    if (!possible(sw, job)) return GN_INVALID;
    if (gn_format_codec(job->format, job->bound_exp, &codec) || gn_exact_codec(job->format, job->bound_exp, &exact))
        return GN_INVALID;
    const unsigned there = state->job_of[job->job];
    if (there && (int16_t)(job->gen - state->jobs[there - 1].job.gen) <= 0) return GN_MISMATCH;
    const bool was_used = there != 0;
    unsigned index = there ? there - 1 : 0;
    while (!there && index < state->config.jobs && state->jobs[index].used) index++;
    if (index == state->config.jobs) return GN_NO_SPACE;

    gn_job_state *entry = &state->jobs[index];
    entry->used = false;  // an earlier start's slots are free for this one
    uint32_t first;
    if (!find_room(sw, units(&state->config, job), &first)) {
        entry->used = was_used;
        return GN_NO_SPACE;
    }
    *entry = (gn_job_state){.used = true, .job = *job, .first = first};
    describe_usual(entry);
    begin(sw, index);
    state->job_of[job->job] = (uint8_t)(index + 1);
    sw->codec[index] = codec;
    sw->exact[index] = exact;
    return GN_OK;
}

gn_status gn_switch_remove_job(gn_switch *sw, uint16_t job)
{
    const unsigned index = sw->state->job_of[job];
    if (!index) return GN_INVALID;
    if (!gn_state_partitioned(&sw->state->config)) free_slots(sw, index - 1);
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

/// The children that have some of the bits.
static uint64_t children_with(const gn_switch_job *job, uint64_t bits)
{
    if (!job->bits) return bits;
    uint64_t children = 0;
    for (unsigned i = 0; i < job->children; i++)
        if (gn_job_child_bits(job, i) & bits) children |= 1ull << i;
    return children;
}

int gn_switch_waiting(const gn_switch *sw, unsigned index, unsigned from, gn_slot_status *status)
{
    const gn_switch_job *job = gn_switch_job_at(sw, index);
    if (!job) return -1;
    const gn_job_state *entry = &sw->state->jobs[index];
    const bool partitioned = gn_state_partitioned(&sw->state->config);
    const gn_copy *copies = gn_state_copies(sw) + (partitioned ? entry->first : 0);
    const size_t count = partitioned ? (size_t)2 * job->slots : gn_state_copy_count(&sw->state->config);
    for (size_t i = from; i < count; i++) {
        const gn_copy *c = &copies[i];
        if (c->state != GN_COPY_OPEN && c->state != GN_COPY_UP) continue;
        if (!partitioned && c->job != index) continue;
        const uint64_t gone = partitioned ? 0 : gn_state_windows(sw)[entry->first + (c->psn & (job->slots - 1u))].gone;
        const uint64_t absent = gn_everyone(gn_job_fanin(job)) & ~(c->seen | gone);
        *status = (gn_slot_status){.psn = c->psn,
                                   .seen = children_with(job, c->seen),
                                   .missing = children_with(job, absent),
                                   .absent = absent,
                                   .at_ps = children_with(job, gone),
                                   .since_ns = c->since_ns,
                                   .waits_for_parent = c->state == GN_COPY_UP};
        return (int)i;
    }
    return -1;
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t count)
{
    const uint32_t crc = libdeflate_crc32((uint32_t)(hash >> 32), bytes, count);
    return (uint64_t)crc << 32 | libdeflate_adler32((uint32_t)hash, bytes, count);
}

uint64_t gn_switch_hash(const gn_switch *sw)
{
    const struct gn_switch_state *state = sw->state;
    const gn_copy *copies = gn_state_copies(sw);
    const size_t count = gn_state_copy_count(&state->config);
    uint64_t hash = mix(1, copies, sizeof *copies * count);
    hash = mix(hash, gn_state_windows(sw), sizeof(gn_window) * gn_state_window_count(&state->config));
    for (size_t i = 0; i < count; i++)
        if (copies[i].state != GN_COPY_EMPTY && !copies[i].poison)  // nobody reads the others again
            hash = mix(hash, gn_state_sums(sw, (uint32_t)i), sizeof(int32_t) * copies[i].values);
    for (unsigned i = 0; i < state->config.jobs; i++)
        if (state->jobs[i].used) hash = mix(hash, &state->jobs[i].job, sizeof state->jobs[i].job);
    return hash;
}
