// SPDX-License-Identifier: Apache-2.0
#include <gradnic/comm.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "net/launcher.h"
#include "net/secret.h"
#include "net/socket.h"
#include "ring/bootstrap/bootstrap.h"
#include "ring/bootstrap/job_meeting.h"
#include "ring/choice.h"
#include "ring/config.h"
#include "ring/data.h"
#include "ring/exchange.h"
#include "ring/failure.h"
#include "ring/groups/groups.h"
#include "ring/life.h"
#include "ring/log.h"
#include "ring/neighbours.h"
#include "ring/oob.h"
#include "ring/peers/peers.h"
#include "ring/request.h"
#include "ring/switched.h"
#include "ring/transport.h"

static _Thread_local char init_error[GN_ERROR_TEXT];

void gn_config_init_failed(const gn_error *error)
{
    memcpy(init_error, error->text, sizeof init_error);
}

/// A rank that is not known has no launcher's job.
static gn_status check_rendezvous(const gn_comm_config *config, gn_error *error)
{
    gn_rendezvous rendezvous;
    gn_place place;
    gn_error ignored;
    const bool known = gn_place_find(config->rank, config->size, &place, &ignored) == GN_OK;
    return gn_meeting_choose(config->rendezvous, known ? place.rank : -1, known ? place.size : -1, &rendezvous, error);
}

gn_status gn_comm_config_check(const gn_comm_config *config)
{
    gn_error error = {.text = "config is NULL"};
    gn_secret secret = {0};
    gn_status status = config ? gn_config_check(config, &error) : GN_INVALID;
    if (!status) status = check_rendezvous(config, &error);
    if (!status) status = gn_secret_read(&secret, config->secret_file, &error);
    gn_secret_wipe(&secret);
    if (status) gn_config_init_failed(&error);
    return status;
}

static void free_comm(gn_comm *comm)
{
    gn_switched_free(comm->switched);
    gn_peers_close(comm);
    gn_neighbours_close(comm);
    if (comm->wake >= 0) close(comm->wake);
    pthread_mutex_destroy(&comm->lock);
    pthread_mutex_destroy(&comm->stats_lock);
    free(comm->turn[0].header);
    free(comm->turn[1].header);
    free(comm->history);
    free(comm->poll_set);
    free(comm->data_sent);
    free(comm->memory);
    free(comm->classes);
    free(comm->stage);
    free(comm->interface);
    free(comm->secret_file);
    free(comm->grouping);
    free(comm->groups);
    free(comm->switch_address);
    free(comm);
}

/// A copy of a text, or NULL for NULL. @return false when out of memory
static bool keep_text(const char *text, char **copy)
{
    *copy = text ? strdup(text) : NULL;
    return *copy || !text;
}

