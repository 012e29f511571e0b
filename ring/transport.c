// SPDX-License-Identifier: Apache-2.0
// Two connections to each neighbour: data (ToS set before connect and listen, nothing but binary32 values) and control (ToS 0).
// Ring: each rank connects to its right and accepts from its left. Aggregator: workers connect, rank 0 accepts. Switch: control only, likewise.
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bootstrap.h"
#include "group.h"
#include "net/clock.h"

/// Strangers who may be connected at the same time, beside the two connections of every rank that is expected.
enum { STRANGERS_MAX = 64, PENDING_MAX = STRANGERS_MAX + 2 * GN_RANKS_MAX };
static const uint64_t pending_span = 5 * GN_SECOND;
static const uint64_t grace_span =
    50 * GN_MILLISECOND;  // a neighbour says who it is within this time, even where all room is taken
static const uint64_t retry_span = 50 * GN_MILLISECOND;

/// A connection that was accepted and has not said who it is.
typedef struct pending {
    int fd;  ///< -1: free
    bool is_data;
    uint64_t since;
    size_t used;
    uint8_t bytes[GN_DATA_HELLO_BYTES];  ///< a JOIN frame is shorter
} pending;
_Static_assert((int)GN_FRAME_HEADER + (int)GN_TOKEN_BYTES + 2 <= (int)GN_DATA_HELLO_BYTES, "a JOIN must fit");

/// One of the two connections that we make.
typedef struct link {
    bool up;              ///< connected, and we have said who we are
    uint64_t not_before;  ///< it was lost: when to try again
} link;

typedef struct meeting {
    gn_comm *comm;
    gn_bootstrap *boot;
    bool data;       ///< values travel over TCP
    int connect_to;  ///< index of the neighbour to connect to, or -1
    link link[2];    ///< to it: [0] control, [1] data
    unsigned lost;   ///< how often one of them was closed before the welcome
    bool welcomed;
    int room;  ///< of `pending`: strangers and expected ranks
    pending pending[PENDING_MAX];
} meeting;

void gn_comm_name(const gn_comm *comm, int rank, char name[GN_ENDPOINT_TEXT])
{
    gn_address_format(&comm->table.address[rank], name);
}

static gn_neighbour *neighbour_of_rank(gn_comm *comm, int rank, bool accepted)
{
    for (int i = 0; i < comm->neighbour_count; i++) {
        bool accepts = comm->config.algorithm == GN_RING ? i == 0 : comm->rank == 0;
        if (comm->neighbours[i].rank == rank && accepts == accepted) return &comm->neighbours[i];
    }
    return NULL;
}

static gn_status make_neighbours(gn_comm *comm, gn_error *error)
{
    bool ring = comm->config.algorithm == GN_RING;
    comm->neighbour_count = ring ? 2 : comm->rank ? 1 : comm->size - 1;
    comm->neighbours = calloc((size_t)comm->neighbour_count, sizeof *comm->neighbours);
    if (!comm->neighbours) return gn_fail_memory(error);
    for (int i = 0; i < comm->neighbour_count; i++) {
        gn_neighbour *neighbour = &comm->neighbours[i];
        if (ring)
            neighbour->rank = (comm->rank + (i ? 1 : comm->size - 1)) % comm->size;
        else
            neighbour->rank = comm->rank ? 0 : i + 1;
        neighbour->data_in = neighbour->data_out = -1;
        gn_connection_open(&neighbour->oob, -1);
        gn_comm_name(comm, neighbour->rank, neighbour->name);
    }
    return GN_OK;
}

/// The socket that carries data of a neighbour, whichever way.
static int *data_socket(meeting *m, gn_neighbour *neighbour)
{
    bool left = m->comm->config.algorithm == GN_RING && neighbour == &m->comm->neighbours[0];
    return left ? &neighbour->data_in : &neighbour->data_out;
}

