// SPDX-License-Identifier: Apache-2.0
#include "ring/bootstrap/home.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "net/tcp.h"
#include "ring/bootstrap/listen.h"
#include "ring/bootstrap/roster.h"
#include "ring/bootstrap/signs.h"
#include "ring/config.h"

static gn_status say_hello(gn_bootstrap *boot, gn_error *error)
{
    if (boot->oob_listener < 0) {
        const gn_status status = gn_bootstrap_listen(boot, &boot->home_at, error);
        if (status) return status;
    }
    const gn_hello hello = {.job = boot->rendezvous.job,
                            .rank = (uint16_t)boot->rank,
                            .size = (uint16_t)boot->size,
                            .terms = boot->terms,
                            .address = boot->address,
                            .at_switch = boot->route.place,
                            .switch_values = (uint16_t)boot->route.values,
                            .timeout_ms = (uint32_t)gn_timeout_ms(boot->config),
                            .segment_bytes = gn_config_segment(boot->config),
                            .group = boot->group};
    uint8_t frame[GN_FRAME_MAX];
    (void)gn_framed_send(boot->home, frame, gn_hello_write(frame, &hello));
    boot->said_hello = true;
    return GN_OK;
}

/// Rank 0 has not shown that it has the secret. What it says may still help.
static gn_status not_greeted(gn_bootstrap *boot, gn_error *error)
{
    char here[32], there[GN_ENDPOINT_TEXT + 16], text[GN_GREETING_WHY];
    gn_frame frame;
    gn_failure failure;
    snprintf(here, sizeof here, "rank %d", boot->rank);
    snprintf(there, sizeof there, "rank 0 (%s)", boot->home_name);
    if (boot->greeting.fault == GN_GREETING_NONE_THERE && gn_connection_next(boot->home, &frame) > 0 &&
        frame.type == GN_MSG_FAIL && gn_failure_read(&frame, &failure))
        return gn_fail(error, GN_MISMATCH, "%s has not shown the shared secret of %s (--secret), and says: %.240s",
                       there, here, failure.text);
    return gn_fail(error, GN_MISMATCH, "%s", gn_greeting_why(&boot->greeting, here, there, text));
}

/// Goes on with the greeting, if there is one, and then says HELLO.
static gn_status greet(gn_bootstrap *boot, gn_error *error)
{
    const gn_greeting_step step = gn_greeting_advance(&boot->greeting, boot->home);
    if (step == GN_GREETING_FAILED) return not_greeted(boot, error);
    return step == GN_GREETING_DONE && !boot->said_hello ? say_hello(boot, error) : GN_OK;
}

/// Begins a greeting on a fresh connection.
static gn_status begin_greeting(gn_bootstrap *boot, gn_error *error)
{
    const gn_greeting_who who = {
        .role = GN_ROLE_RANK, .rank = (uint16_t)boot->rank, .size = (uint16_t)boot->size, .job = boot->rendezvous.job};
    boot->said_hello = false;
    gn_greeting_call(&boot->greeting, &boot->secret, GN_GREETING_EXCHANGE, &who);
    return greet(boot, error);
}

/// Waits for so long, but not beyond the deadline.
static void pause_for(const gn_bootstrap *boot, int ms)
{
    const int left = gn_ms_until(boot->deadline, gn_now());
    (void)poll(NULL, 0, left < ms ? left : ms);
}

/// How long one of so many addresses has: 3 s at most, and so little that each is tried twice.
static uint64_t turn_of(const gn_bootstrap *boot, size_t addresses)
{
    const uint64_t most = 3 * GN_SECOND, least = GN_SECOND / 4;
    const uint64_t share = (uint64_t)gn_timeout_ms(boot->config) * GN_MILLISECOND / (2 * addresses);
    return addresses == 1 || share > most ? most : share < least ? least : share;
}

/// Waits for a connection to be made, for one turn. @return 0 or an errno
static int await_connection(const gn_bootstrap *boot, int fd, size_t addresses)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    uint64_t now = gn_now(), until = now + turn_of(boot, addresses);
    if (until > boot->deadline) until = boot->deadline;
    for (; !p.revents && now < until; now = gn_now())
        if (poll(&p, 1, gn_ms_until(until, now)) < 0 && errno != EINTR) break;
    return p.revents ? gn_socket_connected(fd) : ETIMEDOUT;
}

enum { REASON_TEXT = 64 };

