// SPDX-License-Identifier: Apache-2.0
#include "ring/callee.h"
#include "ring/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "net/socket.h"
#include "net/tcp.h"

enum { OOB = GN_CALL_OOB, DATA = GN_CALL_DATA };
static const uint64_t retry_span = 50 * GN_MILLISECOND;

const char *const gn_call_names[GN_CALLS] = {[OOB] = "out-of-band", [DATA] = "data"};

static gn_status cannot(const char *what, const gn_neighbour *neighbour, int reason, gn_error *error)
{
    return gn_fail(error, GN_IO, "cannot %s to rank %d at %s: %s%s", what, neighbour->rank, neighbour->name,
                   strerror(reason), gn_files_hint(reason));
}

static gn_join own_join(const gn_callee *c)
{
    gn_join join = {.rank = (uint16_t)c->comm->rank};
    memcpy(join.token, c->comm->table.token, sizeof join.token);
    return join;
}

/// Who we are, and whom we want: for a greeting of one of our two connections.
static gn_greeting_who own_call(const gn_callee *c, int which)
{
    gn_greeting_who who = {.role = which == DATA ? GN_ROLE_DATA : GN_ROLE_OOB,
                           .rank = (uint16_t)c->comm->rank,
                           .size = (uint16_t)c->comm->size,
                           .to = (uint16_t)c->neighbour->rank};
    gn_token_text(c->comm->table.token, who.name);
    return who;
}

static gn_status not_greeted(const gn_callee *c, int which, gn_error *error)
{
    char here[32], there[GN_ENDPOINT_TEXT + 16], text[GN_GREETING_WHY];
    snprintf(here, sizeof here, "rank %d", c->comm->rank);
    snprintf(there, sizeof there, "rank %d at %s", c->neighbour->rank, c->neighbour->name);
    return gn_fail(error, GN_MISMATCH, "%s", gn_greeting_why(&c->greeting[which], here, there, text));
}

/// Goes on with the greeting of our out-of-band connection, if there is one, and then joins.
static gn_status greet_oob(gn_callee *c, gn_error *error)
{
    gn_framed *oob = c->neighbour->oob;
    const gn_greeting_step step = gn_greeting_advance(&c->greeting[OOB], oob);
    if (step == GN_GREETING_FAILED) return not_greeted(c, OOB, error);
    if (step != GN_GREETING_DONE || c->joined) return GN_OK;
    const gn_join join = own_join(c);
    uint8_t frame[GN_FRAME_MAX];
    (void)gn_framed_send(oob, frame, gn_join_write(frame, &join));
    c->joined = true;
    return GN_OK;
}

static gn_status start_connect(gn_callee *c, int which, gn_error *error)
{
    gn_neighbour *neighbour = c->neighbour;
    const gn_address *address = &c->comm->table.address[neighbour->rank];
    const gn_endpoint to =
        gn_address_endpoint(address, which == DATA ? address->data_port : address->oob_port, c->boot->local.scope);
    const int fd = gn_tcp_connect(&to, &c->boot->local, which == DATA ? (uint8_t)c->comm->config.data_tos : 0);
    if (fd < 0) return cannot("connect", neighbour, errno, error);
    const gn_greeting_who who = own_call(c, which);
    gn_greeting_call(&c->greeting[which], &c->boot->secret, which == DATA ? GN_GREETING_VALUES : GN_GREETING_EXCHANGE,
                     &who);
    if (which == DATA) {
        neighbour->data_out = fd;
        return GN_OK;
    }
    neighbour->oob = gn_connection_new(fd, GN_FRAMED_CONNECTING);
    c->joined = false;
    return neighbour->oob ? greet_oob(c, error) : gn_fail_memory(error);
}

/// The data socket is the neighbour's alone again.
static void end_data_talk(gn_callee *c)
{
    if (c->data_talk) (void)gn_framed_release(c->data_talk);
    c->data_talk = NULL;
}

/// The neighbour has closed a connection before it knew who we are: strangers took our place. The
/// other connection stays, so that the neighbour never joins a connection of one attempt with one
/// of another.
static gn_status lose(gn_callee *c, int which)
{
    gn_neighbour *neighbour = c->neighbour;
    if (which == DATA) {
        end_data_talk(c);
        gn_close(&neighbour->data_out);
        c->data_up = false;
    } else {
        gn_framed_free(neighbour->oob);
        neighbour->oob = NULL;
    }
    c->retry_at[which] = gn_now() + retry_span;
    c->lost++;
    gn_log_text(&c->comm->config, GN_LOG_WARNING, "rank %d at %s closed our %s connection: trying again",
                neighbour->rank, neighbour->name, gn_call_names[which]);
    return GN_OK;
}

static bool closed_by_neighbour(int error_number)
{
    return error_number == ECONNRESET || error_number == EPIPE;
}

