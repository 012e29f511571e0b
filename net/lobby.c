// SPDX-License-Identifier: Apache-2.0
#include "net/lobby.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net/socket.h"
#include "net/tcp.h"

gn_status gn_lobby_open(gn_lobby *lobby, unsigned room)
{
    *lobby = (gn_lobby){.strangers = calloc(room, sizeof *lobby->strangers), .room = room, .places = room};
    return lobby->strangers ? GN_OK : GN_NO_MEMORY;
}

void gn_lobby_add_door(gn_lobby *lobby, gn_door door)
{
    lobby->door[lobby->doors++] = door;
}

void gn_lobby_close(gn_lobby *lobby)
{
    while (lobby->count) gn_lobby_dismiss(lobby, lobby->count - 1);
    if (lobby->spare) close(lobby->spare);
    free(lobby->strangers);
    *lobby = (gn_lobby){0};
}

static bool is_full(const gn_lobby *lobby)
{
    return lobby->count >= lobby->room;
}

/// Whether the oldest has had its time to speak, and has been read since.
static bool may_give_way(const gn_lobby *lobby)
{
    return lobby->count && lobby->read_at >= lobby->strangers[0].since + GN_LOBBY_GRACE;
}

static void make_room(gn_lobby *lobby)
{
    gn_lobby_dismiss(lobby, 0);
    lobby->gave_way++;
}

/// Whether one more may come in.
static bool is_open(const gn_lobby *lobby, uint64_t now)
{
    return now >= lobby->shut_until && (!is_full(lobby) || may_give_way(lobby));
}

/// Those who knock have to wait, and poll() must not report them at once.
static void shut(gn_lobby *lobby, uint64_t now)
{
    lobby->shut_until = now + GN_LOBBY_GRACE;
}

static void take_in(gn_lobby *lobby, unsigned door, int fd, const gn_endpoint *from, uint64_t now)
{
    const gn_greeting *begins = lobby->door[door].greeting;
    gn_framed *connection = gn_framed_new(fd, GN_FRAMED_OPEN, lobby->door[door].in_room, lobby->door[door].out_room);
    gn_greeting *greeting = begins && connection ? malloc(sizeof *greeting) : NULL;
    if (!connection || (begins && !greeting)) {
        gn_framed_free(connection);
        lobby->lacked = ENOMEM;
        shut(lobby, now);
        return;
    }
    if (greeting) *greeting = *begins;
    if (is_full(lobby)) make_room(lobby);
    lobby->strangers[lobby->count++] = (gn_stranger){.connection = connection,
                                                     .door = door,
                                                     .from = *from,
                                                     .since = now,
                                                     .until = now + GN_LOBBY_PATIENCE,
                                                     .greeting = greeting};
}

/// As soon as there is a descriptor, it is kept, ahead of newcomers.
static void keep_spare(gn_lobby *lobby)
{
    if (!lobby->keeps_spare || lobby->spare || !lobby->doors) return;
    const int spare = fcntl(lobby->door[0].listener, F_DUPFD_CLOEXEC, 3);
    if (spare > 0) lobby->spare = spare;
}

/// Without a descriptor accept() fails, whether somebody waits or not.
static bool somebody_waits(int listener)
{
    struct pollfd door = {.fd = listener, .events = POLLIN};
    return poll(&door, 1, 0) > 0;
}

static void note_lack(gn_lobby *lobby, int reason, uint64_t now)
{
    lobby->lacked = reason;
    if (!lobby->lacks_since) lobby->lacks_since = now;
}

/// @return whether to try again: somebody came in, or gave way
static bool open_door(gn_lobby *lobby, unsigned door, uint64_t now)
{
    gn_endpoint from;
    if (lobby->door[door].listener < 0) return false;
    keep_spare(lobby);
    const int fd = gn_tcp_accept(lobby->door[door].listener, &from);
    if (fd >= 0) {
        lobby->lacks_since = 0;
        take_in(lobby, door, fd, &from, now);
        return true;
    }
    const int reason = errno;
    if (reason != EMFILE && reason != ENFILE && reason != ENOBUFS && reason != ENOMEM) return false;
    if (!somebody_waits(lobby->door[door].listener)) return false;
    note_lack(lobby, reason, now);
    if (may_give_way(lobby)) {
        make_room(lobby);
        return true;
    }
    shut(lobby, now);
    return false;
}

