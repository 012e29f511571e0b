// SPDX-License-Identifier: Apache-2.0
#include "ring/tether.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "net/clock.h"
#include "net/tcp.h"

_Static_assert((int)GN_GREETING_SWITCH_VERSION != (int)GN_ADMISSION_VERSION,
               "a switch without a secret must see another version");

enum { OUT_ROOM = 2 * GN_ADMISSION_MAX };  // frames are few: if more wait, the switch does not read

static void end(gn_tether *t, const char *why)
{
    if (!t->gone) snprintf(t->why, sizeof t->why, "%s", why);
    t->gone = true;
}

gn_status gn_tether_open(gn_tether *t, const gn_endpoint *to, const gn_secret *secret, const gn_admission_join *join)
{
    gn_greeting_who who = {.role = (uint8_t)(GN_ROLE_CHILD + join->asker),
                           .rank = join->rank,
                           .size = join->ranks,
                           .to = GN_GREETING_ANYBODY};
    snprintf(who.name, sizeof who.name, "%s", join->name);
    *t = (gn_tether){.since = gn_now()};
    gn_greeting_call(&t->greeting, secret, GN_GREETING_SWITCH, &who);
    const int fd = gn_tcp_connect(to, NULL, 0);
    if (fd >= 0) t->connection = gn_framed_new(fd, GN_FRAMED_CONNECTING, GN_ADMISSION_MAX, OUT_ROOM);
    if (t->connection) return GN_OK;
    end(t, strerror(fd < 0 ? errno : ENOMEM));
    return GN_IO;
}

void gn_tether_forget(gn_tether *t)
{
    gn_greeting_wipe(&t->greeting);
    t->greeting.secret = NULL;
}

void gn_tether_close(gn_tether *t)
{
    gn_framed_free(t->connection);
    t->connection = NULL;
}

bool gn_tether_is_up(const gn_tether *t)
{
    return t->connection && t->connection->state == GN_FRAMED_OPEN;
}

uint64_t gn_tether_heard(const gn_tether *t)
{
    return t->connection && t->connection->heard > t->since ? t->connection->heard : t->since;
}

struct pollfd gn_tether_poll(const gn_tether *t)
{
    return gn_framed_poll(t->connection);
}

static void send_frame(gn_tether *t, const gn_admission *frame)
{
    uint8_t out[GN_ADMISSION_MAX];
    if (!gn_framed_send(t->connection, out, gn_admission_write(frame, out)) && t->connection->overflow)
        end(t, "it takes no messages");
}

static int parse(const uint8_t *bytes, size_t available, void *frame)
{
    return gn_admission_parse(bytes, available, frame, NULL);
}

static void take_news(gn_tether *t, const gn_admission *frame)
{
    if (frame->type == GN_ADMISSION_PONG) snprintf(t->waits, sizeof t->waits, "%s", frame->text);
    if (frame->type != GN_ADMISSION_GONE) return;
    t->told |= !t->gone;
    end(t, frame->text);
}

/// The bytes that have come are no frame.
static void end_with_fault(gn_tether *t)
{
    char fault[GN_ADMISSION_FAULT], text[GN_ADMISSION_FAULT + 64];
    const uint8_t *bytes;
    const size_t count = gn_framed_rest(t->connection, &bytes);
    snprintf(text, sizeof text, "it %s: is it the right port?", gn_admission_fault(bytes, count, fault));
    end(t, text);
}

/// Takes all that has come, also what came before the end. An answer to JOIN goes to `answer`,
/// unless that is NULL.
static void take_all(gn_tether *t, gn_admission *answer)
{
    gn_admission frame;
    int found;
    while ((found = gn_framed_next(t->connection, parse, &frame)) > 0) {
        const bool answers = frame.type == GN_ADMISSION_WELCOME || frame.type == GN_ADMISSION_REFUSED;
        if (answer && answers) *answer = frame;
        take_news(t, &frame);
    }
    if (found < 0) end_with_fault(t);
    if (t->connection->state == GN_FRAMED_CLOSED)
        end(t, t->connection->error ? strerror(t->connection->error) : "it has closed the connection");
}

/// The switch has not shown that it has the secret. What it says may still help.
static void end_unknown(gn_tether *t)
{
    char text[GN_GREETING_WHY], whole[sizeof t->why];
    gn_admission frame;
    if (t->greeting.fault == GN_GREETING_NONE_THERE && gn_framed_next(t->connection, parse, &frame) > 0 &&
        frame.type == GN_ADMISSION_REFUSED)
        snprintf(whole, sizeof whole, "it has not shown the shared secret (--secret), and says: %s", frame.text);
    else
        snprintf(whole, sizeof whole, "%s", gn_greeting_why(&t->greeting, "this rank", "it", text));
    end(t, whole);
}

/// Goes on with the greeting, if there is one. @return whether the switch is known
static bool greet(gn_tether *t)
{
    const gn_greeting_step step = t->gone ? GN_GREETING_PENDING : gn_greeting_advance(&t->greeting, t->connection);
    if (step == GN_GREETING_FAILED) end_unknown(t);
    if (step == GN_GREETING_PENDING && t->connection->state == GN_FRAMED_CLOSED)
        end(t, t->connection->error ? strerror(t->connection->error) : "it has closed the connection");
    return step == GN_GREETING_DONE;
}

gn_status gn_tether_advance(gn_tether *t, const gn_admission_join *join, gn_admission *answer)
{
    answer->type = GN_ADMISSION_JOIN;
    struct pollfd p = gn_framed_poll(t->connection);
    if (poll(&p, 1, 0) > 0) gn_framed_serve(t->connection, p.revents);
    if (t->connection->state == GN_FRAMED_CONNECTING) return GN_OK;
    if (!greet(t)) return t->gone ? GN_IO : GN_OK;
    if (gn_tether_is_up(t) && !t->gone && !t->joined && join) {
        send_frame(t, &(gn_admission){.type = GN_ADMISSION_JOIN, .join = *join});
        t->joined = true;
    }
    if (!t->gone) take_all(t, answer);
    return t->gone && answer->type == GN_ADMISSION_JOIN ? GN_IO : GN_OK;
}

void gn_tether_serve(gn_tether *t, short events)
{
    if (!t->connection || t->gone) return;
    gn_framed_serve(t->connection, events);
    take_all(t, NULL);
}

void gn_tether_ping(gn_tether *t, uint64_t now)
{
    if (!t->joined) return;  // it does not know us yet
    t->last_ping = now;
    // As long as something waits to be sent, the switch does not read: another PING would change
    // nothing.
    if (!t->gone && !gn_framed_unsent(t->connection)) send_frame(t, &(gn_admission){.type = GN_ADMISSION_PING});
}

static void send_last(gn_tether *t, const gn_admission *frame)
{
    if (!t->connection || t->gone || !t->joined) return;
    send_frame(t, frame);
    gn_framed_end(t->connection);
}

void gn_tether_end(gn_tether *t, const char *why)
{
    gn_admission frame = {.type = GN_ADMISSION_GONE};
    snprintf(frame.text, sizeof frame.text, "%s", why);
    send_last(t, &frame);
}

void gn_tether_leave(gn_tether *t)
{
    send_last(t, &(gn_admission){.type = GN_ADMISSION_LEAVE});
}
