// SPDX-License-Identifier: Apache-2.0
#include "ring/transport.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/lobby.h"
#include "net/socket.h"
#include "net/tcp.h"
#include "ring/config.h"
#include "ring/neighbours.h"

enum {
    // Both kinds of connections, and the doors where they come in.
    OOB,
    DATA,
    JOIN_BYTES = GN_FRAME_HEADER + GN_TOKEN_BYTES + 2,
    ROOM_MAX = GN_STRANGERS_MAX + 2 * GN_RANKS_MAX  // two connections of each rank that is expected
};
static const uint64_t retry_span = 50 * GN_MILLISECOND;

static const char *const names[] = {[OOB] = "out-of-band", [DATA] = "data"};

typedef struct meeting {
    gn_comm *comm;
    gn_bootstrap *boot;
    bool data;                         ///< values travel over TCP
    int connect_to;                    ///< index of the neighbour to connect to, or -1
    uint64_t retry_at[2];              ///< one of our two connections was lost: when to try again
    bool data_up;                      ///< the data connection is made
    gn_framed *data_talk;              ///< its greeting is under way; it shares the socket
    bool joined;                       ///< JOIN has been sent, after the greeting
    gn_greeting greeting[2], door[2];  ///< ours; what strangers' begin as
    unsigned lost;                     ///< how often one of the two was closed before the welcome
    bool welcomed;
    gn_lobby lobby;
} meeting;

static gn_neighbour *neighbour_of_rank(gn_comm *comm, int rank, bool accepted)
{
    for (int i = 0; i < comm->neighbour_count; i++) {
        const bool accepts = comm->config.algorithm == GN_RING ? i == 0 : comm->rank == 0;
        if (comm->neighbours[i].rank == rank && accepts == accepted) return &comm->neighbours[i];
    }
    return NULL;
}

/// The socket that carries data of a neighbour, whichever way.
static int *data_socket(meeting *m, gn_neighbour *neighbour)
{
    const bool left = m->comm->config.algorithm == GN_RING && neighbour == &m->comm->neighbours[0];
    return left ? &neighbour->data_in : &neighbour->data_out;
}

// The neighbour that we connect to ----------------------------------------------------------------

static gn_neighbour *callee(const meeting *m)
{
    return &m->comm->neighbours[m->connect_to];
}

static gn_status cannot(const char *what, const gn_neighbour *neighbour, int reason, gn_error *error)
{
    return gn_fail(error, GN_IO, "cannot %s to rank %d at %s: %s", what, neighbour->rank, neighbour->name,
                   strerror(reason));
}

static gn_join own_join(const meeting *m)
{
    gn_join join = {.rank = (uint16_t)m->comm->rank};
    memcpy(join.token, m->comm->table.token, sizeof join.token);
    return join;
}

/// Who we are, and whom we want: for a greeting of one of our two connections.
static gn_greeting_who own_call(const meeting *m, int which)
{
    gn_greeting_who who = {.role = which == DATA ? GN_ROLE_DATA : GN_ROLE_OOB,
                           .rank = (uint16_t)m->comm->rank,
                           .size = (uint16_t)m->comm->size,
                           .to = (uint16_t)callee(m)->rank};
    gn_token_text(m->comm->table.token, who.name);
    return who;
}

static gn_status not_greeted(const meeting *m, int which, gn_error *error)
{
    char here[32], there[GN_ENDPOINT_TEXT + 16], text[GN_GREETING_WHY];
    snprintf(here, sizeof here, "rank %d", m->comm->rank);
    snprintf(there, sizeof there, "rank %d at %s", callee(m)->rank, callee(m)->name);
    return gn_fail(error, GN_MISMATCH, "%s", gn_greeting_why(&m->greeting[which], here, there, text));
}

/// Goes on with the greeting of our out-of-band connection, if there is one, and then joins.
static gn_status greet_oob(meeting *m, gn_error *error)
{
    gn_framed *oob = callee(m)->oob;
    const gn_greeting_step step = gn_greeting_advance(&m->greeting[OOB], oob);
    if (step == GN_GREETING_FAILED) return not_greeted(m, OOB, error);
    if (step != GN_GREETING_DONE || m->joined) return GN_OK;
    const gn_join join = own_join(m);
    uint8_t frame[GN_FRAME_MAX];
    (void)gn_framed_send(oob, frame, gn_join_write(frame, &join));
    m->joined = true;
    return GN_OK;
}

