// SPDX-License-Identifier: Apache-2.0
// Waiting for a neighbour, and when to stop.
#include "deadline.h"

#include <stdio.h>
#include <string.h>

#include "life.h"
#include "net/clock.h"
#include "oob.h"

gn_suspicion gn_suspect(const gn_watch *watch, uint64_t limit)
{
    gn_evidence evidence = GN_EVIDENCE_NONE;
    if (watch->left)
        evidence = GN_EVIDENCE_LEFT;
    else if (watch->silent > limit)
        evidence = GN_EVIDENCE_SILENT;
    else if (watch->still > limit && watch->stuck)
        evidence = GN_EVIDENCE_STUCK;
    else if (watch->still > 2 * limit)
        evidence = GN_EVIDENCE_STILL;
    return (gn_suspicion){evidence, watch->silent};
}

bool gn_suspicion_stronger(gn_suspicion a, gn_suspicion b)
{
    return a.evidence != b.evidence ? a.evidence > b.evidence : a.silent > b.silent;
}

/// lock held. Has this neighbour's data stopped on the way although it sent it and is alive?
static bool data_stuck(const gn_comm *comm, const gn_neighbour *neighbour)
{
    return neighbour->announced_sequence == comm->sequence && neighbour->announced_sent > comm->data_received &&
           comm->neighbour_count <= 2;
}

/// lock held.
static gn_watch watch_of(const gn_comm *comm, int index, uint64_t now)
{
    const gn_neighbour *neighbour = &comm->neighbours[index];
    return (gn_watch){.silent = gn_elapsed(neighbour->last_sign, now),
                      .still = gn_elapsed(comm->last_progress, now),
                      .left = neighbour->said_bye && !comm->turn[comm->sequence % 2].have_header[index],
                      .stuck = data_stuck(comm, neighbour)};
}

/// lock held.
static void fail_because_left(gn_comm *comm, const gn_neighbour *neighbour)
{
    char text[GN_ERROR_TEXT];
    if (neighbour->why.status == GN_OK)
        snprintf(text, sizeof text, "rank %d (%s) has left the group (gn_comm_free)", neighbour->rank, neighbour->name);
    else  // it is no more than the messenger
        snprintf(text, sizeof text, "rank %d (%s) has left the group because of a failure in another one: %.240s",
                 neighbour->rank, neighbour->name, neighbour->why.text);
    gn_oob_fail_locked(comm, GN_PEER_LOST, neighbour->why.status == GN_OK ? neighbour->rank : -1, text);
}

/// lock held.
static void give_up(gn_comm *comm, const gn_neighbour *neighbour, gn_evidence evidence)
{
    char text[GN_ERROR_TEXT];
    unsigned long long got = comm->data_received, expected = comm->data_expected;
    switch (evidence) {
    case GN_EVIDENCE_NONE:
        return;
    case GN_EVIDENCE_LEFT:
        fail_because_left(comm, neighbour);
        return;
    case GN_EVIDENCE_SILENT:
        snprintf(text, sizeof text, "rank %d (%s) lost: no sign of life for %d ms in %s, %llu of %llu bytes received",
                 neighbour->rank, neighbour->name, comm->timeout_ms, comm->phase, got, expected);
        gn_oob_fail_locked(comm, GN_PEER_LOST, neighbour->rank, text);
        return;
    case GN_EVIDENCE_STUCK:
        snprintf(text, sizeof text,
                 "rank %d (%s) lost: its data connection has been stuck for %d ms in %s: it sent %llu bytes, %llu came",
                 neighbour->rank, neighbour->name, comm->timeout_ms, comm->phase,
                 (unsigned long long)neighbour->announced_sent, got);
        gn_oob_fail_locked(comm, GN_PEER_LOST, neighbour->rank, text);
        return;
    case GN_EVIDENCE_STILL:
        snprintf(text, sizeof text,
                 "no data for %d ms in %s, %llu of %llu bytes received, waiting for rank %d (%s), which is alive",
                 2 * comm->timeout_ms, comm->phase, got, expected, neighbour->rank, neighbour->name);
        gn_oob_fail_locked(comm, GN_TIMEOUT, -1, text);
        return;
    }
}

/// lock held. Whoever stood still itself, as between SIGSTOP and SIGCONT, has heard nobody meanwhile, and blames nobody for that.
static void look_at_oneself(gn_comm *comm, uint64_t now)
{
    const bool stood_still = gn_elapsed(comm->looked, now) > gn_comm_timeout(comm) / 2;
    comm->looked = now;
    if (!stood_still) return;
    comm->awake = comm->last_progress = now;
    for (int i = 0; i < comm->neighbour_count; i++) comm->neighbours[i].last_sign = now;
}

