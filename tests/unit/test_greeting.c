// SPDX-License-Identifier: Apache-2.0
// The greeting by which both sides of a connection prove that they have the secret.
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/clock.h"
#include "net/greeting.h"
#include "net/lobby.h"
#include "net/tcp.h"
#include "suite.h"

enum { DIALECTS = GN_GREETING_SWITCH + 1, ROOM = 512 };

static const gn_secret none, one = {.set = true, .key = {1}}, two = {.set = true, .key = {2}};
static const uint8_t epoch[GN_GREETING_EPOCH] = {7};
static const gn_greeting_who rank_3 = {.role = GN_ROLE_RANK, .rank = 3, .size = 5, .job = 77, .name = "job"};

/// Two ends of a connection. `say` and `hear` are what goes over it, in the hands of an attacker.
typedef struct side {
    gn_greeting greeting;
    gn_framed *connection;
    int far;
} side;

static side make(void)
{
    int ends[2];
    ck_assert(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends));
    return (side){.connection = gn_framed_new(ends[0], GN_FRAMED_OPEN, ROOM, ROOM), .far = ends[1]};
}

static side caller_with(const gn_secret *secret, gn_greeting_dialect dialect, const gn_greeting_who *who)
{
    side s = make();
    gn_greeting_call(&s.greeting, secret, dialect, who);
    return s;
}

static side callee_with(const gn_secret *secret, gn_greeting_dialect dialect, uint16_t own)
{
    side s = make();
    gn_greeting_answer(&s.greeting, secret, dialect, own, epoch);
    return s;
}

static void drop(side *s)
{
    gn_framed_free(s->connection);
    close(s->far);
}

static gn_greeting_step go(side *s)
{
    (void)gn_framed_fill(s->connection);
    return gn_greeting_advance(&s->greeting, s->connection);
}

/// What a side has said since.
static size_t said(const side *s, uint8_t bytes[ROOM])
{
    const ssize_t got = recv(s->far, bytes, ROOM, MSG_DONTWAIT);
    return got < 0 ? 0 : (size_t)got;
}

static void tell(const side *s, const uint8_t *bytes, size_t count)
{
    ck_assert_int_eq(send(s->far, bytes, count, 0), (ssize_t)count);
}

/// Carries what one has said to the other. @return how much that was
static size_t carry(const side *from, const side *to)
{
    uint8_t bytes[ROOM];
    const size_t count = said(from, bytes);
    if (count) tell(to, bytes, count);
    return count;
}

/// Both speak until neither has anything to say.
static void talk(side *a, side *b)
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

static void fails(const side *s, gn_greeting_fault fault, const char *words)
{
    char text[GN_GREETING_WHY];
    ck_assert_int_eq(s->greeting.step, GN_GREETING_FAILED);
    ck_assert_int_eq(s->greeting.fault, fault);
    ck_assert_str_eq(gn_greeting_why(&s->greeting, "this", "that", text), words);
}

START_TEST(another_secret)
{
    const gn_greeting_dialect dialect = (gn_greeting_dialect)_i;
    side a = caller_with(&one, dialect, &rank_3), b = callee_with(&two, dialect, 0);
    static const char words[] =
        "that does not have the shared secret of this: all need the same file (--secret, GRADNIC_SECRET_FILE)";
    talk(&a, &b);
    fails(&a, GN_GREETING_OTHER, words);
    fails(&b, GN_GREETING_OTHER, words);
    drop(&a);
    drop(&b);
}
END_TEST

