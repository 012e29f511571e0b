// SPDX-License-Identifier: Apache-2.0
// A greeting with somebody who does not have the secret, has heard another greeting, or changes
// what is said. Each is refused, and the message says why.
#include <string.h>

#include "greeting_sides.h"
#include "suite.h"

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

int main(void)
{
    Suite *suite = suite_create("greeting, false");
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, another_secret, 0, DIALECTS);
    tcase_add_test(all, only_one_has_a_secret);
    tcase_add_test(all, replayed);
    tcase_add_test(all, reflected);
    tcase_add_loop_test(all, a_turned_bit, 0, DIALECTS);
    tcase_add_test(all, another_place);
    tcase_add_test(all, a_later_version);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
