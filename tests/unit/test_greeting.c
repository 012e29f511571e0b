// SPDX-License-Identifier: Apache-2.0
// The greeting by which both sides of a connection prove that they have the secret. Those who do
// not have it: test_greeting_false.c.
#include <poll.h>
#include <string.h>

#include "greeting_sides.h"
#include "net/clock.h"
#include "net/lobby.h"
#include "net/tcp.h"
#include "suite.h"

static void same_keys(const side *a, const side *b)
{
    uint8_t x[GN_DATAGRAM_KEY], y[GN_DATAGRAM_KEY], z[GN_DATAGRAM_KEY];
    gn_greeting_key_up(&a->greeting, 2, x);
    gn_greeting_key_up(&b->greeting, 2, y);
    gn_greeting_key_up(&b->greeting, 3, z);
    ck_assert_mem_eq(x, y, sizeof x);
    ck_assert_mem_ne(x, z, sizeof x);
    gn_greeting_key_down(&a->greeting, "job", 4, 5, x);
    gn_greeting_key_down(&b->greeting, "job", 4, 5, y);
    ck_assert_mem_eq(x, y, sizeof x);
    gn_greeting_key_down(&b->greeting, "job", 5, 4, z);
    ck_assert_mem_ne(x, z, sizeof x);
    gn_greeting_key_down(&b->greeting, "jo", 4, 5, z);
    ck_assert_mem_ne(x, z, sizeof x);
}

START_TEST(the_same_secret)
{
    const gn_greeting_dialect dialect = (gn_greeting_dialect)_i;
    side a = caller_with(&one, dialect, &rank_3), b = callee_with(&one, dialect, 0);
    talk(&a, &b);
    ck_assert_int_eq(a.greeting.step, GN_GREETING_DONE);
    ck_assert_int_eq(b.greeting.step, GN_GREETING_DONE);
    const gn_greeting_who *who = &b.greeting.who;
    ck_assert(who->role == GN_ROLE_RANK && who->rank == 3 && who->size == 5 && who->job == 77 && !who->to);
    ck_assert_str_eq(who->name, "job");
    same_keys(&a, &b);
    gn_greeting_wipe(&a.greeting);
    for (size_t i = 0; i < sizeof a.greeting.session; i++) ck_assert_uint_eq(a.greeting.session[i], 0);
    drop(&a);
    drop(&b);
}
END_TEST

/// Keys are new with every greeting.
START_TEST(another_greeting_has_other_keys)
{
    uint8_t keys[2][GN_DATAGRAM_KEY];
    for (int i = 0; i < 2; i++) {
        side a = caller_with(&one, GN_GREETING_SWITCH, &rank_3), b = callee_with(&one, GN_GREETING_SWITCH, 0);
        talk(&a, &b);
        gn_greeting_key_up(&a.greeting, 0, keys[i]);
        drop(&a);
        drop(&b);
    }
    ck_assert_mem_ne(keys[0], keys[1], sizeof keys[0]);
}
END_TEST

/// A byte at a time: nothing is believed before it is whole, and nothing is lost.
START_TEST(byte_by_byte)
{
    const gn_greeting_dialect dialect = (gn_greeting_dialect)_i;
    side a = caller_with(&one, dialect, &rank_3), b = callee_with(&one, dialect, 0);
    uint8_t bytes[ROOM];
    for (int turn = 0; turn < 3; turn++) {
        side *from = turn % 2 ? &b : &a, *to = turn % 2 ? &a : &b;
        if (!turn) (void)go(from);
        const size_t count = said(from, bytes);
        ck_assert_uint_gt(count, 0);
        for (size_t i = 0; i < count; i++) {
            ck_assert_int_eq(to->greeting.step, GN_GREETING_PENDING);
            tell(to, bytes + i, 1);
            (void)go(to);
        }
    }
    ck_assert_int_eq(a.greeting.step, GN_GREETING_DONE);
    ck_assert_int_eq(b.greeting.step, GN_GREETING_DONE);
    drop(&a);
    drop(&b);
}
END_TEST