void gn_lobby_accept(gn_lobby *lobby)
{
    // All who come in now are of the same age: none of them gives way unread to one behind it in
    // the queue.
    const uint64_t now = gn_now();
    for (unsigned empty = 0; empty < lobby->doors && is_open(lobby, now);) {
        empty = open_door(lobby, lobby->next_door, now) ? 0 : empty + 1;
        lobby->next_door = (lobby->next_door + 1) % lobby->doors;
    }
}

gn_framed *gn_lobby_refuse_one(gn_lobby *lobby, gn_endpoint *from)
{
    const uint64_t since = lobby->lacks_since;
    if (!since || gn_elapsed(since, gn_now()) < GN_LOBBY_LACKING || lobby->count || !lobby->spare) return NULL;
    close(lobby->spare);
    lobby->spare = 0;
    for (unsigned i = 0; i < lobby->doors; i++) {
        const gn_door *door = &lobby->door[i];
        const int fd = door->listener < 0 ? -1 : gn_tcp_accept(door->listener, from);
        if (fd >= 0) return gn_framed_new(fd, GN_FRAMED_OPEN, door->in_room, door->out_room);
    }
    keep_spare(lobby);
    return NULL;
}

const char *gn_lobby_lack(const gn_lobby *lobby, const char *who, char text[GN_LOBBY_LACK])
{
    *text = 0;
    if (lobby->lacked)
        (void)snprintf(text, GN_LOBBY_LACK, "; %.40s had no room for connections: %.30s%s", who,
                       strerror(lobby->lacked), gn_files_hint(lobby->lacked));
    return text;
}

unsigned gn_lobby_poll(const gn_lobby *lobby, struct pollfd *set, uint64_t now)
{
    unsigned n = 0;
    const bool opens = is_open(lobby, now);
    for (unsigned i = 0; i < lobby->doors; i++)
        set[n++] = (struct pollfd){.fd = opens ? lobby->door[i].listener : -1, .events = POLLIN};
    for (unsigned i = 0; i < lobby->count; i++) set[n++] = gn_framed_poll(lobby->strangers[i].connection);
    return n;
}

uint64_t gn_lobby_due(const gn_lobby *lobby, uint64_t now)
{
    uint64_t due = GN_FOREVER;
    for (unsigned i = 0; i < lobby->count; i++)
        if (lobby->strangers[i].until < due) due = lobby->strangers[i].until;
    if (lobby->doors && !is_open(lobby, now)) {
        uint64_t opens = lobby->shut_until;
        if (is_full(lobby)) opens = lobby->count ? lobby->strangers[0].since + GN_LOBBY_GRACE : GN_FOREVER;
        if (opens < lobby->shut_until) opens = lobby->shut_until;
        if (opens < due) due = opens;
    }
    return due;
}

void gn_lobby_serve(gn_lobby *lobby, const struct pollfd *set)
{
    lobby->read_at = gn_now();
    for (unsigned i = 0; i < lobby->count; i++)
        gn_framed_serve(lobby->strangers[i].connection, set[lobby->doors + i].revents);
}

void gn_lobby_read(gn_lobby *lobby)
{
    lobby->read_at = gn_now();
    for (unsigned i = 0; i < lobby->count; i++) (void)gn_framed_fill(lobby->strangers[i].connection);
}

bool gn_stranger_is_over(const gn_stranger *stranger, uint64_t now)
{
    return now > stranger->until || stranger->connection->state == GN_FRAMED_CLOSED;
}

gn_greeting_step gn_stranger_greet(gn_stranger *stranger)
{
    return stranger->greeting ? gn_greeting_advance(stranger->greeting, stranger->connection) : GN_GREETING_DONE;
}

gn_framed *gn_lobby_admit(gn_lobby *lobby, unsigned index)
{
    gn_framed *connection = lobby->strangers[index].connection;
    gn_greeting *greeting = lobby->strangers[index].greeting;
    if (greeting) gn_greeting_wipe(greeting);
    free(greeting);
    lobby->count--;
    memmove(&lobby->strangers[index], &lobby->strangers[index + 1], (lobby->count - index) * sizeof *lobby->strangers);
    return connection;
}

void gn_lobby_dismiss(gn_lobby *lobby, unsigned index)
{
    gn_framed_free(gn_lobby_admit(lobby, index));
}

void gn_lobby_see_off(gn_lobby *lobby, gn_framed *connection, uint64_t patience)
{
    const uint64_t now = gn_now();
    gn_framed_end(connection);
    if (connection->state == GN_FRAMED_CLOSED) {
        gn_framed_free(connection);
        return;
    }
    if (lobby->count == lobby->places) make_room(lobby);
    lobby->strangers[lobby->count++] = (gn_stranger){.connection = connection, .since = now, .until = now + patience};
}
