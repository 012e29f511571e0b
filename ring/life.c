// SPDX-License-Identifier: Apache-2.0
#include "ring/life.h"

#include <stdio.h>
#include <unistd.h>

#include "ring/failure.h"
#include "ring/log.h"
#include "ring/oob.h"
#include "ring/peers/peers.h"

// Taken before a communicator's own lock.
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static gn_comm *registry;  // registry_lock
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
    pthread_mutex_lock(&registry_lock);
    gn_log_hold();
}

static void after_fork(void)
{
    gn_log_release();
    pthread_mutex_unlock(&registry_lock);
}

/// A lock that a thread of the parent's holds would never be free. What it protects may be half
/// changed, and the connections are the parent's: no call of the child may begin.
static void end_copy(gn_comm *comm)
{
    pthread_mutex_init(&comm->lock, NULL);
    pthread_mutex_init(&comm->stats_lock, NULL);
    pthread_mutex_init(&comm->peers->lock, NULL);
    comm->dead = true;
    comm->unheard = false;
    gn_fail(&comm->error, GN_DEAD,
            "the communicator was made in process %ld, from which this one was forked: make a new one here",
            (long)comm->process);
}

static void after_fork_in_child(void)
{
    for (gn_comm *comm = registry; comm; comm = comm->next_alive) end_copy(comm);
    gn_log_forked();
    pthread_mutex_unlock(&registry_lock);
}

/// A child has none of the parent's threads.
static void prepare(void)
{
    (void)pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

bool gn_life_is_copy(const gn_comm *comm)
{
    return comm->process != getpid();
}

void gn_life_join(gn_comm *comm)
{
    pthread_once(&prepared, prepare);
    comm->process = getpid();
    gn_lock(&registry_lock);
    comm->next_alive = registry;
    registry = comm;
    gn_unlock(&registry_lock);
}

bool gn_life_has_failed_elsewhere(gn_comm *comm)
{
    gn_lock(&registry_lock);
    gn_lock(&comm->lock);
    bool failed = comm->why.status != GN_OK;  // one that is not there any more
    gn_unlock(&comm->lock);
    for (gn_comm *other = registry; other && !failed; other = other->next_alive) {
        if (other == comm || other->process != comm->process) continue;
        gn_lock(&other->lock);
        failed = other->dead && other->died >= comm->born;
        gn_unlock(&other->lock);
    }
    gn_unlock(&registry_lock);
    return failed;
}

/// A failure of `from` while `to` existed may be why the process leaves `to`. For example it waited
/// in one for what the other was to bring.
static void pass_on(gn_comm *from, gn_comm *to)
{
    // Ranks of one group mean nothing in another.
    gn_failure why = {.status = GN_OK, .culprit = GN_NO_RANK};
    gn_lock(&from->lock);
    if (from->dead && from->died >= to->born) {
        why.status = (uint8_t)from->error.status;
        snprintf(why.text, sizeof why.text, "%s", from->error.text);
    }
    gn_unlock(&from->lock);
    if (why.status == GN_OK) return;
    gn_lock(&to->lock);
    why.reporter = (uint16_t)to->rank;
    if (to->why.status == GN_OK) to->why = why;
    gn_unlock(&to->lock);
}

void gn_life_leave(gn_comm *comm)
{
    gn_lock(&registry_lock);
    gn_comm **link = &registry;
    while (*link && *link != comm) link = &(*link)->next_alive;
    if (*link) *link = comm->next_alive;
    for (gn_comm *other = registry; other; other = other->next_alive) {
        if (other->process != comm->process) continue;
        pass_on(other, comm);
        pass_on(comm, other);
    }
    gn_unlock(&registry_lock);
}

static void serve(gn_comm *comm, uint64_t now)
{
    const bool before = gn_oob_state(comm) != GN_OK;
    gn_peers_tend(comm);
    gn_lock(&comm->lock);
    comm->unheard |= comm->dead && !before;
    // Soon again, because bad news may have to pass through here.
    comm->serve_at = now + gn_oob_beat_span(comm) / 4;
    if (!comm->dead && !comm->own_header_set) {
        for (int i = 0; i < comm->neighbour_count; i++) gn_oob_read_locked(comm, i);
        comm->unheard = comm->dead;
        if (!comm->dead) (void)gn_oob_beat_locked(comm, now);
    }
    gn_unlock(&comm->lock);
}

uint64_t gn_life_serve(const gn_comm *comm, uint64_t now)
{
    uint64_t due = GN_FOREVER;
    gn_lock(&registry_lock);
    for (gn_comm *other = registry; other; other = other->next_alive) {
        // After a fork those of the first process are in the list, too: their sockets are not ours
        // to read.
        if (other == comm || other->process != comm->process) continue;
        if (now >= other->serve_at) serve(other, now);
        if (other->serve_at < due) due = other->serve_at;
    }
    gn_unlock(&registry_lock);
    return due;
}
