// SPDX-License-Identifier: Apache-2.0
#include "ring/deadline.h"

#include <stdio.h>
#include <string.h>

#include "net/socket.h"
#include "ring/evidence.h"
#include "ring/failure.h"
#include "ring/life.h"
#include "ring/oob.h"
#include "ring/peers/peers.h"
#include "ring/turn.h"

// Whoever waits in one communicator serves the others of its process: they are alive, too. So the
// arrows are: waiting (here) -> life.c, which knows them all -> oob.c, which serves one of them.

static gn_status serve_neighbours(gn_comm *comm, const struct pollfd *set)
{
    gn_lock(&comm->lock);
    for (int i = 0; i < comm->neighbour_count; i++) {
        if (set[i].revents & POLLOUT) gn_framed_flush(comm->neighbours[i].oob);
        if (set[i].revents & (POLLIN | POLLHUP | POLLERR)) gn_oob_read_locked(comm, i);
    }
    const gn_status status = gn_oob_state_locked(comm);
    gn_unlock(&comm->lock);
    return status;
}

/// As poll(), for at most `ms`; what it takes counts as waiting.
static int wait_for(gn_comm *comm, struct pollfd *set, nfds_t count, int ms)
{
    const uint64_t before = gn_now();
    const int found = gn_poll(set, count, ms);
    pthread_mutex_lock(&comm->stats_lock);
    comm->stats.wait_seconds += gn_seconds(gn_now() - before);
    pthread_mutex_unlock(&comm->stats_lock);
    return found;
}

/// A caller who may be interrupted is asked now and then.
static void ask(gn_comm *comm, uint64_t now, int *wait)
{
    if (!comm->config.interrupted) return;
    if (*wait < 0 || *wait > GN_ASK_MS) *wait = GN_ASK_MS;
    if (gn_elapsed(comm->asked, now) < GN_ASK_MS * GN_MILLISECOND) return;
    comm->asked = now;
    gn_oob_ask(comm);
}

gn_status gn_oob_poll(gn_comm *comm, struct pollfd *data, int count, int wait)
{
    struct pollfd *set = comm->poll_set;
    nfds_t n = 0;
    for (int i = 0; i < count; i++) set[n++] = data[i];
    set[n++] = (struct pollfd){.fd = comm->wake, .events = POLLIN};
    const uint64_t now = gn_now(), others_due = gn_life_serve(comm, now);
    ask(comm, now, &wait);
    gn_lock(&comm->lock);
    const uint64_t own_due = gn_oob_beat_locked(comm, now);
    for (int i = 0; i < comm->neighbour_count; i++) set[n++] = gn_framed_poll(comm->neighbours[i].oob);
    gn_status status = gn_oob_state_locked(comm);
    gn_unlock(&comm->lock);
    if (status) return status;

    struct pollfd *const peers = set + n;
    uint64_t peers_due;
    n += gn_peers_poll(comm, peers, now, &peers_due);
    if (wait && gn_oob_sleep(comm)) wait = 0;
    const uint64_t next_due = own_due < others_due ? own_due : others_due;
    const int due = gn_ms_until(next_due < peers_due ? next_due : peers_due, now);
    const int found = wait ? wait_for(comm, set, n, wait > 0 && wait < due ? wait : due) : gn_poll(set, n, 0);
    if (wait) gn_oob_awake(comm);
    for (int i = 0; i < count; i++) data[i].revents = found > 0 ? set[i].revents : 0;
    if (found > 0) status = serve_neighbours(comm, set + count + 1);
    return status ? status : gn_peers_serve(comm, peers, found > 0);
}

/// Bytes of values that have come from it, as far as they are counted by neighbour.
static uint64_t came_from(const gn_comm *comm, const gn_neighbour *neighbour)
{
    return gn_comm_is_mesh(comm) ? neighbour->came : comm->data_received;
}

/// Whether this neighbour's data has stopped on the way, although it has sent it and is alive.
static bool data_stuck_locked(const gn_comm *comm, const gn_neighbour *neighbour)
{
    return neighbour->announced_sequence == comm->sequence && neighbour->announced_sent > came_from(comm, neighbour) &&
           (comm->neighbour_count <= 2 || gn_comm_is_mesh(comm));
}

