// SPDX-License-Identifier: Apache-2.0
// A shard's making, and the channels that it gives to jobs.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "net/udp.h"
#include "switch/daemon/shard.h"
#include "switch/mirror.h"

/// Opens a channel's socket. Root's rights are still there: buffers so large are not for everyone.
static gn_status open_channel(gn_channel *channel, const gn_shard_config *config, unsigned number, gn_error *error)
{
    const gn_udp_options options = {.join = !config->no_offload,
                                    .read_tos = true,
                                    .overflow = true,
                                    .tos = GN_ECN_CAPABLE,
                                    .receive_bytes = config->buffer_bytes,
                                    .send_bytes = config->buffer_bytes / 4};
    gn_endpoint at = config->listen;
    if (at.port) at.port = (uint16_t)(at.port + number);
    const gn_status status = gn_udp_listen(&channel->fd, &at, &options, error);
    channel->udp_port = at.port;
    return status;
}

static gn_status open_channels(gn_shard *shard, const gn_shard_config *config, gn_error *error)
{
    for (unsigned i = 0; i < shard->channel_count; i++)
        if (open_channel(&shard->channels[i], config, i, error)) return error->status;
    shard->poll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event stop = {.events = EPOLLIN, .data.fd = -1};
    if (shard->poll < 0 || epoll_ctl(shard->poll, EPOLL_CTL_ADD, config->stop_event, &stop))
        return gn_fail(error, GN_IO, "epoll: %s", strerror(errno));
    return GN_OK;
}

static gn_status allocate(gn_shard *shard, const gn_shard_config *config, gn_error *error)
{
    const size_t bytes = gn_switch_bytes(&config->sw);
    shard->memory = aligned_alloc(64, (bytes | 63) + 1);
    shard->channels = calloc(config->channels, sizeof *shard->channels);
    shard->box = calloc(1, sizeof *shard->box);
    shard->inbox = gn_udp_inbox_new(true);
    shard->in = gn_fault_new(&config->in);
    shard->out = gn_fault_new(&config->out);
    if (!shard->memory || !shard->channels || !shard->box || !shard->inbox || !shard->in || !shard->out)
        return gn_fail(error, GN_NO_MEMORY, "out of memory: %zu MiB for slots (--slots, --values)", bytes >> 20);
    if (gn_switch_init(&shard->sw, &config->sw, shard->memory, bytes))
        return gn_fail(error, GN_INVALID, "%u slots of %u values are out of range", config->sw.slots,
                       config->sw.slot_values);
    if (config->engine && config->engine->open && config->engine->open(&shard->adds, &shard->sw, error))
        return error->status;
    shard->engine = config->engine;
    shard->channel_count = config->channels;
    shard->box->no_segmentation = config->no_offload;
    for (unsigned i = 0; i < config->channels; i++) shard->channels[i].fd = -1;
    return GN_OK;
}

gn_shard *gn_shard_new(const gn_shard_config *config, gn_error *error)
{
    gn_shard *shard = calloc(1, sizeof *shard);
    if (!shard) {
        gn_fail_memory(error);
        return NULL;
    }
    pthread_mutex_init(&shard->lock, NULL);
    shard->stop = config->stop;
    shard->poll = -1;
    shard->family = config->listen.ip.version == 4 ? AF_INET : AF_INET6;
    shard->slots_free = config->places;
    shard->bound = gn_agg_bound(config->sw.slot_values);
    if (!allocate(shard, config, error) && !open_channels(shard, config, error)) return shard;
    gn_shard_free(shard);
    return NULL;
}

void gn_shard_free(gn_shard *shard)
{
    if (!shard) return;
    for (unsigned i = 0; i < shard->channel_count; i++) {
        if (shard->channels[i].fd >= 0) close(shard->channels[i].fd);
        gn_ps_free(shard->channels[i].ps);
    }
    if (shard->poll >= 0) close(shard->poll);
    if (shard->adds) shard->engine->close(shard->adds);
    gn_fault_free(shard->in);
    gn_fault_free(shard->out);
    gn_udp_inbox_free(shard->inbox);
    free(shard->box);
    free(shard->channels);
    free(shard->memory);
    pthread_mutex_destroy(&shard->lock);
    free(shard);
}

int gn_shard_free_channel(const gn_shard *shard, uint64_t taken)
{
    for (unsigned i = 0; i < shard->channel_count; i++)
        if (!shard->channels[i].used && !(taken >> i & 1)) return (int)i;
    return -1;
}

/// Drops what came for the job that had the port before.
static void drain(gn_shard *shard, const gn_channel *channel)
{
    while (gn_udp_inbox_receive(shard->inbox, channel->fd, GN_UDP_INBOX_MESSAGES) > 0) continue;
}

/// Gives the job its ports, and enters it in the switch.
static gn_status enter(gn_shard *shard, unsigned number, gn_switch_job *job, const gn_far_end *children,
                       const gn_far_end *above)
{
    gn_channel *channel = &shard->channels[number];
    const unsigned first = number * GN_SOURCES_MAX;
    gn_sources_clear(&channel->sources, first);
    for (unsigned i = 0; i < job->children; i++) {
        if (!gn_sources_set(&channel->sources, i, &children[i], shard->family)) return GN_INVALID;
        job->port[i] = (uint16_t)(first + i);
    }
    const unsigned place = job->has_parent ? GN_SOURCE_PARENT : GN_SOURCE_PS;
    if (above && !gn_sources_set(&channel->sources, place, above, shard->family)) return GN_INVALID;
    job->parent_port = (uint16_t)(first + GN_SOURCE_PARENT);
    job->ps_port = (uint16_t)(first + GN_SOURCE_PS);
    gn_status status = gn_switch_add_job(&shard->sw, job);
    if (!status && shard->adds) {
        const int index = gn_mirror_job_index(&shard->sw, job->job);
        gn_error unused;
        status = shard->engine->add_job(shard->adds, (unsigned)index, &unused);
        if (status) (void)gn_switch_remove_job(&shard->sw, job->job);
    }
    if (status) gn_sources_clear(&channel->sources, first);
    return status;
}