/// What cannot be a name on a terminal.
START_TEST(names_are_printable)
{
    uint8_t body[GN_GREETING_CALL];
    gn_greeting_call_body call = {.version = GN_GREETING_VERSION, .who = rank_3}, read;
    gn_greeting_call_write(&call, GN_GREETING_EXCHANGE, body);
    ck_assert(gn_greeting_call_read(body, &read));
    body[17] = '\033';
    ck_assert(!gn_greeting_call_read(body, &read));
    body[17] = 0;  // and something behind its end
    ck_assert(!gn_greeting_call_read(body, &read));
    memset(body + 17, 'x', GN_GREETING_NAME);
    ck_assert(!gn_greeting_call_read(body, &read));
    gn_greeting_call_write(&call, GN_GREETING_EXCHANGE, body);
    body[14] = 0;
    ck_assert(!gn_greeting_call_read(body, &read));
    body[14] = GN_ROLE_PEER + 1;
    ck_assert(!gn_greeting_call_read(body, &read));
}
END_TEST

/// A rank without a secret reads a CALL as a HELLO of version 4: job, rank and size stand there.
START_TEST(what_old_peers_see)
{
    side a = caller_with(&one, GN_GREETING_EXCHANGE, &rank_3);
    uint8_t bytes[ROOM];
    (void)go(&a);
    static const uint8_t hello[] = {'G', 'N', 'C', '1', 1, 0, 97, 0, 4, 77, 0, 0, 0, 0, 0, 0, 0, 3, 0, 5, 0};
    ck_assert_uint_eq(said(&a, bytes), 8 + GN_GREETING_CALL);
    ck_assert_mem_eq(bytes, hello, sizeof hello);
    drop(&a);
    a = caller_with(&one, GN_GREETING_SWITCH, &rank_3);
    (void)go(&a);
    static const uint8_t join[] = {'G', 'N', 'A', 'D', 6, 0, 0, 97};
    ck_assert_uint_eq(said(&a, bytes), 8 + GN_GREETING_CALL);
    ck_assert_mem_eq(bytes, join, sizeof join);
    drop(&a);
    // Where packets are marked, nothing but NaN and infinity travels.
    a = caller_with(&one, GN_GREETING_VALUES, &rank_3);
    (void)go(&a);
    const size_t count = said(&a, bytes);
    ck_assert_uint_eq(count, GN_GREETING_MAX);
    for (size_t i = 0; i < count; i += 4) {
        float value;
        memcpy(&value, bytes + i, sizeof value);
        ck_assert(__builtin_isnan(value) || __builtin_isinf(value));
    }
    drop(&a);
}
END_TEST

/// Codes and keys as docs/secret.md says it, for those who write another one.
START_TEST(as_documented)
{
    side a = caller_with(&one, GN_GREETING_SWITCH, &rank_3), b = callee_with(&one, GN_GREETING_SWITCH, 0);
    uint8_t bytes[ROOM], code[GN_SECRET_MAC], session[GN_SECRET_MAC], key[GN_DATAGRAM_KEY];
    gn_greeting_frame call = {.dialect = GN_GREETING_SWITCH, .type = GN_CALL},
                      challenge = {.dialect = GN_GREETING_SWITCH, .type = GN_CHALLENGE},
                      proof = {.dialect = GN_GREETING_SWITCH, .type = GN_PROOF};
    (void)go(&a);
    size_t count = said(&a, bytes);
    ck_assert_int_eq(gn_greeting_parse(bytes, count, &call), (int)count);
    tell(&b, bytes, count);
    (void)go(&b);
    count = said(&b, bytes);
    ck_assert_int_eq(gn_greeting_parse(bytes, count, &challenge), (int)count);
    tell(&a, bytes, count);
    (void)go(&a);
    count = said(&a, bytes);
    ck_assert_int_eq(gn_greeting_parse(bytes, count, &proof), (int)count);
    ck_assert_mem_eq(challenge.body + 32, epoch, 16);
    gn_secret_mac(one.key, "gradnic greeting 1 callee",
                  (const gn_secret_part[]){{call.body, 97}, {challenge.body, 48}, {0}}, code);
    ck_assert_mem_eq(code, challenge.body + 48, 32);
    gn_secret_mac(one.key, "gradnic greeting 1 caller",
                  (const gn_secret_part[]){{call.body, 97}, {challenge.body, 80}, {0}}, code);
    ck_assert_mem_eq(code, proof.body, 32);
    gn_secret_mac(one.key, "gradnic greeting 1 session",
                  (const gn_secret_part[]){{call.body, 97}, {challenge.body, 80}, {0}}, session);
    gn_secret_mac(session, "gradnic datagrams 1 up", (const gn_secret_part[]){{"\2", 1}, {0}}, code);
    gn_greeting_key_up(&a.greeting, 2, key);
    ck_assert_mem_eq(code, key, sizeof key);
    gn_secret_mac(one.key, "gradnic datagrams 1 down",
                  (const gn_secret_part[]){{epoch, 16}, {"\1\2\3\4", 4}, {"job", 3}, {0}}, code);
    gn_greeting_key_down(&a.greeting, "job", 0x102, 0x304, key);
    ck_assert_mem_eq(code, key, sizeof key);
    drop(&a);
    drop(&b);
}
END_TEST