static gn_status start_connect(meeting *m, bool data, gn_error *error)
{
    gn_neighbour *neighbour = &m->comm->neighbours[m->connect_to];
    const gn_address *address = &m->comm->table.address[neighbour->rank];
    const gn_endpoint to =
        gn_address_endpoint(address, data ? address->data_port : address->oob_port, m->boot->local.scope);
    int fd = gn_tcp_connect(&to, &m->boot->local, data ? (uint8_t)m->comm->config.data_tos : 0);
    if (fd < 0)
        return gn_fail(error, GN_IO, "cannot connect to rank %d at %s: %s", neighbour->rank, neighbour->name,
                       strerror(errno));
    if (data)
        *data_socket(m, neighbour) = fd;
    else
        gn_connection_open(&neighbour->oob, fd);
    return GN_OK;
}

static gn_join own_join(const meeting *m)
{
    gn_join join = {.rank = (uint16_t)m->comm->rank};
    memcpy(join.token, m->comm->table.token, sizeof join.token);
    return join;
}

/// The neighbour has closed it before it knew who we are: strangers took its room. The other connection stays, so that the neighbour never
/// joins a connection of one attempt with one of another.
static gn_status lose(meeting *m, bool data)
{
    gn_neighbour *neighbour = &m->comm->neighbours[m->connect_to];
    if (data)
        gn_close(data_socket(m, neighbour));
    else
        gn_connection_close(&neighbour->oob);
    m->link[data] = (link){.not_before = gn_now() + retry_span};
    m->lost++;
    gn_log_text(&m->comm->config, GN_LOG_WARNING, "rank %d at %s closed our %s connection: trying again",
                neighbour->rank, neighbour->name, data ? "data" : "control");
    return GN_OK;
}

static bool closed_by_neighbour(int error_number)
{
    return error_number == ECONNRESET || error_number == EPIPE;
}

/// One of our two connections is established or has failed.
static gn_status finish_connect(meeting *m, bool data, gn_error *error)
{
    gn_neighbour *neighbour = &m->comm->neighbours[m->connect_to];
    int fd = data ? *data_socket(m, neighbour) : neighbour->oob.fd;
    int failed = gn_socket_connected(fd);
    if (closed_by_neighbour(failed)) return lose(m, data);
    if (failed)
        return gn_fail(error, GN_IO, "cannot connect to rank %d at %s: %s", neighbour->rank, neighbour->name,
                       strerror(failed));
    gn_join join = own_join(m);
    uint8_t frame[GN_FRAME_MAX];
    m->link[data].up = true;
    if (!data) {
        gn_connection_send(&neighbour->oob, frame, gn_join_write(frame, &join));
        return GN_OK;
    }
    gn_data_hello_write(frame, &join);
    if (send(fd, frame, GN_DATA_HELLO_BYTES, MSG_NOSIGNAL) == GN_DATA_HELLO_BYTES)  // a fresh socket takes 32 bytes
        return GN_OK;
    if (closed_by_neighbour(errno)) return lose(m, data);
    return gn_fail(error, GN_IO, "cannot send to rank %d at %s: %s", neighbour->rank, neighbour->name, strerror(errno));
}

/// Room for one more: a free place, or that of the stranger who has been silent for longest. NULL: everyone came just now.
static pending *make_room(meeting *m, uint64_t now)
{
    pending *oldest = &m->pending[0];
    for (int i = 0; i < m->room; i++) {
        if (m->pending[i].fd < 0) return &m->pending[i];
        if (m->pending[i].since < oldest->since) oldest = &m->pending[i];
    }
    if (now < oldest->since + grace_span) return NULL;
    gn_close(&oldest->fd);
    return oldest;
}

static void accept_all(meeting *m, bool is_data)
{
    gn_endpoint from;
    uint64_t now =
        gn_now();  // all of them are younger than this: nobody is closed unread for someone behind it in the queue
    for (pending *p; (p = make_room(m, now));) {
        int fd = gn_tcp_accept(is_data ? m->boot->data_listener : m->boot->oob_listener, &from);
        if (fd < 0) return;
        *p = (pending){.fd = fd, .is_data = is_data, .since = now};
    }
}