gn_status gn_oob_check_deadline(gn_comm *comm, const uint8_t *waiting)
{
    const uint64_t now = gn_now(), limit = gn_comm_timeout(comm);
    gn_suspicion strongest = {.evidence = GN_EVIDENCE_NONE};
    const gn_neighbour *culprit = NULL;
    pthread_mutex_lock(&comm->lock);
    look_at_oneself(comm, now);
    for (int i = 0; i < comm->neighbour_count; i++) {
        if (!waiting[i]) continue;
        gn_watch watch = watch_of(comm, i, now);
        gn_suspicion suspicion = gn_suspect(&watch, limit);
        if (suspicion.evidence == GN_EVIDENCE_NONE || (culprit && !gn_suspicion_stronger(suspicion, strongest)))
            continue;
        strongest = suspicion;
        culprit = &comm->neighbours[i];
    }
    if (culprit) give_up(comm, culprit, strongest.evidence);
    gn_status status = comm->dead ? comm->error.status : GN_OK;
    pthread_mutex_unlock(&comm->lock);
    return status;
}

void gn_oob_progress(gn_comm *comm, uint64_t now)
{
    pthread_mutex_lock(&comm->lock);
    if (now > comm->last_progress) comm->last_progress = now;
    pthread_mutex_unlock(&comm->lock);
}

void gn_oob_sign(gn_comm *comm, int index, uint64_t now)
{
    pthread_mutex_lock(&comm->lock);
    comm->neighbours[index].last_sign = now;
    comm->last_progress = now;
    pthread_mutex_unlock(&comm->lock);
}

static gn_status await(gn_comm *comm, int index)
{
    uint8_t waiting[GN_RANKS_MAX] = {0};
    if (index >= 0)
        waiting[index] = 1;
    else
        memset(waiting, 1, (size_t)comm->neighbour_count);
    gn_status status = gn_oob_poll(comm, NULL, 0, -1);
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
        status = await(comm, comm->config.algorithm == GN_RING ? 0 : -1);
    return status;
}

uint64_t gn_oob_finish_until(gn_comm *comm, uint64_t collectives, uint64_t begun)
{
    const uint64_t limit = gn_comm_timeout(comm);
    // Rank 0, who speaks for all, may have them itself and compute, silently. That it does is no guess to make once something has failed.
    uint64_t sign = comm->rank && !gn_life_has_failed_elsewhere(comm) ? begun : 0;
    pthread_mutex_lock(&comm->lock);
    for (int i = 0; i < comm->neighbour_count; i++) {
        const gn_neighbour *neighbour = &comm->neighbours[i];
        const bool done = !comm->rank && (neighbour->said_bye || neighbour->finished >= collectives);
        if (!done && neighbour->last_sign > sign) sign = neighbour->last_sign;
    }
    pthread_mutex_unlock(&comm->lock);
    return (sign < begun ? sign : begun) + limit;
}

/// It has closed its data connections because it left, and it has said why.
static bool left_with_reason(gn_comm *comm, const gn_neighbour *neighbour)
{
    pthread_mutex_lock(&comm->lock);
    bool left = neighbour->said_bye && neighbour->why.status != GN_OK;
    if (left) fail_because_left(comm, neighbour);
    pthread_mutex_unlock(&comm->lock);
    return left;
}

gn_status gn_oob_data_lost(gn_comm *comm, int index, int cause)
{
    gn_neighbour *neighbour = &comm->neighbours[index];
    const uint64_t until = gn_now() + gn_oob_beat_span(comm);
    gn_status status = gn_oob_state(comm);
    // Whoever stops because of an error says so on the out-of-band connection first; give that the time to arrive.
    while (!status && gn_now() < until) {
        status = gn_oob_poll(comm, NULL, 0, 10);
        if (!status && left_with_reason(comm, neighbour)) status = gn_oob_state(comm);
    }
    if (status) return status;
    return gn_oob_fail(comm, GN_PEER_LOST, neighbour->rank,
                       "rank %d (%s) lost: data connection %s in %s, %llu of %llu bytes received", neighbour->rank,
                       neighbour->name, cause ? strerror(cause) : "closed", comm->phase,
                       (unsigned long long)comm->data_received, (unsigned long long)comm->data_expected);
}