static gn_comm *new_comm(const gn_comm_config *config)
{
    gn_comm *comm = calloc(1, sizeof *comm);
    if (!comm) return NULL;
    comm->config = *config;
    // The caller's strings need not outlive gn_comm_init().
    comm->config.rendezvous = comm->config.interface = comm->config.switch_address = comm->config.secret_file = NULL;
    comm->config.groups = NULL;
    comm->timeout_ms = gn_timeout_ms(config);
    comm->segment = gn_config_segment(config);
    comm->phase = "start";
    comm->born = gn_now();
    comm->turn[1].sequence = 1;
    pthread_mutex_init(&comm->lock, NULL);
    pthread_mutex_init(&comm->stats_lock, NULL);
    comm->wake = gn_apart(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (keep_text(config->interface, &comm->interface) && keep_text(config->secret_file, &comm->secret_file) &&
        keep_text(config->groups, &comm->grouping) && keep_text(config->switch_address, &comm->switch_address))
        return comm;
    free_comm(comm);
    return NULL;
}

/// All ranks, as far as this one has connections with them.
static void find_whole(gn_comm *comm)
{
    gn_circle *whole = &comm->whole;
    whole->size = comm->size;
    whole->own = comm->rank;
    for (int rank = 0; rank < comm->size; rank++) whole->index[rank] = -1;
    for (int i = 0; i < comm->neighbour_count; i++) whole->index[comm->neighbours[i].rank] = (int16_t)i;
    whole->right = 1;  // of a ring, where left is 0; with two ranks both are one rank
    if (comm->size < 2 || !gn_comm_is_mesh(comm)) return;
    whole->left = whole->index[(comm->rank + comm->size - 1) % comm->size];
    whole->right = whole->index[(comm->rank + 1) % comm->size];
}

static void need(gn_comm *comm, bool needed, size_t bytes)
{
    if (needed && bytes > comm->memory_bytes) comm->memory_bytes = bytes;
}

/// Allocates what depends on the number of neighbours.
static gn_status allocate(gn_comm *comm, gn_error *error)
{
    size_t neighbours = (size_t)comm->neighbour_count;
    find_whole(comm);
    if (gn_algorithm_has_groups(comm->config.algorithm) && gn_groups_make(comm, error)) return error->status;
    comm->memory_bytes = 64;
    const bool coded = comm->config.offload == GN_OFFLOAD_LIBRARY;
    if (gn_comm_goes_round(comm)) comm->memory_bytes = coded ? gn_ring_coded_memory(comm) : gn_ring_memory(comm);
    if (comm->config.algorithm == GN_WORKER_AGGREGATOR)
        comm->memory_bytes = coded ? gn_aggregator_coded_memory(comm) : gn_aggregator_memory(comm);
    const bool grouped = comm->groups != NULL, direct = gn_comm_is_mesh(comm) && !grouped;
    need(comm, direct, gn_direct_memory(comm));
    need(comm, direct && coded, gn_direct_coded_memory(comm));
    need(comm, direct, gn_ring_memory(comm));   // auto may not compress
    need(comm, grouped, gn_ring_memory(comm));  // some levels may be coded, and others not
    need(comm, grouped, gn_aggregator_memory(comm));
    need(comm, grouped && coded, gn_aggregator_coded_memory(comm));
    comm->classes = calloc(GN_SIZE_CLASSES, sizeof *comm->classes);
    comm->memory = aligned_alloc(64, (comm->memory_bytes + 63) & ~(size_t)63);
    // What the algorithm waits for, `wake`, the out-of-band connections, and those for messages.
    comm->poll_set = calloc(2 * neighbours + 4 + gn_peers_room(comm), sizeof *comm->poll_set);
    comm->data_sent = calloc(neighbours + 1, sizeof *comm->data_sent);
    for (int i = 0; i < 2; i++) comm->turn[i].header = calloc(neighbours + 1, sizeof *comm->turn[i].header);
    if (!comm->memory || !comm->classes || !comm->poll_set || !comm->data_sent || !comm->turn[0].header ||
        !comm->turn[1].header || comm->wake < 0)
        return gn_fail_memory(error);
    return GN_OK;
}

static gn_status connect_all(gn_comm *comm, gn_bootstrap *boot, gn_error *error)
{
    gn_status status = gn_bootstrap_gather(boot, error);
    if (status) return status;
    comm->table = boot->table;
    comm->timeout_ms = (int)boot->table.timeout_ms;
    comm->segment = boot->table.segment_bytes;
    if (comm->size > 1) status = gn_transport_connect(comm, boot, error);
    if (comm->size > 1 && !status) status = gn_data_share(comm, boot, error);
    if (!status) status = gn_peers_open(comm, comm->size > 1 ? boot : NULL, error);
    if (!status) status = allocate(comm, error);
    if (!status && comm->config.algorithm == GN_SWITCH) status = gn_switched_join(comm, boot, error);
    return status ? status : gn_bootstrap_commit(boot, error);
}

static gn_status stay_alone(gn_comm *comm, gn_error *error)
{
    const gn_status status = gn_peers_open(comm, NULL, error);
    return status ? status : allocate(comm, error);
}

static gn_status init(gn_comm *comm, const gn_comm_config *config, int *door, gn_error *error)
{
    gn_bootstrap *boot = malloc(sizeof *boot);
    if (!boot) return gn_fail_memory(error);
    gn_status status = gn_bootstrap_open(boot, config, *door, error);
    *door = -1;
    comm->rank = boot->rank;
    comm->size = boot->size;
    if (!status) status = gn_comm_is_alone(comm) ? stay_alone(comm, error) : connect_all(comm, boot, error);
    status = gn_bootstrap_explain(boot, status, error);
    if (status) gn_bootstrap_fail(boot, error);
    gn_bootstrap_close(boot);
    free(boot);
    return status;
}

gn_status gn_comm_init(gn_comm **result, const gn_comm_config *wanted)
{
    return gn_comm_init_at(result, wanted, -1);
}

gn_status gn_comm_init_at(gn_comm **result, const gn_comm_config *wanted, int door)
{
    gn_error error;
    if (!result || !wanted) {
        snprintf(init_error, sizeof init_error, "%s is NULL", result ? "config" : "comm");
        if (result) *result = NULL;
        gn_close(&door);
        return GN_INVALID;
    }
    *result = NULL;
    gn_comm_config chosen = *wanted, *config = &chosen;
    gn_status status = gn_config_check(config, &error);
    if (!status) gn_comm_config_choose(config);
    gn_comm *comm = status ? NULL : new_comm(config);
    if (!status) status = comm ? init(comm, config, &door, &error) : gn_fail(&error, GN_NO_MEMORY, "out of memory");
    gn_close(&door);
    if (status) {
        gn_config_init_failed(&error);
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

gn_status gn_comm_abort(gn_comm *comm, const char *reason)
{
    if (!comm) return GN_INVALID;
    return gn_life_is_copy(comm) ? GN_DEAD : gn_oob_abort(comm, reason);
}

/// The connections stay what they are for the process that made them.
static void close_descriptors(gn_comm *comm)
{
    for (int i = 0; i < comm->neighbour_count; i++) {
        gn_neighbour *neighbour = &comm->neighbours[i];
        if (neighbour->data_in != neighbour->data_out) gn_close(&neighbour->data_in);
        gn_close(&neighbour->data_out);
        gn_close(&neighbour->oob->fd);
    }
    for (int rank = 0; rank < comm->size; rank++) {
        const gn_peer *peer = comm->peers->peer[rank];
        if (peer && peer->in) gn_close(&peer->in->fd);
        if (peer && peer->out) gn_close(&peer->out->fd);
    }
    gn_close(&comm->peers->listener);
    gn_close(&comm->peers->bell);
    gn_close(&comm->wake);
    if (!comm->switched) return;
    for (unsigned i = 0; i < comm->switched->channels; i++) gn_close(&comm->switched->channel[i].fd);
    gn_close(&comm->switched->tether.connection->fd);
    gn_close(&comm->switched->halt);
    gn_close(&comm->switched->news);
}

/// In a process that was forked off. A thread of its parent may have been in the midst of a change
/// of what lies in memory: then that stays.
static void free_copy(gn_comm *comm)
{
    gn_life_leave(comm);
    if (comm->queue || atomic_load(&comm->occupied))
        close_descriptors(comm);
    else
        free_comm(comm);
}

void gn_comm_free(gn_comm *comm)
{
    if (!comm) return;
    if (gn_life_is_copy(comm)) {
        free_copy(comm);
        return;
    }
    gn_queue_free(comm);
    gn_peers_leave(comm);
    gn_switched_leave(comm);
    gn_life_leave(comm);
    gn_oob_leave(comm);
    gn_log_drain(&comm->config);
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
    gn_oob_last_error(mutable, mutable->error_copy);
    return mutable->error_copy;
}

/// The span of that many seconds. Only 0 seconds give 0, which stands for a time that is not known.
static uint64_t span_of(double seconds)
{
    const double span = seconds * (double)GN_SECOND;
    if (!(seconds > 0)) return 0;
    if (span < 1) return 1;
    return span < 0x1p63 ? (uint64_t)span : GN_FOREVER;
}

gn_status gn_comm_set_remaining(gn_comm *comm, double seconds)
{
    if (!comm) return GN_INVALID;
    if (!(seconds >= 0)) return gn_oob_refuse(comm, "set_remaining", "the seconds are below 0, or not a number");
    pthread_mutex_lock(&comm->stats_lock);
    comm->remaining = span_of(seconds);
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
    gn_peers_add_stats(mutable, &stats);
    return stats;
}