/// Says who we are.
static gn_status say_data_hello(gn_callee *c, int fd, gn_error *error)
{
    const gn_join join = own_join(c);
    uint8_t hello[GN_DATA_HELLO_BYTES];
    gn_data_hello_write(hello, &join);
    if (send(fd, hello, sizeof hello, MSG_NOSIGNAL) == (ssize_t)sizeof hello)
        return GN_OK;  // a fresh socket takes them
    if (closed_by_neighbour(errno)) return lose(c, DATA);
    return cannot("send", c->neighbour, errno, error);
}

/// Goes on with the greeting of our data connection. Nothing but its frames comes before the
/// welcome, so nothing is lost with the buffer.
static gn_status greet_data(gn_callee *c, int fd, gn_error *error)
{
    (void)gn_framed_fill(c->data_talk);
    const gn_greeting_step step = gn_greeting_advance(&c->greeting[DATA], c->data_talk);
    const bool closed = c->data_talk->state == GN_FRAMED_CLOSED;
    if (step == GN_GREETING_PENDING) return closed ? lose(c, DATA) : GN_OK;
    end_data_talk(c);
    return step == GN_GREETING_DONE ? say_data_hello(c, fd, error) : not_greeted(c, DATA, error);
}

/// The data connection is made, or has failed.
static gn_status finish_data(gn_callee *c, int fd, gn_error *error)
{
    const int failed = gn_socket_connected(fd);
    if (closed_by_neighbour(failed)) return lose(c, DATA);
    if (failed) return cannot("connect", c->neighbour, failed, error);
    c->data_up = true;
    if (c->greeting[DATA].step == GN_GREETING_DONE) return say_data_hello(c, fd, error);
    c->data_talk = gn_framed_new(fd, GN_FRAMED_OPEN, GN_GREETING_MAX, GN_GREETING_MAX);
    if (c->data_talk) return greet_data(c, fd, error);
    c->neighbour->data_out = -1;  // it has been closed
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

static gn_status advance_data(gn_callee *c, gn_error *error)
{
    const int fd = c->neighbour->data_out;
    if (fd < 0) return gn_now() < c->retry_at[DATA] ? GN_OK : start_connect(c, DATA, error);
    if (!c->data_up) return is_writable(fd) ? finish_data(c, fd, error) : GN_OK;
    if (c->data_talk) return greet_data(c, fd, error);
    return has_ended(fd) ? lose(c, DATA) : GN_OK;
}

static gn_status advance_oob(gn_callee *c, gn_error *error)
{
    const gn_neighbour *neighbour = c->neighbour;
    gn_framed *oob = neighbour->oob;
    gn_frame frame;
    if (!oob) return gn_now() < c->retry_at[OOB] ? GN_OK : start_connect(c, OOB, error);
    const bool connecting = oob->state == GN_FRAMED_CONNECTING;
    struct pollfd p = gn_framed_poll(oob);
    if (poll(&p, 1, 0) > 0) gn_framed_serve(oob, p.revents);
    const gn_status greeted = greet_oob(c, error);
    if (greeted) return greeted;
    const int found = c->joined ? gn_connection_next(oob, &frame) : 0;
    if (found == 1 && frame.type == GN_MSG_WELCOME)
        c->welcomed = true;
    else if (found)
        return gn_fail(error, GN_CORRUPT, "rank %d at %s sent something other than a welcome", neighbour->rank,
                       neighbour->name);
    if (c->welcomed || oob->state != GN_FRAMED_CLOSED) return GN_OK;
    if (connecting && oob->error && !closed_by_neighbour(oob->error))
        return cannot("connect", neighbour, oob->error, error);
    return lose(c, OOB);
}

void gn_callee_init(gn_callee *callee, gn_comm *comm, const gn_bootstrap *boot, gn_neighbour *neighbour)
{
    *callee =
        (gn_callee){.comm = comm, .boot = boot, .neighbour = neighbour, .data = comm->config.algorithm != GN_SWITCH};
}

void gn_callee_close(gn_callee *callee)
{
    end_data_talk(callee);
}

gn_status gn_callee_advance(gn_callee *callee, gn_error *error)
{
    if (callee->welcomed) return GN_OK;
    const gn_status status = callee->data ? advance_data(callee, error) : GN_OK;
    return status ? status : advance_oob(callee, error);
}

void gn_callee_poll(const gn_callee *callee, struct pollfd set[GN_CALLS])
{
    const bool done = callee->welcomed;
    const int fd = done ? -1 : callee->neighbour->data_out;
    set[DATA] = (struct pollfd){.fd = fd, .events = callee->data_up ? POLLIN : POLLOUT};
    set[OOB] = gn_framed_poll(done ? NULL : callee->neighbour->oob);
}