static gn_watch watch_of_locked(gn_comm *comm, int index, uint64_t now)
{
    const gn_neighbour *neighbour = &comm->neighbours[index];
    gn_oob_listen_locked(comm, index);
    return (gn_watch){.silent = gn_elapsed(neighbour->last_sign, now),
                      .still = gn_elapsed(comm->last_progress, now),
                      .left = neighbour->said_bye && !comm->turn[comm->sequence % 2].have_header[index],
                      .stuck = data_stuck_locked(comm, neighbour)};
}

static void fail_because_left_locked(gn_comm *comm, const gn_neighbour *neighbour)
{
    gn_error error;
    gn_fail(&error, GN_PEER_LOST, "rank %d (%s) has left the group (gn_comm_free)", neighbour->rank, neighbour->name);
    error.who = neighbour->rank;
    if (neighbour->why.status != GN_OK)  // it is only the messenger
        gn_fail(&error, GN_PEER_LOST, "rank %d (%s) has left the group because of a failure in another one: %.240s",
                neighbour->rank, neighbour->name, neighbour->why.text);
    gn_oob_fail_locked(comm, &error);
}

static void give_up_locked(gn_comm *comm, const gn_neighbour *neighbour, gn_evidence evidence)
{
    const unsigned long long got = comm->data_received, expected = comm->data_expected;
    gn_error error;
    switch (evidence) {
    case GN_EVIDENCE_NONE:
        return;
    case GN_EVIDENCE_LEFT:
        fail_because_left_locked(comm, neighbour);
        return;
    case GN_EVIDENCE_SILENT:
        gn_fail(&error, GN_PEER_LOST, "rank %d (%s) lost: no sign of life for %d ms in %s, %llu of %llu bytes received",
                neighbour->rank, neighbour->name, comm->timeout_ms, comm->phase, got, expected);
        error.who = neighbour->rank;
        break;
    case GN_EVIDENCE_STUCK:
        gn_fail(&error, GN_PEER_LOST,
                "rank %d (%s) lost: its data connection has been stuck for %d ms in %s: it sent %llu bytes, %llu came",
                neighbour->rank, neighbour->name, comm->timeout_ms, comm->phase,
                (unsigned long long)neighbour->announced_sent, (unsigned long long)came_from(comm, neighbour));
        error.who = neighbour->rank;
        break;
    case GN_EVIDENCE_STILL:
        gn_fail(&error, GN_TIMEOUT,
                "no data for %d ms in %s, %llu of %llu bytes received, waiting for rank %d (%s), which is alive",
                2 * comm->timeout_ms, comm->phase, got, expected, neighbour->rank, neighbour->name);
        break;
    }
    gn_oob_fail_locked(comm, &error);
}

/// A process that stood still itself, as between SIGSTOP and SIGCONT, has heard nobody meanwhile.
/// It blames nobody for that.
static void look_at_oneself_locked(gn_comm *comm, uint64_t now)
{
    const bool stood_still = gn_elapsed(comm->looked, now) > gn_comm_timeout(comm) / 2;
    comm->looked = now;
    if (!stood_still) return;
    comm->last_progress = now;
    for (int i = 0; i < comm->neighbour_count; i++) comm->neighbours[i].last_sign = now;
}

gn_status gn_oob_check_deadline(gn_comm *comm, const uint8_t *waiting)
{
    const uint64_t now = gn_now(), limit = gn_comm_timeout(comm);
    gn_suspicion strongest = {.evidence = GN_EVIDENCE_NONE};
    const gn_neighbour *culprit = NULL;
    gn_lock(&comm->lock);
    look_at_oneself_locked(comm, now);
    for (int i = 0; i < comm->neighbour_count; i++) {
        if (!waiting[i]) continue;
        const gn_watch watch = watch_of_locked(comm, i, now);
        const gn_suspicion suspicion = gn_suspect(&watch, limit);
        if (suspicion.evidence == GN_EVIDENCE_NONE || (culprit && !gn_suspicion_stronger(suspicion, strongest)))
            continue;
        strongest = suspicion;
        culprit = &comm->neighbours[i];
    }
    if (culprit) give_up_locked(comm, culprit, strongest.evidence);
    const gn_status status = gn_oob_state_locked(comm);
    gn_unlock(&comm->lock);
    return status;
}

