// SPDX-License-Identifier: Apache-2.0
#include "ring/data.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "net/socket.h"
#include "ring/bootstrap/bootstrap.h"
#include "ring/log.h"
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

static int count_here(const gn_comm *comm)
{
    int count = 0;
    for (int i = 0; i < comm->neighbour_count; i++) count += is_here(&comm->neighbours[i]);
    return count;
}

static gn_status offer(const gn_comm *comm, gn_bootstrap *boot, gn_neighbour *n, size_t room, gn_error *error)
{
    uint8_t bytes[GN_SHARED_OFFER];
    gn_shared_offer_none(bytes);
    if (!comm->config.no_shared_memory && is_here(n)) n->shared = gn_shared_make(room, bytes);
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

static gn_status conclude(gn_bootstrap *boot, gn_neighbour *n, gn_error *error)
{
    char answer;
    const gn_status status = await(boot, n, &answer, 1, error);
    if (status) return status;
    if (answer == TAKEN && n->shared) {
        gn_shared_taken(n->shared);
        return GN_OK;
    }
    if (answer != DECLINED)
        return gn_fail(error, GN_CORRUPT, "rank %d at %s gave no answer about shared memory", n->rank, n->name);
    gn_shared_free(n->shared);
    n->shared = NULL;
    return GN_OK;
}

/// Once for each rank: with two ranks, one is the neighbour on both sides.
static void tell_of_tcp(const gn_comm *comm, int index)
{
    const gn_neighbour *n = &comm->neighbours[index];
    if (comm->config.no_shared_memory || n->shared || !is_here(n)) return;
    for (int i = 0; i < index; i++)
        if (comm->neighbours[i].rank == n->rank) return;
    gn_log_text(&comm->config, GN_LOG_INFO,
                "rank %d at %s is on this host, but shares no memory with this rank (another account or container, "
                "no memory left, or GRADNIC_SHARED_MEMORY=no there?): TCP carries the values",
                n->rank, n->name);
}

gn_status gn_data_share(gn_comm *comm, gn_bootstrap *boot, gn_error *error)
{
    gn_status status = GN_OK;
    // Values for a NIC have to pass it.
    if (comm->config.algorithm == GN_SWITCH || gn_comm_marks(comm)) return GN_OK;
    const size_t room = gn_shared_room(count_here(comm));
    for (int i = 0; i < comm->neighbour_count && !status; i++)
        if (gn_neighbours_calls(comm, i)) status = offer(comm, boot, &comm->neighbours[i], room, error);
    for (int i = 0; i < comm->neighbour_count && !status; i++)
        if (!gn_neighbours_calls(comm, i)) status = take(comm, boot, &comm->neighbours[i], error);
    for (int i = 0; i < comm->neighbour_count && !status; i++)
        if (gn_neighbours_calls(comm, i)) status = conclude(boot, &comm->neighbours[i], error);
    for (int i = 0; i < comm->neighbour_count && !status; i++) tell_of_tcp(comm, i);
    return status;
}

// Using it ----------------------------------------------------------------------------------------

/// A full socket has bytes enough in it to wake the other end.
static void wake(const gn_neighbour *n)
{
    const char bell = 0;
    if (gn_shared_must_wake(n->shared)) (void)!send(fd_of(n), &bell, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static ssize_t nothing(void)
{
    errno = EAGAIN;
    return -1;
}

/// The connection has ended. `instead`: the error where it ended in order.
static ssize_t gone(const gn_neighbour *n, int instead)
{
    errno = n->gone_why ? n->gone_why : instead;
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
    if (n->gone) return gone(n, EPIPE);
    const ssize_t sent = gn_shared_write(n->shared, bytes, count);
    if (sent < 0) return wrong();
    if (!sent) return nothing();
    wake(n);
    return sent;
}

/// What was written before the connection ended is still read.
ssize_t gn_data_receive(gn_neighbour *n, void *bytes, size_t count)
{
    if (!n->shared) return recv(n->data_in, bytes, count, MSG_DONTWAIT);
    const ssize_t got = gn_shared_read(n->shared, bytes, count);
    if (got < 0) return wrong();
    if (got > 0) wake(n);
    if (got > 0) return got;
    if (!n->gone) return nothing();
    return n->gone_why ? gone(n, 0) : 0;
}

size_t gn_data_look(const gn_neighbour *n, size_t width, const void **at)
{
    const uint8_t *bytes = NULL;
    const ssize_t there = n->shared ? gn_shared_look(n->shared, &bytes) : 0;
    if (there < (ssize_t)width || (uintptr_t)bytes % width) return 0;
    *at = bytes;
    return (size_t)there / width * width;
}

void gn_data_take_off(const gn_neighbour *n, size_t count)
{
    gn_shared_take_off(n->shared, count);
    wake(n);
}

bool gn_data_is_ready(const gn_neighbour *n, bool receiving, bool sending)
{
    if (!n->shared) return false;
    return n->gone || (receiving && gn_shared_has_bytes(n->shared)) || (sending && gn_shared_has_room(n->shared));
}

bool gn_data_sleep(const gn_neighbour *n, bool receiving, bool sending)
{
    if (!n->shared) return true;
    const bool reads = !receiving || gn_shared_sleep_to_read(n->shared),
               writes = !sending || gn_shared_sleep_to_write(n->shared);
    return reads && writes && !(n->gone && (receiving || sending));
}

/// Takes the bytes that woke this end, and sees whether the connection has ended.
void gn_data_woken(gn_neighbour *n)
{
    char bells[64];
    if (!n->shared || n->gone) return;
    const ssize_t got = recv(fd_of(n), bells, sizeof bells, MSG_DONTWAIT);
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) return;
    n->gone = true;
    n->gone_why = got ? errno : 0;
}

struct pollfd gn_data_poll(const gn_neighbour *n, bool receiving, bool sending)
{
    const int fd = sending && !receiving ? n->data_out : n->data_in;
    if (n->shared) return (struct pollfd){.fd = receiving || sending ? fd_of(n) : -1, .events = POLLIN};
    return (struct pollfd){.fd = receiving || sending ? fd : -1,
                           .events = (short)((receiving ? POLLIN : 0) | (sending ? POLLOUT : 0))};
}