static gn_status start_connect(meeting *m, int which, gn_error *error)
{
    gn_neighbour *neighbour = callee(m);
    const gn_address *address = &m->comm->table.address[neighbour->rank];
    const gn_endpoint to =
        gn_address_endpoint(address, which == DATA ? address->data_port : address->oob_port, m->boot->local.scope);
    const int fd = gn_tcp_connect(&to, &m->boot->local, which == DATA ? (uint8_t)m->comm->config.data_tos : 0);
    if (fd < 0) return cannot("connect", neighbour, errno, error);
    const gn_greeting_who who = own_call(m, which);
    gn_greeting_call(&m->greeting[which], &m->boot->secret, which == DATA ? GN_GREETING_VALUES : GN_GREETING_EXCHANGE,
                     &who);
    if (which == DATA) {
        *data_socket(m, neighbour) = fd;
        return GN_OK;
    }
    neighbour->oob = gn_connection_new(fd, GN_FRAMED_CONNECTING);
    m->joined = false;
    return neighbour->oob ? greet_oob(m, error) : gn_fail_memory(error);
}

/// The data socket is the neighbour's alone again.
static void end_data_talk(meeting *m)
{
    if (m->data_talk) (void)gn_framed_release(m->data_talk);
    m->data_talk = NULL;
}

/// The neighbour has closed a connection before it knew who we are: strangers took our place. The
/// other connection stays, so that the neighbour never joins a connection of one attempt with one
/// of another.
static gn_status lose(meeting *m, int which)
{
    gn_neighbour *neighbour = callee(m);
    if (which == DATA) {
        end_data_talk(m);
        gn_close(data_socket(m, neighbour));
        m->data_up = false;
    } else {
        gn_framed_free(neighbour->oob);
        neighbour->oob = NULL;
    }
    m->retry_at[which] = gn_now() + retry_span;
    m->lost++;
    gn_log_text(&m->comm->config, GN_LOG_WARNING, "rank %d at %s closed our %s connection: trying again",
                neighbour->rank, neighbour->name, names[which]);
    return GN_OK;
}

static bool closed_by_neighbour(int error_number)
{
    return error_number == ECONNRESET || error_number == EPIPE;
}

/// Says who we are.
static gn_status say_data_hello(meeting *m, int fd, gn_error *error)
{
    const gn_join join = own_join(m);
    uint8_t hello[GN_DATA_HELLO_BYTES];
    gn_data_hello_write(hello, &join);
    if (send(fd, hello, sizeof hello, MSG_NOSIGNAL) == (ssize_t)sizeof hello)
        return GN_OK;  // a fresh socket takes them
    if (closed_by_neighbour(errno)) return lose(m, DATA);
    return cannot("send", callee(m), errno, error);
}

/// Goes on with the greeting of our data connection. Nothing but its frames comes before the
/// welcome, so nothing is lost with the buffer.
static gn_status greet_data(meeting *m, int fd, gn_error *error)
{
    (void)gn_framed_fill(m->data_talk);
    const gn_greeting_step step = gn_greeting_advance(&m->greeting[DATA], m->data_talk);
    const bool closed = m->data_talk->state == GN_FRAMED_CLOSED;
    if (step == GN_GREETING_PENDING) return closed ? lose(m, DATA) : GN_OK;
    end_data_talk(m);
    return step == GN_GREETING_DONE ? say_data_hello(m, fd, error) : not_greeted(m, DATA, error);
}

/// The data connection is made, or has failed.
static gn_status finish_data(meeting *m, int fd, gn_error *error)
{
    const int failed = gn_socket_connected(fd);
    if (closed_by_neighbour(failed)) return lose(m, DATA);
    if (failed) return cannot("connect", callee(m), failed, error);
    m->data_up = true;
    if (m->greeting[DATA].step == GN_GREETING_DONE) return say_data_hello(m, fd, error);
    m->data_talk = gn_framed_new(fd, GN_FRAMED_OPEN, GN_GREETING_MAX, GN_GREETING_MAX);
    if (m->data_talk) return greet_data(m, fd, error);
    *data_socket(m, callee(m)) = -1;  // it has been closed
    return gn_fail_memory(error);
}

static bool is_writable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    return poll(&p, 1, 0) > 0;
}