START_TEST(only_one_has_a_secret)
{
    // The caller has none, and says what it says without.
    static const uint8_t hello[] = "GNC1\1\0\0\0something";
    side b = callee_with(&one, GN_GREETING_EXCHANGE, 0);
    tell(&b, hello, sizeof hello);
    (void)go(&b);
    fails(&b, GN_GREETING_NONE_THERE,
          "this has a shared secret, and that has shown none: give all the same --secret FILE (GRADNIC_SECRET_FILE), "
          "or none");
    drop(&b);
    side a = caller_with(&none, GN_GREETING_EXCHANGE, &rank_3);
    ck_assert_int_eq(go(&a), GN_GREETING_DONE);
    uint8_t bytes[ROOM];
    ck_assert_uint_eq(said(&a, bytes), 0);
    drop(&a);
    // The callee has none. It tells a greeting from what others say.
    for (gn_greeting_dialect dialect = 0; dialect <= GN_GREETING_SWITCH; dialect++) {
        if (dialect == GN_GREETING_VALUES) continue;
        a = caller_with(&one, dialect, &rank_3);
        b = callee_with(&none, dialect, 0);
        talk(&a, &b);
        fails(&b, GN_GREETING_NONE_HERE,
              "that has a shared secret, and this has none: give all the same --secret FILE (GRADNIC_SECRET_FILE), or "
              "none");
        drop(&b);
        b = callee_with(&none, dialect, 0);
        tell(&b, hello, 4);
        (void)go(&b);
        tell(&b, hello + 4, sizeof hello - 4);
        ck_assert_int_eq(go(&b), GN_GREETING_DONE);
        const uint8_t *rest;
        ck_assert_uint_eq(gn_framed_rest(b.connection, &rest), sizeof hello);  // the owner's to take
        drop(&b);
        // What it answers is the caller's owner's to take.
        tell(&a, hello, sizeof hello);
        (void)go(&a);
        ck_assert_int_eq(a.greeting.fault, GN_GREETING_NONE_THERE);
        ck_assert_uint_eq(gn_framed_rest(a.connection, &rest), sizeof hello);
        drop(&a);
    }
}
END_TEST

/// A stranger that has heard a greeting says it again.
START_TEST(replayed)
{
    side a = caller_with(&one, GN_GREETING_EXCHANGE, &rank_3), b = callee_with(&one, GN_GREETING_EXCHANGE, 0);
    uint8_t call[ROOM], challenge[ROOM], proof[ROOM];
    (void)go(&a);
    const size_t calls = said(&a, call);
    tell(&b, call, calls);
    (void)go(&b);
    const size_t challenges = said(&b, challenge);
    tell(&a, challenge, challenges);
    ck_assert_int_eq(go(&a), GN_GREETING_DONE);
    const size_t proofs = said(&a, proof);
    drop(&a);
    drop(&b);
    // To a callee, as the caller.
    b = callee_with(&one, GN_GREETING_EXCHANGE, 0);
    tell(&b, call, calls);
    tell(&b, proof, proofs);
    (void)go(&b);
    ck_assert_int_eq(b.greeting.fault, GN_GREETING_OTHER);
    drop(&b);
    // To a caller, as the callee.
    a = caller_with(&one, GN_GREETING_EXCHANGE, &rank_3);
    (void)go(&a);
    tell(&a, challenge, challenges);
    (void)go(&a);
    ck_assert_int_eq(a.greeting.fault, GN_GREETING_OTHER);
    drop(&a);
}
END_TEST

/// A stranger sends everything back to where it came from.
START_TEST(reflected)
{
    uint8_t bytes[ROOM];
    side a = caller_with(&one, GN_GREETING_EXCHANGE, &rank_3);
    (void)go(&a);
    tell(&a, bytes, said(&a, bytes));
    (void)go(&a);
    ck_assert_int_eq(a.greeting.fault, GN_GREETING_NONE_THERE);
    drop(&a);
    // The code of CHALLENGE as that of PROOF.
    a = caller_with(&one, GN_GREETING_EXCHANGE, &rank_3);
    side b = callee_with(&one, GN_GREETING_EXCHANGE, 0);
    (void)go(&a);
    (void)carry(&a, &b);
    (void)go(&b);
    const size_t count = said(&b, bytes);
    gn_greeting_frame challenge = {.type = GN_CHALLENGE}, proof = {.type = GN_PROOF};
    ck_assert_int_eq(gn_greeting_parse(bytes, count, &challenge), (int)count);
    memcpy(proof.body, challenge.body + GN_GREETING_NONCE + GN_GREETING_EPOCH, GN_GREETING_PROOF);
    tell(&b, bytes, gn_greeting_write(&proof, bytes));
    (void)go(&b);
    ck_assert_int_eq(b.greeting.fault, GN_GREETING_OTHER);
    drop(&a);
    drop(&b);
    // A rank that calls and is called: its own call comes to its own door.
    gn_greeting_who right = rank_3;
    right.to = 4;
    a = caller_with(&one, GN_GREETING_EXCHANGE, &right);
    b = callee_with(&one, GN_GREETING_EXCHANGE, 3);
    talk(&a, &b);
    fails(&b, GN_GREETING_ELSEWHERE, "that looks for rank 4 of another group, and not for this");
    drop(&a);
    drop(&b);
}
END_TEST