/// One attempt to reach rank 0. @return the connected socket; or -1 with a reason, and with an
/// error in `*status` if it is one that waiting will not mend
static int try_home(gn_bootstrap *boot, unsigned attempt, char reason[REASON_TEXT], gn_status *status, gn_error *error)
{
    gn_endpoint address;
    const size_t addresses = gn_rendezvous_find(&boot->rendezvous, attempt, &address, status, error);
    if (!addresses) {
        snprintf(reason, REASON_TEXT, "no fresh file %.40s", boot->rendezvous.file.path);
        return -1;
    }
    gn_endpoint_format(&address, boot->home_name);
    int fd = gn_tcp_connect(&address, NULL, 0);
    int failed = fd < 0 ? errno : await_connection(boot, fd, addresses);
    // Asked for now: a connection that breaks later no longer has a far end.
    if (!failed && !gn_socket_remote(fd, &boot->home_at)) failed = errno;
    if (!failed) return fd;
    snprintf(reason, REASON_TEXT, "%s", strerror(failed));
    gn_close(&fd);
    return -1;
}

static gn_status find_home(gn_bootstrap *boot, gn_error *error)
{
    char reason[REASON_TEXT] = "it closes our connections";
    int pause_ms = 10;
    for (unsigned attempt = 0; gn_now() < boot->deadline; attempt++) {
        gn_status status = GN_OK;
        const int fd = try_home(boot, attempt, reason, &status, error);
        if (status) return status;
        if (fd >= 0) {
            boot->home = gn_connection_new(fd, GN_FRAMED_OPEN);
            boot->home_speaks = boot->let_in = false;
            return boot->home ? begin_greeting(boot, error) : gn_fail_memory(error);
        }
        pause_for(boot, pause_ms);
        if (pause_ms < 200) pause_ms += pause_ms / 2;
    }
    return gn_fail(error, GN_TIMEOUT, "rank 0 did not come: no answer at %s within %d ms (%s)",
                   boot->rendezvous.is_file ? boot->rendezvous.file.path : boot->home_name, gn_timeout_ms(boot->config),
                   reason);
}

/// Rank 0 names itself who has reported what it passes on. What it compares names both sides.
static gn_status take_failure(const gn_bootstrap *boot, const gn_frame *frame, gn_error *error)
{
    gn_failure failure;
    if (!gn_failure_read(frame, &failure)) return gn_fail(error, GN_CORRUPT, "rank 0 sent a malformed failure message");
    if (!failure.reporter && (failure.status == GN_TIMEOUT || failure.status == GN_PEER_LOST))
        return gn_fail(error, (gn_status)failure.status, "%.300s (reported by rank 0, %s)", failure.text,
                       boot->home_name);
    return gn_fail(error, (gn_status)failure.status, "%s", failure.text);
}

static gn_status take_message(gn_bootstrap *boot, const gn_frame *frame, gn_error *error)
{
    bool good = true;
    if (frame->type == GN_MSG_FAIL) return take_failure(boot, frame, error);
    if (frame->type == GN_MSG_ROSTER) good = gn_roster_read(frame, &boot->roster) && boot->roster.size == boot->size;
    if (frame->type == GN_MSG_TABLE) good = gn_rank_table_read(frame, &boot->table) && boot->table.size == boot->size;
    if (!good) return gn_fail(error, GN_CORRUPT, "rank 0 sent a malformed message of type %d", frame->type);
    if (frame->type == GN_MSG_ROSTER || frame->type == GN_MSG_TABLE) boot->let_in = true;
    if (frame->type == GN_MSG_TABLE) gn_bootstrap_all_here(boot);
    return GN_OK;
}

/// Takes what rank 0 has sent. `*met`: a message of type `until` came.
static gn_status read_home(gn_bootstrap *boot, gn_message_type until, bool *met, gn_error *error)
{
    gn_frame frame;
    if (gn_framed_fill(boot->home)) boot->home_speaks = true;
    const gn_status greeted = greet(boot, error);
    if (greeted) return greeted;
    for (int found; boot->said_hello && (found = gn_connection_next(boot->home, &frame));) {
        if (found < 0)
            return gn_fail(error, GN_CORRUPT, "%s does not speak this protocol: is it the right port?",
                           boot->home_name);
        const gn_status status = take_message(boot, &frame, error);
        if (status) return status;
        if (frame.type == until) *met = true;
    }
    gn_bootstrap_beat(boot);
    return gn_bootstrap_alive(boot, error);
}

