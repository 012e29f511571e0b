// SPDX-License-Identifier: Apache-2.0
#include <gradnic/comm.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bootstrap.h"
#include "clock.h"
#include "exchange.h"
#include "life.h"
#include "rendezvous.h"
#include "request.h"
#include "switched.h"

enum { SEGMENT_DEFAULT = 256 << 10 };

static _Thread_local char init_error[GN_ERROR_TEXT];

gn_comm_config gn_comm_config_default(void)
{
    gn_comm_config config = {.rank = -1, .size = -1, .algorithm = GN_RING, .data_tos = GN_TOS_AUTO};
    gn_codec_init(&config.codec, GN_DENSE, 10);  // gn_rule_default()'s
    return config;
}

const char *gn_algorithm_name(gn_algorithm algorithm)
{
    static const char *const names[GN_ALGORITHMS] = {
        [GN_RING] = "ring", [GN_WORKER_AGGREGATOR] = "worker-aggregator", [GN_SWITCH] = "switch"};
    return (unsigned)algorithm < GN_ALGORITHMS ? names[algorithm] : NULL;
}

static gn_status check_switch(const gn_comm_config *c, gn_error *error)
{
    if (!c->switch_address) return gn_fail(error, GN_INVALID, "algorithm switch needs switch_address, \"host:port\"");
    if (c->quantise && c->codec.profile == GN_PAPER)
        return gn_fail(error, GN_INVALID, "a switch adds integers, which paper does not have: take dense or lattice");
    if (c->switch_nic && !c->quantise)
        return gn_fail(error, GN_INVALID, "switch_nic needs quantise, and the codec of the NIC's rule");
    if (c->switch_streams > GN_ADMISSION_STREAMS_MAX)
        return gn_fail(error, GN_INVALID, "switch_streams is %u: want 1 to %d", c->switch_streams,
                       GN_ADMISSION_STREAMS_MAX);
    if (c->switch_slots > GN_AGG_SLOTS_MAX || (c->switch_slots & (c->switch_slots - 1)))
        return gn_fail(error, GN_INVALID, "switch_slots is %u: want a power of two up to %d", c->switch_slots,
                       GN_AGG_SLOTS_MAX);
    if (c->switch_values > GN_AGG_VALUES_MAX)
        return gn_fail(error, GN_INVALID, "switch_values is %u: want at most %d", c->switch_values, GN_AGG_VALUES_MAX);
    if (c->switch_rto_us > 1000000)
        return gn_fail(error, GN_INVALID, "switch_rto_us is %u: want at most a second", c->switch_rto_us);
    if (c->wire || c->wire_plain)
        return gn_fail(error, GN_INVALID, "a wire function sees no data with algorithm switch");
    return GN_OK;
}

static gn_status check_config(const gn_comm_config *config, gn_error *error)
{
    int lowest, highest;
    if (!gn_algorithm_name(config->algorithm))
        return gn_fail(error, GN_INVALID, "algorithm %d is none", (int)config->algorithm);
    if (config->scale != GN_SCALE_NONE && config->scale != GN_SCALE_AUTO)
        return gn_fail(error, GN_INVALID, "scale %d is none", (int)config->scale);
    if (config->data_tos < GN_TOS_AUTO || config->data_tos > 0xFF)
        return gn_fail(error, GN_INVALID, "data_tos is %d: want 0 to 255, or GN_TOS_AUTO", config->data_tos);
    if (config->timeout_ms < 0)
        return gn_fail(error, GN_INVALID, "timeout_ms is %d: want 0 (30000) or more", config->timeout_ms);
    if (config->quantise && (!config->codec.kernel || gn_profile_range(config->codec.profile, &lowest, &highest) ||
                             config->codec.bound_exp < lowest || config->codec.bound_exp > highest))
        return gn_fail(error, GN_INVALID, "quantise needs a codec made by gn_codec_init()");
    return config->algorithm == GN_SWITCH ? check_switch(config, error) : GN_OK;
}