/// Somebody in the middle turns a bit, in any byte of any frame. Nobody believes what was said.
START_TEST(a_turned_bit)
{
    const gn_greeting_dialect dialect = (gn_greeting_dialect)_i;
    for (int frame = 0; frame < 3; frame++) {
        for (size_t at = 0;; at++) {
            side a = caller_with(&one, dialect, &rank_3), b = callee_with(&one, dialect, 0);
            size_t count = 0;
            for (int turn = 0; turn <= frame; turn++) {
                side *from = turn % 2 ? &b : &a, *to = turn % 2 ? &a : &b;
                uint8_t bytes[ROOM];
                if (!turn) (void)go(from);
                count = said(from, bytes);
                if (turn == frame && at < count) bytes[at] ^= (uint8_t)(1 << at % 8);
                tell(to, bytes, count);
                (void)go(to);
            }
            if (frame < 2) talk(&a, &b);
            const bool padding = dialect == GN_GREETING_VALUES && at + 4 >= count;  // carries nothing
            const bool both = a.greeting.step == GN_GREETING_DONE && b.greeting.step == GN_GREETING_DONE;
            ck_assert_msg(!both || padding || at >= count, "frame %d, byte %zu", frame, at);
            drop(&a);
            drop(&b);
            if (at >= count) break;
        }
    }
}
END_TEST

/// Another rank, size, role or job than the caller has said: the code does not fit.
START_TEST(another_place)
{
    for (int field = 0; field < 5; field++) {
        side a = caller_with(&one, GN_GREETING_SWITCH, &rank_3), b = callee_with(&one, GN_GREETING_SWITCH, 0);
        uint8_t bytes[ROOM];
        gn_greeting_frame frame = {.dialect = GN_GREETING_SWITCH, .type = GN_CALL};
        gn_greeting_call_body call;
        (void)go(&a);
        ck_assert_int_gt(gn_greeting_parse(bytes, said(&a, bytes), &frame), 0);
        ck_assert(gn_greeting_call_read(frame.body, &call));
        if (field == 0) call.who.rank = 4;
        if (field == 1) call.who.size = 6;
        if (field == 2) call.who.role = GN_ROLE_OOB;
        if (field == 3) call.who.job = 78;
        if (field == 4) strcpy(call.who.name, "another");
        gn_greeting_call_write(&call, GN_GREETING_SWITCH, frame.body);
        tell(&b, bytes, gn_greeting_write(&frame, bytes));
        (void)go(&b);
        talk(&a, &b);
        ck_assert_int_eq(a.greeting.fault, GN_GREETING_OTHER);
        ck_assert_int_eq(b.greeting.fault, GN_GREETING_OTHER);
        drop(&a);
        drop(&b);
    }
}
END_TEST

START_TEST(a_later_version)
{
    side b = callee_with(&one, GN_GREETING_SWITCH, GN_GREETING_ANYBODY);
    gn_greeting_frame frame = {.dialect = GN_GREETING_SWITCH, .type = GN_CALL};
    const gn_greeting_call_body call = {.version = 9, .who = rank_3};
    uint8_t bytes[ROOM];
    gn_greeting_call_write(&call, GN_GREETING_SWITCH, frame.body);
    tell(&b, bytes, gn_greeting_write(&frame, bytes));
    (void)go(&b);
    fails(&b, GN_GREETING_LATER, "that speaks version 9 of the greeting, and this version 1");
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
    body[14] = GN_ROLE_CHILD + 3;
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
    tcase_add_loop_test(all, another_secret, 0, DIALECTS);
    tcase_add_test(all, only_one_has_a_secret);
    tcase_add_test(all, replayed);
    tcase_add_test(all, reflected);
    tcase_add_loop_test(all, a_turned_bit, 0, DIALECTS);
    tcase_add_test(all, another_place);
    tcase_add_test(all, a_later_version);
    tcase_add_test(all, names_are_printable);
    tcase_add_test(all, what_old_peers_see);
    tcase_add_test(all, as_documented);
    tcase_add_test(all, at_a_door);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