/// At a door where greetings are wanted: one who says nothing is over after its time, and one who
/// greets is heard.
START_TEST(at_a_door)
{
    gn_lobby lobby;
    gn_greeting door;
    gn_endpoint at = {.ip = {.version = 4, .bytes = {127, 0, 0, 1}}};
    ck_assert_int_eq(gn_lobby_open(&lobby, 4), GN_OK);
    gn_greeting_answer(&door, &one, GN_GREETING_EXCHANGE, 0, NULL);
    int listener = gn_tcp_listen(&at, false, 0);
    gn_lobby_add_door(&lobby, (gn_door){.listener = listener, .in_room = ROOM, .out_room = ROOM, .greeting = &door});
    gn_framed *near = gn_framed_new(gn_tcp_connect(&at, NULL, 0), GN_FRAMED_CONNECTING, ROOM, ROOM);
    gn_framed *mute = gn_framed_new(gn_tcp_connect(&at, NULL, 0), GN_FRAMED_CONNECTING, ROOM, ROOM);
    gn_greeting caller;
    gn_greeting_call(&caller, &one, GN_GREETING_EXCHANGE, &rank_3);
    bool greeted = false;
    const uint64_t until = gn_now() + 10 * GN_SECOND;
    while ((!greeted || caller.step == GN_GREETING_PENDING || lobby.count < 2) && gn_now() < until) {
        struct pollfd set[GN_DOORS_MAX + 4 + 1];
        const unsigned n = gn_lobby_poll(&lobby, set, gn_now());
        set[n] = gn_framed_poll(near);
        (void)poll(set, n + 1, 100);
        gn_lobby_serve(&lobby, set);
        gn_framed_serve(near, set[n].revents);
        if (near->state == GN_FRAMED_OPEN) (void)gn_greeting_advance(&caller, near);
        for (unsigned i = 0; i < lobby.count; i++)
            greeted |= gn_stranger_greet(&lobby.strangers[i]) == GN_GREETING_DONE;
        gn_lobby_accept(&lobby);
    }
    ck_assert_int_eq(caller.step, GN_GREETING_DONE);
    ck_assert(greeted);
    for (unsigned i = 0; i < lobby.count; i++) {
        gn_stranger *s = &lobby.strangers[i];
        const bool done = gn_stranger_greet(s) == GN_GREETING_DONE;
        ck_assert(done == !!(s->greeting->who.rank == 3));
        ck_assert(gn_stranger_is_over(s, gn_now() + GN_LOBBY_PATIENCE + GN_SECOND));
    }
    gn_lobby_close(&lobby);
    gn_close(&listener);
    gn_framed_free(near);
    gn_framed_free(mute);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("greeting");
    TCase *all = tcase_create("greeting");
    tcase_add_loop_test(all, the_same_secret, 0, DIALECTS);
    tcase_add_test(all, another_greeting_has_other_keys);
    tcase_add_loop_test(all, byte_by_byte, 0, DIALECTS);
    tcase_add_test(all, names_are_printable);
    tcase_add_test(all, what_old_peers_see);
    tcase_add_test(all, as_documented);
    tcase_add_test(all, at_a_door);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