/// Nothing is sent on it before the welcome: it can only end.
static bool has_ended(int fd)
{
    uint8_t byte;
    const ssize_t got = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

static gn_status advance_data(meeting *m, gn_error *error)
{
    const int fd = *data_socket(m, callee(m));
    if (fd < 0) return gn_now() < m->retry_at[DATA] ? GN_OK : start_connect(m, DATA, error);
    if (!m->data_up) return is_writable(fd) ? finish_data(m, fd, error) : GN_OK;
    if (m->data_talk) return greet_data(m, fd, error);
    return has_ended(fd) ? lose(m, DATA) : GN_OK;
}

static gn_status advance_oob(meeting *m, gn_error *error)
{
    const gn_neighbour *neighbour = callee(m);
    gn_framed *oob = neighbour->oob;
    gn_frame frame;
    if (!oob) return gn_now() < m->retry_at[OOB] ? GN_OK : start_connect(m, OOB, error);
    const bool connecting = oob->state == GN_FRAMED_CONNECTING;
    struct pollfd p = gn_framed_poll(oob);
    if (poll(&p, 1, 0) > 0) gn_framed_serve(oob, p.revents);
    const gn_status greeted = greet_oob(m, error);
    if (greeted) return greeted;
    const int found = m->joined ? gn_connection_next(oob, &frame) : 0;
    if (found == 1 && frame.type == GN_MSG_WELCOME)
        m->welcomed = true;
    else if (found)
        return gn_fail(error, GN_CORRUPT, "rank %d at %s sent something other than a welcome", neighbour->rank,
                       neighbour->name);
    if (m->welcomed || oob->state != GN_FRAMED_CLOSED) return GN_OK;
    if (connecting && oob->error && !closed_by_neighbour(oob->error))
        return cannot("connect", neighbour, oob->error, error);
    return lose(m, OOB);
}

// Those that connect to us ------------------------------------------------------------------------

static int parse_join(const uint8_t *bytes, size_t available, void *join)
{
    gn_frame frame;
    const int length = gn_frame_parse(bytes, available, &frame);
    if (length <= 0) return length;
    return frame.type == GN_MSG_JOIN && gn_join_read(&frame, join) ? length : -1;
}

static int parse_data_hello(const uint8_t *bytes, size_t available, void *join)
{
    if (available < GN_DATA_HELLO_BYTES) return 0;
    return gn_data_hello_read(bytes, join) ? GN_DATA_HELLO_BYTES : -1;
}

/// Whether a stranger says what its greeting has proved.
static bool is_greeted(const meeting *m, const gn_stranger *stranger, const gn_join *join)
{
    char name[GN_GREETING_NAME] = "";
    if (!m->boot->secret.set) return true;
    const gn_greeting_who *who = &stranger->greeting->who;
    gn_token_text(m->comm->table.token, name);
    return who->role == (stranger->door == DATA ? GN_ROLE_DATA : GN_ROLE_OOB) && who->rank == join->rank &&
           who->size == m->comm->size && !strcmp(who->name, name);
}

/// Takes in stranger `index`, who says that it is a rank. @return false when it is not one that we
/// wait for
static bool admit(meeting *m, unsigned index, const gn_join *join)
{
    const unsigned door = m->lobby.strangers[index].door;
    gn_neighbour *neighbour = neighbour_of_rank(m->comm, join->rank, true);
    if (!neighbour || memcmp(join->token, m->comm->table.token, sizeof join->token) != 0) return false;
    if (!is_greeted(m, &m->lobby.strangers[index], join)) return false;
    if (door == DATA ? *data_socket(m, neighbour) >= 0 : neighbour->oob != NULL) return false;
    const int fd = gn_framed_release(gn_lobby_admit(&m->lobby, index));
    if (door == DATA)
        *data_socket(m, neighbour) = fd;
    else
        neighbour->oob = gn_connection_new(fd, GN_FRAMED_OPEN);
    return true;
}

static void read_strangers(meeting *m)
{
    for (unsigned i = m->lobby.count; i-- > 0;) {
        gn_stranger *stranger = &m->lobby.strangers[i];
        const unsigned door = stranger->door;
        const gn_greeting_step step = gn_stranger_greet(stranger);
        char name[GN_ENDPOINT_TEXT];
        gn_join join;
        int found = step == GN_GREETING_FAILED ? -1 : 0;
        if (step == GN_GREETING_DONE)
            found = gn_framed_next(stranger->connection, door == DATA ? parse_data_hello : parse_join, &join);
        if (!found && !gn_stranger_is_over(stranger, gn_now())) continue;
        if (found > 0 && admit(m, i, &join)) continue;
        gn_log_text(&m->comm->config, GN_LOG_WARNING, "a stranger, %s, connected to the %s port%s: sent away",
                    gn_endpoint_format(&stranger->from, name), names[door],
                    step == GN_GREETING_FAILED ? " without the shared secret" : "");
        gn_lobby_dismiss(&m->lobby, i);
    }
}

/// Answers a neighbour whose two connections are both there. @return whether all have been answered
static bool welcome_complete(meeting *m)
{
    bool complete = true;
    for (int i = 0; i < m->comm->neighbour_count; i++) {
        gn_neighbour *neighbour = &m->comm->neighbours[i];
        if (i == m->connect_to) continue;
        if ((m->data && *data_socket(m, neighbour) < 0) || !neighbour->oob) {
            complete = false;
        } else if (!neighbour->welcomed) {
            uint8_t frame[GN_FRAME_MAX];
            (void)gn_framed_send(neighbour->oob, frame, gn_empty_write(frame, GN_MSG_WELCOME));
            neighbour->welcomed = true;
        }
    }
    return complete;
}

// Both --------------------------------------------------------------------------------------------

static gn_status step(meeting *m, bool *done, gn_error *error)
{
    const bool calling = m->connect_to >= 0;
    gn_status status = GN_OK;
    if (calling && !m->welcomed && m->data) status = advance_data(m, error);
    if (calling && !m->welcomed && !status) status = advance_oob(m, error);
    if (status) return status;
    read_strangers(m);
    gn_lobby_accept(&m->lobby);
    *done = welcome_complete(m) && (!calling || m->welcomed);
    return GN_OK;
}

static void await_events(meeting *m)
{
    struct pollfd set[GN_DOORS_MAX + ROOM_MAX + 2];
    nfds_t n = gn_lobby_poll(&m->lobby, set, gn_now());
    if (m->connect_to >= 0 && !m->welcomed) {
        set[n++] = (struct pollfd){.fd = *data_socket(m, callee(m)), .events = m->data_up ? POLLIN : POLLOUT};
        set[n++] = gn_framed_poll(callee(m)->oob);
    }
    (void)gn_poll(set, n, 20);  // short, because the bootstrap connections are looked at between
    gn_lobby_serve(&m->lobby, set);
}

static gn_status timed_out(const meeting *m, gn_error *error)
{
    char own[16], lack[GN_LOBBY_LACK];
    snprintf(own, sizeof own, "rank %d", m->comm->rank);
    for (int i = 0; i < m->comm->neighbour_count; i++) {
        const gn_neighbour *neighbour = &m->comm->neighbours[i];
        if (i == m->connect_to && !m->welcomed)
            return gn_fail(error, GN_TIMEOUT, "no connection to rank %d at %s within %d ms%s", neighbour->rank,
                           neighbour->name, m->comm->timeout_ms, m->lost ? " (it closed our connections)" : "");
        if (i != m->connect_to && !neighbour->welcomed)
            return gn_fail(error, GN_TIMEOUT, "no connection from rank %d at %s within %d ms%s", neighbour->rank,
                           neighbour->name, m->comm->timeout_ms, gn_lobby_lack(&m->lobby, own, lack));
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

/// A neighbour says no more than so many bytes after the greeting, until it is welcome.
static void add_door(meeting *m, int which, int listener, size_t bytes)
{
    gn_door door = {.listener = listener, .in_room = bytes};
    if (m->boot->secret.set) {
        gn_greeting_answer(&m->door[which], &m->boot->secret, which == DATA ? GN_GREETING_VALUES : GN_GREETING_EXCHANGE,
                           (uint16_t)m->comm->rank, NULL);
        door.in_room = door.out_room = GN_GREETING_MAX;
        door.greeting = &m->door[which];
    }
    gn_lobby_add_door(&m->lobby, door);
}

gn_status gn_transport_connect(gn_comm *comm, gn_bootstrap *boot, gn_error *error)
{
    gn_status status = gn_neighbours_make(comm, error);
    if (status) return status;
    meeting m = {.comm = comm,
                 .boot = boot,
                 .data = comm->config.algorithm != GN_SWITCH,
                 .connect_to = comm->config.algorithm == GN_RING ? 1
                               : comm->rank                      ? 0
                                                                 : -1};
    const unsigned expected = 2 * (unsigned)(comm->neighbour_count - (m.connect_to >= 0));
    if (gn_lobby_open(&m.lobby, GN_STRANGERS_MAX + expected)) return gn_fail_memory(error);
    add_door(&m, OOB, boot->oob_listener, JOIN_BYTES);
    add_door(&m, DATA, boot->data_listener, GN_DATA_HELLO_BYTES);
    status = meet(&m, error);
    end_data_talk(&m);
    gn_lobby_close(&m.lobby);
    for (int i = 0; i < comm->neighbour_count && comm->config.algorithm != GN_RING; i++) {
        // One connection, both ways. The second leg chooses its own ToS.
        gn_neighbour *neighbour = &comm->neighbours[i];
        neighbour->data_in = neighbour->data_out;
        if (!comm->rank && neighbour->data_out >= 0)
            gn_socket_set_tos(neighbour->data_out,
                              comm->config.aggregator_weights ? 0 : (uint8_t)comm->config.data_tos);
    }
    return status;
}
