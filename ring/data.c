// SPDX-License-Identifier: Apache-2.0
#include "ring/data.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "net/socket.h"
#include "ring/bootstrap/bootstrap.h"
#include "ring/config.h"
#include "ring/neighbours.h"
#include "ring/shared.h"

static int fd_of(const gn_neighbour *neighbour)
{
    return neighbour->data_out >= 0 ? neighbour->data_out : neighbour->data_in;
}

// Setting it up -----------------------------------------------------------------------------------

enum { TAKEN = 'S', DECLINED = 'T' };

/// The neighbour has gone. Rank 0 may know more in a moment: who was lost first, and why.
static gn_status lost(gn_bootstrap *boot, const gn_neighbour *n, gn_error *error)
{
    const uint64_t until = gn_now() + GN_SECOND;
    while (gn_now() < until && gn_now() < boot->deadline) {
        const gn_status status = gn_bootstrap_watch(boot, error);
        if (status) return status;
        (void)gn_poll(NULL, 0, 10);
    }
    return gn_fail(error, GN_PEER_LOST, "rank %d at %s was lost while the group was set up", n->rank, n->name);
}

/// Reads so many bytes of the connection, which nothing else uses yet.
static gn_status await(gn_bootstrap *boot, gn_neighbour *n, void *bytes, size_t count, gn_error *error)
{
    const int fd = fd_of(n);
    for (size_t got = 0; got < count;) {
        const ssize_t more = recv(fd, (uint8_t *)bytes + got, count - got, MSG_DONTWAIT);
        if (more > 0) {
            got += (size_t)more;
            continue;
        }
        if (!more || (errno != EAGAIN && errno != EINTR)) return lost(boot, n, error);
        const gn_status status = gn_bootstrap_watch(boot, error);
        if (status) return status;
        if (gn_now() >= boot->deadline)
            return gn_fail(error, GN_TIMEOUT, "rank %d at %s said nothing about shared memory in time", n->rank,
                           n->name);
        struct pollfd p = {.fd = fd, .events = POLLIN};
        (void)gn_poll(&p, 1, 20);  // short, because the bootstrap connections are looked at between
    }
    return GN_OK;
}

/// A fresh connection takes a few bytes.
static gn_status say(gn_bootstrap *boot, gn_neighbour *n, const void *bytes, size_t count, gn_error *error)
{
    return send(fd_of(n), bytes, count, MSG_NOSIGNAL) == (ssize_t)count ? GN_OK : lost(boot, n, error);
}

/// Whether the other end is on this host: it has the same address. Who is not could name processes
/// that have nothing to do with it.
static bool is_here(const gn_neighbour *n)
{
    gn_endpoint own, other;
    return gn_socket_local(fd_of(n), &own) && gn_socket_remote(fd_of(n), &other) && !gn_ip_compare(&own.ip, &other.ip);
}

static gn_status offer(const gn_comm *comm, gn_bootstrap *boot, gn_neighbour *n, gn_error *error)
{
    uint8_t bytes[GN_SHARED_OFFER];
    gn_shared_offer_none(bytes);
    if (!comm->config.no_shared_memory && is_here(n)) n->shared = gn_shared_make(bytes);
    return say(boot, n, bytes, sizeof bytes, error);
}

static gn_status take(const gn_comm *comm, gn_bootstrap *boot, gn_neighbour *n, gn_error *error)
{
    uint8_t bytes[GN_SHARED_OFFER];
    const gn_status status = await(boot, n, bytes, sizeof bytes, error);
    if (status) return status;
    if (!comm->config.no_shared_memory && is_here(n)) n->shared = gn_shared_take(bytes);
    const char answer = n->shared ? TAKEN : DECLINED;
    return say(boot, n, &answer, 1, error);
}

static gn_status conclude(const gn_comm *comm, gn_bootstrap *boot, gn_neighbour *n, gn_error *error)
{
    char answer;
    const gn_status status = await(boot, n, &answer, 1, error);
    if (status) return status;
    if (answer == TAKEN && n->shared) return GN_OK;
    if (answer != DECLINED)
        return gn_fail(error, GN_CORRUPT, "rank %d at %s gave no answer about shared memory", n->rank, n->name);
    if (n->shared)
        gn_log_text(&comm->config, GN_LOG_INFO,
                    "rank %d at %s is on this host, but cannot share memory with this rank (another account or "
                    "container?): TCP carries the values",
                    n->rank, n->name);
    gn_shared_free(n->shared);
    n->shared = NULL;
    return GN_OK;
}