/// Who is it? @return false when it is nobody we wait for.
static bool admit(meeting *m, pending *p)
{
    gn_join join;
    gn_frame frame;
    if (p->is_data) {
        if (!gn_data_hello_read(p->bytes, &join)) return false;
    } else if (gn_frame_parse(p->bytes, p->used, &frame) <= 0 || frame.type != GN_MSG_JOIN ||
               !gn_join_read(&frame, &join)) {
        return false;
    }
    gn_neighbour *neighbour = neighbour_of_rank(m->comm, join.rank, true);
    if (!neighbour || memcmp(join.token, m->comm->table.token, sizeof join.token) != 0) return false;
    if (p->is_data) {
        if (*data_socket(m, neighbour) >= 0) return false;
        *data_socket(m, neighbour) = p->fd;
    } else {
        if (neighbour->oob.fd >= 0) return false;
        gn_connection_open(&neighbour->oob, p->fd);
    }
    p->fd = -1;
    return true;
}

static void read_pending(meeting *m, pending *p)
{
    size_t want = p->is_data ? GN_DATA_HELLO_BYTES : GN_FRAME_HEADER + GN_TOKEN_BYTES + 2;
    ssize_t got = recv(p->fd, p->bytes + p->used, want - p->used, MSG_DONTWAIT);
    bool broken = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR) || gn_now() > p->since + pending_span;
    if (got > 0) p->used += (size_t)got;
    if (p->used < want && !broken) return;
    if (p->used < want || !admit(m, p)) {
        gn_log_text(&m->comm->config, GN_LOG_WARNING, "a stranger connected to the %s port: sent away",
                    p->is_data ? "data" : "control");
        gn_close(&p->fd);
    }
}

/// Answers a neighbour whose two connections are both there.
static bool welcome_complete(meeting *m)
{
    bool complete = true;
    for (int i = 0; i < m->comm->neighbour_count; i++) {
        gn_neighbour *neighbour = &m->comm->neighbours[i];
        if (i == m->connect_to) continue;
        if ((m->data && *data_socket(m, neighbour) < 0) || neighbour->oob.fd < 0) {
            complete = false;
        } else if (!neighbour->welcomed) {
            uint8_t frame[GN_FRAME_MAX];
            gn_connection_send(&neighbour->oob, frame, gn_empty_write(frame, GN_MSG_WELCOME));
            neighbour->welcomed = true;
        }
    }
    return complete;
}

static gn_status read_welcome(meeting *m, gn_error *error)
{
    gn_neighbour *neighbour = &m->comm->neighbours[m->connect_to];
    gn_frame frame;
    gn_connection_flush(&neighbour->oob);
    gn_connection_fill(&neighbour->oob);
    int found = gn_connection_next(&neighbour->oob, &frame);
    if (found == 1 && frame.type == GN_MSG_WELCOME)
        m->welcomed = true;
    else if (found)
        return gn_fail(error, GN_CORRUPT, "rank %d at %s sent no welcome but something else", neighbour->rank,
                       neighbour->name);
    else if (neighbour->oob.closed)
        return lose(m, false);
    return GN_OK;
}

static void await_events(meeting *m)
{
    struct pollfd set[PENDING_MAX + 4];
    nfds_t n = 0;
    int taken = 0;
    if (m->connect_to >= 0 && !m->welcomed) {
        gn_neighbour *neighbour = &m->comm->neighbours[m->connect_to];
        set[n++] = (struct pollfd){.fd = *data_socket(m, neighbour), .events = m->link[1].up ? POLLIN : POLLOUT};
        set[n++] = (struct pollfd){.fd = neighbour->oob.fd, .events = m->link[0].up ? POLLIN : POLLOUT};
    }
    for (int i = 0; i < m->room; i++)
        if (m->pending[i].fd >= 0) set[n++] = (struct pollfd){.fd = m->pending[i].fd, .events = POLLIN}, taken++;
    for (int data = 0; data < 2 && taken < m->room; data++)  // without room, someone must grow old first
        set[n++] = (struct pollfd){.fd = data ? m->boot->data_listener : m->boot->oob_listener, .events = POLLIN};
    (void)poll(set, n, 20);  // short, because the bootstrap connections are looked at between
}

static bool writable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    return poll(&p, 1, 0) > 0;
}

