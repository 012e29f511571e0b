// SPDX-License-Identifier: Apache-2.0
#include "greeting_sides.h"

#include <sys/socket.h>
#include <unistd.h>

#include <check.h>

const gn_secret none, one = {.set = true, .key = {1}}, two = {.set = true, .key = {2}};
const uint8_t epoch[GN_GREETING_EPOCH] = {7};
const gn_greeting_who rank_3 = {.role = GN_ROLE_RANK, .rank = 3, .size = 5, .job = 77, .name = "job"};

static side make(void)
{
    int ends[2];
    ck_assert(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends));
    return (side){.connection = gn_framed_new(ends[0], GN_FRAMED_OPEN, ROOM, ROOM), .far = ends[1]};
}

side caller_with(const gn_secret *secret, gn_greeting_dialect dialect, const gn_greeting_who *who)
{
    side s = make();
    gn_greeting_call(&s.greeting, secret, dialect, who);
    return s;
}

side callee_with(const gn_secret *secret, gn_greeting_dialect dialect, uint16_t own)
{
    side s = make();
    gn_greeting_answer(&s.greeting, secret, dialect, own, epoch);
    return s;
}

void drop(side *s)
{
    gn_framed_free(s->connection);
    close(s->far);
}

gn_greeting_step go(side *s)
{
    (void)gn_framed_fill(s->connection);
    return gn_greeting_advance(&s->greeting, s->connection);
}

size_t said(const side *s, uint8_t bytes[ROOM])
{
    const ssize_t got = recv(s->far, bytes, ROOM, MSG_DONTWAIT);
    return got < 0 ? 0 : (size_t)got;
}

void tell(const side *s, const uint8_t *bytes, size_t count)
{
    ck_assert_int_eq(send(s->far, bytes, count, 0), (ssize_t)count);
}

size_t carry(const side *from, const side *to)
{
    uint8_t bytes[ROOM];
    const size_t count = said(from, bytes);
    if (count) tell(to, bytes, count);
    return count;
}

void talk(side *a, side *b)
{
    size_t moved;
    do {
        (void)go(a);
        (void)go(b);
        moved = carry(a, b) + carry(b, a);
    } while (moved);
    (void)go(a);
    (void)go(b);
}