gn_status gn_data_share(gn_comm *comm, gn_bootstrap *boot, gn_error *error)
{
    gn_status status = GN_OK;
    // Values for a NIC have to pass it.
    if (comm->config.algorithm == GN_SWITCH || comm->config.offload == GN_OFFLOAD_NIC || comm->config.data_tos > 0)
        return GN_OK;
    for (int i = 0; i < comm->neighbour_count && !status; i++)
        if (gn_neighbours_calls(comm, i)) status = offer(comm, boot, &comm->neighbours[i], error);
    for (int i = 0; i < comm->neighbour_count && !status; i++)
        if (!gn_neighbours_calls(comm, i)) status = take(comm, boot, &comm->neighbours[i], error);
    for (int i = 0; i < comm->neighbour_count && !status; i++)
        if (gn_neighbours_calls(comm, i)) status = conclude(comm, boot, &comm->neighbours[i], error);
    return status;
}

// Using it ----------------------------------------------------------------------------------------

/// A full socket has bytes enough in it to wake the other end.
static void wake(const gn_neighbour *n)
{
    const char bell = 0;
    if (gn_shared_must_wake(n->shared)) (void)!send(fd_of(n), &bell, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/// Takes the bytes that woke this end. @return 0, or -1 with errno when the connection has ended
static int hear(const gn_neighbour *n)
{
    char bells[64];
    const ssize_t got = recv(fd_of(n), bells, sizeof bells, MSG_DONTWAIT);
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) return 0;
    if (!got) errno = 0;
    return -1;
}

static ssize_t nothing(void)
{
    errno = EAGAIN;
    return -1;
}

static ssize_t wrong(void)
{
    errno = EPROTO;
    return -1;
}

ssize_t gn_data_send(gn_neighbour *n, const void *bytes, size_t count)
{
    if (!n->shared) return send(n->data_out, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
    for (int attempt = 0; attempt < 2; attempt++) {
        const ssize_t sent = gn_shared_write(n->shared, bytes, count);
        if (sent < 0) return wrong();
        if (sent > 0) {
            wake(n);
            return sent;
        }
        if (gn_shared_sleep_to_write(n->shared)) break;
    }
    if (hear(n)) {
        if (!errno) errno = EPIPE;
        return -1;
    }
    return nothing();
}

/// What was written before the connection ended is still read.
ssize_t gn_data_receive(gn_neighbour *n, void *bytes, size_t count)
{
    if (!n->shared) return recv(n->data_in, bytes, count, MSG_DONTWAIT);
    int ended = 0, why = 0;
    for (int attempt = 0; attempt < 3; attempt++) {
        const ssize_t got = gn_shared_read(n->shared, bytes, count);
        if (got < 0) return wrong();
        if (got > 0) {
            wake(n);
            return got;
        }
        if (ended) {
            errno = why;
            return why ? -1 : 0;
        }
        if (!gn_shared_sleep_to_read(n->shared)) continue;
        if (!hear(n)) return nothing();
        ended = 1;
        why = errno;
    }
    return nothing();
}

struct pollfd gn_data_poll(const gn_neighbour *n, bool receiving, bool sending)
{
    const int fd = sending && !receiving ? n->data_out : n->data_in;
    if (n->shared) return (struct pollfd){.fd = receiving || sending ? fd_of(n) : -1, .events = POLLIN};
    return (struct pollfd){.fd = receiving || sending ? fd : -1,
                           .events = (short)((receiving ? POLLIN : 0) | (sending ? POLLOUT : 0))};
}

bool gn_data_is_ready(const gn_comm *comm)
{
    for (int i = 0; i < comm->neighbour_count; i++)
        if (comm->neighbours[i].shared && gn_shared_is_ready(comm->neighbours[i].shared)) return true;
    return false;
}
