// SPDX-License-Identifier: Apache-2.0
// The timeout of retransmissions: what it follows, and that it gets out of answers that all come too late.
#include "suite.h"
#include "switch/rtt.h"

enum { MS = 1000000 };

START_TEST(follows_what_is_measured)
{
    gn_rtt rtt = gn_rtt_new(1 * MS, 1000 * MS);
    ck_assert_int_eq(gn_rtt_timeout(&rtt, 0), 1 * MS);  // nothing known
    for (int i = 0; i < 200; i++) gn_rtt_measure(&rtt, 20 * MS);
    ck_assert(gn_rtt_timeout(&rtt, 0) >= 20 * MS && gn_rtt_timeout(&rtt, 0) < 21 * MS);
    ck_assert(gn_rtt_timeout(&rtt, 2) >= 80 * MS && gn_rtt_timeout(&rtt, 2) < 84 * MS);
    ck_assert_int_eq(gn_rtt_timeout(&rtt, 20), 1000 * MS);
    for (int i = 0; i < 200; i++) gn_rtt_measure(&rtt, MS / 100);
    ck_assert_int_eq(gn_rtt_timeout(&rtt, 0), 1 * MS);
}
END_TEST

START_TEST(failure_is_for_all_until_something_is_measured)
{
    gn_rtt rtt = gn_rtt_new(1 * MS, 1000 * MS);
    for (int i = 0; i < 100; i++) gn_rtt_fail(&rtt, 1 * MS);  // all of a window at a time
    ck_assert_int_eq(gn_rtt_timeout(&rtt, 0), 2 * MS);
    ck_assert_int_eq(gn_rtt_timeout(&rtt, 1), 2 * MS);
    ck_assert_int_eq(gn_rtt_timeout(&rtt, 4), 16 * MS);
    for (int64_t wait = 2 * MS; wait < 1000 * MS; wait = gn_rtt_timeout(&rtt, 0)) gn_rtt_fail(&rtt, wait);
    for (int i = 0; i < 100; i++) gn_rtt_fail(&rtt, 1000 * MS);
    ck_assert_int_eq(gn_rtt_timeout(&rtt, 0), 1000 * MS);
    gn_rtt_measure(&rtt, MS / 100);
    ck_assert_int_eq(gn_rtt_timeout(&rtt, 0), 1 * MS);
}
END_TEST

// Packets one after the other, whose answers suddenly take 30 times the timeout. Only those that were sent once are measured.
START_TEST(slower_answers_are_learnt)
{
    gn_rtt rtt = gn_rtt_new(1 * MS, 1000 * MS);
    unsigned resent = 0;
    for (int i = 0; i < 100; i++) gn_rtt_measure(&rtt, MS / 10);
    for (int packet = 0; packet < 100; packet++) {
        unsigned attempts = 0;
        int64_t wait = gn_rtt_timeout(&rtt, 0);
        for (int64_t waited = wait; waited < 30 * MS; waited += wait) {
            gn_rtt_fail(&rtt, wait);
            wait = gn_rtt_timeout(&rtt, ++attempts);
        }
        resent += attempts;
        if (!attempts) gn_rtt_measure(&rtt, 30 * MS);
    }
    ck_assert_uint_le(resent, 10);
}
END_TEST

int main(void)
{
    return RUN_SUITE("rtt", NULL, NULL, follows_what_is_measured, failure_is_for_all_until_something_is_measured,
                     slower_answers_are_learnt);
}