/// Nothing is sent on it before the welcome: it can only end.
static bool ended(int fd)
{
    uint8_t byte;
    ssize_t got = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

static gn_status advance(meeting *m, bool data, gn_error *error)
{
    gn_neighbour *neighbour = &m->comm->neighbours[m->connect_to];
    int fd = data ? *data_socket(m, neighbour) : neighbour->oob.fd;
    if (fd < 0) return gn_now() < m->link[data].not_before ? GN_OK : start_connect(m, data, error);
    if (!m->link[data].up) return writable(fd) ? finish_connect(m, data, error) : GN_OK;
    if (!data) return read_welcome(m, error);
    return ended(fd) ? lose(m, true) : GN_OK;
}

static gn_status step(meeting *m, bool *done, gn_error *error)
{
    gn_status status = GN_OK;
    for (int data = m->data; data >= 0 && m->connect_to >= 0 && !m->welcomed && !status; data--)
        status = advance(m, data, error);
    if (status) return status;
    accept_all(m, true);
    accept_all(m, false);
    for (int i = 0; i < m->room; i++)
        if (m->pending[i].fd >= 0) read_pending(m, &m->pending[i]);
    bool complete = welcome_complete(m);
    *done = complete && (m->connect_to < 0 || m->welcomed);
    return GN_OK;
}

static gn_status timed_out(const meeting *m, gn_error *error)
{
    for (int i = 0; i < m->comm->neighbour_count; i++) {
        gn_neighbour *neighbour = &m->comm->neighbours[i];
        if (i == m->connect_to && !m->welcomed)
            return gn_fail(error, GN_TIMEOUT, "no connection to rank %d at %s within %d ms%s", neighbour->rank,
                           neighbour->name, m->comm->timeout_ms, m->lost ? " (it closed what we opened)" : "");
        if (i != m->connect_to && !neighbour->welcomed)
            return gn_fail(error, GN_TIMEOUT, "no connection from rank %d at %s within %d ms", neighbour->rank,
                           neighbour->name, m->comm->timeout_ms);
    }
    return gn_fail(error, GN_TIMEOUT, "no connection to the neighbours within %d ms", m->comm->timeout_ms);
}

static gn_status meet(meeting *m, gn_error *error)
{
    gn_status status = GN_OK;
    for (bool done = false; !status && !done;) {
        if (gn_now() >= m->boot->deadline) return timed_out(m, error);
        status = step(m, &done, error);
        if (!status && !done) await_events(m);
        if (!status) status = gn_bootstrap_watch(m->boot, error);
    }
    return status;
}

gn_status gn_transport_connect(gn_comm *comm, gn_bootstrap *boot, gn_error *error)
{
    gn_status status = make_neighbours(comm, error);
    if (status) return status;
    meeting *m = calloc(1, sizeof *m);
    if (!m) return gn_fail_memory(error);
    m->comm = comm;
    m->boot = boot;
    m->data = comm->config.algorithm != GN_SWITCH;
    m->connect_to = comm->config.algorithm == GN_RING ? 1 : comm->rank ? 0 : -1;
    m->room = STRANGERS_MAX + 2 * (comm->neighbour_count - (m->connect_to >= 0));
    for (int i = 0; i < PENDING_MAX; i++) m->pending[i].fd = -1;
    status = meet(m, error);
    for (int i = 0; i < PENDING_MAX; i++) gn_close(&m->pending[i].fd);
    free(m);
    for (int i = 0; i < comm->neighbour_count && comm->config.algorithm != GN_RING; i++) {
        gn_neighbour *neighbour =
            &comm->neighbours[i];  // one connection, both ways; the second leg chooses its own ToS
        neighbour->data_in = neighbour->data_out;
        if (!comm->rank && neighbour->data_out >= 0)
            gn_socket_set_tos(neighbour->data_out,
                              comm->config.aggregator_weights ? 0 : (uint8_t)comm->config.data_tos);
    }
    return status;
}

void gn_transport_close(gn_comm *comm)
{
    for (int i = 0; i < comm->neighbour_count; i++) {
        gn_neighbour *neighbour = &comm->neighbours[i];
        if (neighbour->data_in != neighbour->data_out) gn_close(&neighbour->data_in);
        gn_close(&neighbour->data_out);
        neighbour->data_in = -1;
        gn_connection_close(&neighbour->oob);
    }
    free(comm->neighbours);
    comm->neighbours = NULL;
    comm->neighbour_count = 0;
}