gn_status gn_comm_config_check(const gn_comm_config *config)
{
    gn_error error = {.text = "config is NULL"};
    gn_rendezvous rendezvous;
    gn_status status = config ? check_config(config, &error) : GN_INVALID;
    if (!status) status = gn_rendezvous_parse(config->rendezvous, &rendezvous, &error);
    if (status) memcpy(init_error, error.text, sizeof init_error);
    return status;
}

static void free_comm(gn_comm *comm)
{
    gn_switched_free(comm->switched);
    gn_transport_close(comm);
    if (comm->wake >= 0) close(comm->wake);
    pthread_mutex_destroy(&comm->lock);
    pthread_mutex_destroy(&comm->stats_lock);
    free(comm->slot[0].header);
    free(comm->slot[1].header);
    free(comm->history);
    free(comm->poll_set);
    free(comm->data_sent);
    free(comm->memory);
    free(comm);
}

static gn_comm *new_comm(const gn_comm_config *config)
{
    gn_comm *comm = calloc(1, sizeof *comm);
    if (!comm) return NULL;
    comm->config = *config;
    comm->config.rendezvous = comm->config.interface = comm->config.switch_address =
        NULL;  // the caller's strings need not outlive gn_comm_init()
    comm->timeout_ms = gn_timeout_ms(config);
    size_t segment = config->segment_bytes ? config->segment_bytes : SEGMENT_DEFAULT;
    if (segment < GN_SEGMENT_MIN) segment = GN_SEGMENT_MIN;
    if (segment > GN_SEGMENT_MAX) segment = GN_SEGMENT_MAX;
    comm->segment = segment & ~(size_t)63;
    comm->phase = "start";
    comm->born = gn_now();
    comm->slot[1].sequence = 1;
    pthread_mutex_init(&comm->lock, NULL);
    pthread_mutex_init(&comm->stats_lock, NULL);
    comm->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return comm;
}

/// What depends on the number of peers.
static gn_status allocate(gn_comm *comm, gn_error *error)
{
    size_t peers = (size_t)comm->peer_count;
    comm->memory_bytes = 64;
    if (comm->config.algorithm == GN_RING) comm->memory_bytes = gn_ring_memory(comm);
    if (comm->config.algorithm == GN_WORKER_AGGREGATOR) comm->memory_bytes = gn_aggregator_memory(comm);
    comm->memory = aligned_alloc(64, (comm->memory_bytes + 63) & ~(size_t)63);
    comm->poll_set = calloc(2 * peers + 4, sizeof *comm->poll_set);  // what the algorithm waits for, wake, control
    comm->data_sent = calloc(peers + 1, sizeof *comm->data_sent);
    for (int i = 0; i < 2; i++) comm->slot[i].header = calloc(peers + 1, sizeof *comm->slot[i].header);
    if (!comm->memory || !comm->poll_set || !comm->data_sent || !comm->slot[0].header || !comm->slot[1].header ||
        comm->wake < 0)
        return gn_fail_memory(error);
    return GN_OK;
}

static gn_status connect_all(gn_comm *comm, gn_bootstrap *boot, gn_error *error)
{
    gn_status status = gn_bootstrap_gather(boot, error);
    if (status) return status;
    comm->table = boot->table;
    comm->timeout_ms = (int)boot->table.timeout_ms;
    if (comm->size > 1) status = gn_transport_connect(comm, boot, error);
    if (!status) status = allocate(comm, error);
    if (!status && comm->config.algorithm == GN_SWITCH) status = gn_switched_join(comm, boot, error);
    return status ? status : gn_bootstrap_commit(boot, error);
}

static gn_status init(gn_comm *comm, const gn_comm_config *config, gn_error *error)
{
    gn_bootstrap *boot = malloc(sizeof *boot);
    if (!boot) return gn_fail_memory(error);
    gn_status status = gn_bootstrap_open(boot, config, error);
    comm->rank = boot->rank;
    comm->size = boot->size;
    if (!status) status = gn_comm_is_alone(comm) ? allocate(comm, error) : connect_all(comm, boot, error);
    status = gn_bootstrap_explain(boot, status, error);
    if (status) gn_bootstrap_fail(boot, error);
    gn_bootstrap_close(boot);
    free(boot);
    return status;
}