static gn_status timed_out(const gn_bootstrap *boot, gn_message_type until, gn_error *error)
{
    if (until == GN_MSG_GO)
        return gn_fail(error, GN_TIMEOUT, "not all ranks could connect to their neighbours within %d ms",
                       gn_timeout_ms(boot->config));
    if (!boot->let_in)
        return gn_fail(error, GN_TIMEOUT,
                       "rank 0 did not come: %s takes the connection, but has not let this rank in within %d ms (is it "
                       "another program's port?)",
                       boot->home_name, gn_timeout_ms(boot->config));
    char missing[240];
    gn_roster_missing(&boot->roster, missing, sizeof missing);
    return gn_fail(error, GN_TIMEOUT, "%s did not come within %d ms", missing, gn_timeout_ms(boot->config));
}

static gn_status home_lost(const gn_bootstrap *boot, gn_error *error)
{
    return gn_fail(error, GN_PEER_LOST, "rank 0 (%s) lost while the group was set up", boot->home_name);
}

/// Whether the file leads elsewhere by now, and this connection to a stranger. A rank 0 has its
/// file locked an instant before its address stands there. Who looks then sees an older one.
static bool home_has_moved(const gn_bootstrap *boot)
{
    char name[GN_ENDPOINT_TEXT];
    gn_endpoint address;
    gn_status status;
    gn_error ignored;
    return boot->rendezvous.is_file && !boot->let_in &&
           gn_rendezvous_find(&boot->rendezvous, 0, &address, &status, &ignored) &&
           strcmp(gn_endpoint_format(&address, name), boot->home_name) != 0;
}

/// What a stranger says is no error of this group's. A rank 0 that begins may need a moment.
static bool was_led_astray(const gn_bootstrap *boot, gn_status status)
{
    enum { TIMES = 20, FEW = 2, PAUSE_MS = 50 };
    bool moved = false;
    if (!status || !boot->rendezvous.is_file || boot->let_in) return false;
    // A stranger that knows the protocol is the rank 0 of another group. Mostly it is our own.
    const int times = boot->said_hello && status != GN_CORRUPT ? FEW : TIMES;
    for (int i = 0; i < times && !moved; i++) {
        pause_for(boot, PAUSE_MS);
        moved = home_has_moved(boot);
    }
    return moved;
}

/// The next one may be reached by another interface. Whoever was told of these listeners is gone.
static void leave_home(gn_bootstrap *boot)
{
    gn_framed_free(boot->home);
    boot->home = NULL;
    if (boot->let_in) return;
    gn_close(&boot->data_listener);
    gn_close(&boot->oob_listener);
}

/// Waits for a message from rank 0. A connection that breaks before the table is there is tried
/// again: rank 0 may have restarted, or a stale rendezvous file led to a stranger.
static gn_status await_home(gn_bootstrap *boot, gn_message_type until, gn_error *error)
{
    bool met = false;
    while (true) {
        gn_status status = read_home(boot, until, &met, error);
        const bool astray = was_led_astray(boot, status);
        if (met || (status && !astray)) return status;
        const uint64_t now = gn_now();
        if (now >= boot->deadline) return timed_out(boot, until, error);
        if (boot->home->state == GN_FRAMED_CLOSED || astray || home_has_moved(boot)) {
            if (until == GN_MSG_GO) return home_lost(boot, error);
            leave_home(boot);
            pause_for(boot, 50);
            if ((status = find_home(boot, error))) return status;
            continue;
        }
        struct pollfd p = gn_framed_poll(boot->home);
        (void)poll(&p, 1, gn_ms_until(gn_bootstrap_beat_until(boot), now));
        gn_framed_flush(boot->home);
    }
}

gn_status gn_home_gather(gn_bootstrap *boot, gn_error *error)
{
    const gn_status status = find_home(boot, error);
    return status ? status : await_home(boot, GN_MSG_TABLE, error);
}

gn_status gn_home_watch(gn_bootstrap *boot, gn_error *error)
{
    bool met;
    const gn_status status = read_home(boot, GN_MSG_FAIL, &met, error);
    return !status && boot->home->state == GN_FRAMED_CLOSED ? home_lost(boot, error) : status;
}

gn_status gn_home_commit(gn_bootstrap *boot, gn_error *error)
{
    uint8_t frame[GN_FRAME_MAX];
    (void)gn_framed_send(boot->home, frame, gn_empty_write(frame, GN_MSG_READY));
    return await_home(boot, GN_MSG_GO, error);
}