/// Takes the job out of the switch.
static void forget(gn_shard *shard, uint16_t job)
{
    const int index = gn_mirror_job_index(&shard->sw, job);
    gn_error unused;
    if (index >= 0 && shard->adds) (void)shard->engine->remove_job(shard->adds, (unsigned)index, &unused);
    (void)gn_switch_remove_job(&shard->sw, job);
}

/// From now on, the channel's socket is heard.
static gn_status begin(gn_shard *shard, unsigned number, uint16_t job, uint16_t slots, const gn_channel_keys *keys)
{
    gn_channel *channel = &shard->channels[number];
    struct epoll_event event = {.events = EPOLLIN, .data.fd = (int)number};
    drain(shard, channel);
    if (epoll_ctl(shard->poll, EPOLL_CTL_ADD, channel->fd, &event)) {
        gn_sources_clear(&channel->sources, number * GN_SOURCES_MAX);
        return GN_NO_MEMORY;
    }
    channel->used = true;
    channel->job = job;
    channel->slots = slots;
    channel->keys = *keys;
    channel->counters = (gn_channel_counters){0};
    shard->slots_free -= slots;
    return GN_OK;
}

gn_status gn_shard_add(gn_shard *shard, unsigned number, gn_switch_job *job, const gn_far_end *children,
                       const gn_far_end *above, const gn_channel_keys *keys)
{
    gn_shard_lock(shard);
    gn_status status = enter(shard, number, job, children, above);
    if (!status) {
        status = begin(shard, number, job->job, job->slots, keys);
        if (status) forget(shard, job->job);
    }
    gn_shard_unlock(shard);
    return status;
}

gn_status gn_shard_add_ps(gn_shard *shard, unsigned number, const gn_ps_config *config, const gn_far_end *below,
                          const gn_channel_keys *keys)
{
    gn_channel *channel = &shard->channels[number];
    gn_ps *ps;
    gn_status status = gn_ps_new(&ps, config);
    if (status) return status;
    gn_shard_lock(shard);
    gn_sources_clear(&channel->sources, number * GN_SOURCES_MAX);
    if (!gn_sources_set(&channel->sources, 0, below, shard->family)) status = GN_INVALID;
    if (!status) status = begin(shard, number, config->job, config->slots, keys);
    if (!status) channel->ps = ps;
    gn_shard_unlock(shard);
    if (status) gn_ps_free(ps);
    return status;
}

unsigned gn_shard_job_index(const gn_shard *shard, unsigned number)
{
    for (unsigned i = 0; i < GN_SWITCH_JOBS_MAX; i++) {
        const gn_switch_job *job = gn_switch_job_at(&shard->sw, i);
        if (job && !shard->channels[number].ps && job->job == shard->channels[number].job) return i;
    }
    return GN_SWITCH_JOBS_MAX;
}

void gn_shard_remove(gn_shard *shard, unsigned number)
{
    gn_channel *channel = &shard->channels[number];
    gn_shard_lock(shard);
    const unsigned index = gn_shard_job_index(shard, number);
    if (index < GN_SWITCH_JOBS_MAX) gn_switch_counters_add(&shard->ended, gn_switch_job_counters(&shard->sw, index));
    if (channel->ps) {
        const gn_ps_stats stats = gn_ps_get_stats(channel->ps);
        gn_ps_stats_add(&shard->ps_ended, &stats);
    }
    gn_ps *ps = channel->ps;
    channel->ps = NULL;
    shard->slots_free += channel->slots;
    gn_channel_counters_add(&shard->channels_ended, &channel->counters);
    (void)epoll_ctl(shard->poll, EPOLL_CTL_DEL, channel->fd, NULL);
    forget(shard, channel->job);
    gn_sources_clear(&channel->sources, number * GN_SOURCES_MAX);
    channel->used = false;
    channel->keys = (gn_channel_keys){0};
    gn_shard_unlock(shard);
    gn_ps_free(ps);
}

/// For structures that hold nothing but uint64_t.
static void add_all(uint64_t *to, const uint64_t *from, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof *to; i++) to[i] += from[i];
}

void gn_switch_counters_add(gn_switch_counters *to, const gn_switch_counters *from)
{
    _Static_assert(sizeof *to % sizeof(uint64_t) == 0, "counters are uint64_t");
    add_all((uint64_t *)to, (const uint64_t *)from, sizeof *to);
}

void gn_channel_counters_add(gn_channel_counters *to, const gn_channel_counters *from)
{
    add_all((uint64_t *)to, (const uint64_t *)from, sizeof *to);
}

void gn_ps_stats_add(gn_ps_stats *to, const gn_ps_stats *from)
{
    to->received += from->received, to->ignored += from->ignored, to->sent += from->sent;
    to->in_bytes += from->in_bytes, to->out_bytes += from->out_bytes;
    to->whole += from->whole, to->merged += from->merged, to->overflows += from->overflows;
    to->answers += from->answers, to->overlaps += from->overlaps, to->duplicates += from->duplicates;
    to->reminders_switch += from->reminders_switch, to->reminders_worker += from->reminders_worker;
}