/// Packets are marked for the NICs only when their codec is known here: unmarked, they pass any NIC as they are.
static void choose(gn_comm_config *config)
{
    const bool nic = config->algorithm == GN_SWITCH ? config->switch_nic : config->quantise;
    if (config->data_tos == GN_TOS_AUTO) config->data_tos = nic ? 0x28 : 0;
    if (!config->switch_streams) config->switch_streams = 1;
}

gn_status gn_comm_init(gn_comm **result, const gn_comm_config *wanted)
{
    gn_error error;
    if (!result || !wanted) {
        snprintf(init_error, sizeof init_error, "%s is NULL", result ? "config" : "comm");
        if (result) *result = NULL;
        return GN_INVALID;
    }
    *result = NULL;
    gn_comm_config chosen = *wanted, *config = &chosen;
    gn_status status = check_config(config, &error);
    if (!status) choose(config);
    gn_comm *comm = status ? NULL : new_comm(config);
    if (!status) status = comm ? init(comm, config, &error) : gn_fail(&error, GN_NO_MEMORY, "out of memory");
    if (status) {
        memcpy(init_error, error.text, sizeof init_error);
        if (comm) free_comm(comm);
        return status;
    }
    if (config->data_tos && !config->quantise)
        gn_log_text(config, GN_LOG_INFO,
                    "data is sent with ToS 0x%02x but not quantised: with NICs that compress it, replicas drift",
                    config->data_tos);
    gn_life_join(comm);
    *result = comm;
    return GN_OK;
}

gn_status gn_allreduce(gn_comm *comm, const float *send, float *recv, size_t count, gn_op op)
{
    gn_bucket bucket = {.send = send, .recv = recv, .count = count, .op = op};
    return gn_run_allreduce(comm, &bucket);
}

gn_status gn_allreduce_bucket(gn_comm *comm, const gn_bucket *bucket)
{
    return gn_run_allreduce(comm, bucket);
}

gn_status gn_barrier(gn_comm *comm)
{
    return gn_run_barrier(comm);
}

gn_status gn_comm_abort(gn_comm *comm, const char *reason)
{
    return comm ? gn_control_abort(comm, reason) : GN_INVALID;
}

void gn_comm_free(gn_comm *comm)
{
    if (!comm) return;
    gn_queue_free(comm);
    gn_switched_leave(comm);
    gn_control_leave(comm);
    free_comm(comm);
}

int gn_comm_rank(const gn_comm *comm)
{
    return comm ? comm->rank : -1;
}
int gn_comm_size(const gn_comm *comm)
{
    return comm ? comm->size : -1;
}

const char *gn_comm_last_error(const gn_comm *comm)
{
    if (!comm) return init_error;
    gn_comm *mutable = (gn_comm *)(uintptr_t)comm;  // the copy is a cache: callers see a constant
    pthread_mutex_lock(&mutable->lock);
    memcpy(mutable->error_copy, mutable->error.text, sizeof mutable->error_copy);
    pthread_mutex_unlock(&mutable->lock);
    return mutable->error_copy;
}

gn_status gn_comm_set_remaining(gn_comm *comm, double seconds)
{
    if (!comm || !(seconds >= 0)) return GN_INVALID;
    pthread_mutex_lock(&comm->stats_lock);
    comm->remaining = seconds;
    pthread_mutex_unlock(&comm->stats_lock);
    return GN_OK;
}

gn_comm_stats gn_comm_get_stats(const gn_comm *comm)
{
    if (!comm) return (gn_comm_stats){0};
    gn_comm *mutable = (gn_comm *)(uintptr_t)comm;
    pthread_mutex_lock(&mutable->stats_lock);
    gn_comm_stats stats = mutable->stats;
    pthread_mutex_unlock(&mutable->stats_lock);
    return stats;
}