void gn_oob_progress(gn_comm *comm, uint64_t now)
{
    gn_lock(&comm->lock);
    if (now > comm->last_progress) comm->last_progress = now;
    gn_unlock(&comm->lock);
}

void gn_oob_sign(gn_comm *comm, int index, uint64_t now)
{
    gn_lock(&comm->lock);
    comm->neighbours[index].last_sign = now;
    comm->last_progress = now;
    gn_unlock(&comm->lock);
}

static gn_status await(gn_comm *comm, int index)
{
    uint8_t waiting[GN_RANKS_MAX] = {0};
    if (index >= 0)
        waiting[index] = 1;
    else
        memset(waiting, 1, (size_t)comm->neighbour_count);
    const gn_status status = gn_oob_poll(comm, NULL, 0, -1);
    return status ? status : gn_oob_check_deadline(comm, waiting);
}

gn_status gn_oob_await_header(gn_comm *comm, int index)
{
    gn_status status = gn_oob_state(comm);
    while (!status && !gn_oob_has_header(comm, index)) status = await(comm, index);
    return status;
}

gn_status gn_oob_await_agreement(gn_comm *comm, int round, int *value)
{
    gn_status status = gn_oob_state(comm);
    while (!status && !gn_oob_agreed(comm, round, value))
        status = await(comm, comm->config.algorithm == GN_RING || comm->rank ? 0 : -1);
    return status;
}

uint64_t gn_oob_finish_until(gn_comm *comm, uint64_t collectives, uint64_t begun)
{
    const uint64_t limit = gn_comm_timeout(comm);
    // Rank 0 speaks for all ranks. It may have its own results and compute in silence. Once
    // something has failed elsewhere, that is not assumed any more.
    uint64_t sign = comm->rank && !gn_life_has_failed_elsewhere(comm) ? begun : 0;
    gn_lock(&comm->lock);
    for (int i = 0; i < comm->neighbour_count; i++) {
        const gn_neighbour *neighbour = &comm->neighbours[i];
        const bool done = !comm->rank && (neighbour->said_bye || neighbour->finished >= collectives);
        if (!done && neighbour->last_sign > sign) sign = neighbour->last_sign;
    }
    gn_unlock(&comm->lock);
    return (sign < begun ? sign : begun) + limit;
}

/// Whether it has closed its data connections because it left: it has said why, or has not begun
/// this collective.
static bool has_left(gn_comm *comm, int index)
{
    const gn_neighbour *neighbour = &comm->neighbours[index];
    gn_lock(&comm->lock);
    const bool begun = comm->turn[comm->sequence % 2].have_header[index];
    const bool left = neighbour->said_bye && (neighbour->why.status != GN_OK || !begun);
    if (left) fail_because_left_locked(comm, neighbour);
    gn_unlock(&comm->lock);
    return left;
}

/// Data is not as it should be. A rank that stops because of an error says so on the out-of-band
/// connection first. That is given the time to arrive.
static gn_status await_reason(gn_comm *comm, int index)
{
    const uint64_t until = gn_now() + gn_oob_beat_span(comm);
    gn_status status = gn_oob_state(comm);
    while (!status && gn_now() < until) {
        status = gn_oob_poll(comm, NULL, 0, 10);
        if (!status && has_left(comm, index)) status = gn_oob_state(comm);
    }
    return status;
}

gn_status gn_oob_data_lost(gn_comm *comm, int index, int cause)
{
    const gn_neighbour *neighbour = &comm->neighbours[index];
    const gn_status status = await_reason(comm, index);
    if (status) return status;
    return gn_oob_fail(comm, GN_PEER_LOST, neighbour->rank,
                       "rank %d (%s) lost: data connection %s in %s, %llu of %llu bytes received", neighbour->rank,
                       neighbour->name, cause ? strerror(cause) : "closed", comm->phase,
                       (unsigned long long)comm->data_received, (unsigned long long)comm->data_expected);
}

gn_status gn_oob_data_strange(gn_comm *comm, int index)
{
    const gn_neighbour *neighbour = &comm->neighbours[index];
    const gn_status status = await_reason(comm, index);
    if (status) return status;
    return gn_oob_fail(comm, GN_CORRUPT, neighbour->rank, "rank %d (%s) sent values without a call ahead of them in %s",
                       neighbour->rank, neighbour->name, comm->phase);
}
