// SPDX-License-Identifier: Apache-2.0
// The timeout of retransmissions: what it follows.
#include "suite.h"
#include "switch/rtt.h"

enum { MS = 1000000 };

START_TEST(follows_what_is_measured)
{
    gn_rtt rtt = gn_rtt_new(1 * MS, 1000 * MS);
    ck_assert_int_eq(gn_rtt_timeout(&rtt, 0, false), 50 * MS);  // nothing known
    int64_t now = 0;
    for (int i = 0; i < 200; i++) gn_rtt_measure(&rtt, now += 21 * MS, 20 * MS);
    ck_assert(gn_rtt_timeout(&rtt, 0, false) >= 20 * MS && gn_rtt_timeout(&rtt, 0, false) < 21 * MS);
    ck_assert(gn_rtt_timeout(&rtt, 2, false) >= 80 * MS && gn_rtt_timeout(&rtt, 2, false) < 84 * MS);
    ck_assert_int_eq(gn_rtt_timeout(&rtt, 20, false), 1000 * MS);
    for (int i = 0; i < 200; i++) gn_rtt_measure(&rtt, now += 21 * MS, MS / 100);
    ck_assert_int_eq(gn_rtt_timeout(&rtt, 0, false), 1 * MS);
    ck_assert_int_eq(gn_rtt_timeout(&rtt, 1, true), 20 * MS);  // the first of a vector
}
END_TEST

// RFC 6298: a smoothed time S and its variation V, S + 4 V in all. By hand: first S = 20, V = 10.
// Then 28 ms come: V = 10 + (8 - 10) / 4, S = 20 + 8 / 8. Then 13: V = 9.5 + (8 - 9.5) / 4, S = 20.
START_TEST(by_hand)
{
    gn_rtt rtt = gn_rtt_new(1 * MS, 1000 * MS);
    gn_rtt_measure(&rtt, 100 * MS, 20 * MS);
    ck_assert_int_eq(gn_rtt_timeout(&rtt, 0, false), 60 * MS);
    gn_rtt_measure(&rtt, 130 * MS, 28 * MS);
    ck_assert_int_eq(gn_rtt_timeout(&rtt, 0, false), 59 * MS);
    gn_rtt_measure(&rtt, 160 * MS, 13 * MS);
    ck_assert_int_eq(gn_rtt_timeout(&rtt, 0, false), 56500000);
    ck_assert_int_eq(gn_rtt_timeout(&rtt, 1, false), 113 * MS);
}
END_TEST

// Windows of 128 answers. Every fourth window comes late. The quick windows between do not make the
// timeout forget it.
START_TEST(windows_count_once)
{
    gn_rtt rtt = gn_rtt_new(1 * MS, 1000 * MS);
    int64_t now = 0;
    for (int window = 0; window < 200; window++) {
        const int64_t took = window % 4 ? MS / 10 : 20 * MS;
        now += took + 1;
        for (int i = 0; i < 128; i++) {
            if (window > 20) ck_assert_int_gt(gn_rtt_timeout(&rtt, 0, false), 2 * MS);
            gn_rtt_measure(&rtt, now, took);
        }
    }
}
END_TEST

int main(void)
{
    return RUN_SUITE("rtt", NULL, NULL, follows_what_is_measured, by_hand, windows_count_once);
}
