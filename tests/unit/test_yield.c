// SPDX-License-Identifier: Apache-2.0
// gn_yield() beside programs that compute and without them. Clock and sched_yield() are the test's
// own (--wrap).
#include "net/yield.h"

#include "net/clock.h"
#include "suite.h"

static uint64_t now = GN_SECOND, slice;
static unsigned yields;

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_sched_yield(void);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    *time = gn_timespec(now);
    return 0;
}

int __wrap_sched_yield(void)
{
    yields++;
    now += slice;
    return 0;
}

/// Time goes on, 100 us a call, until a yield has been long. @return nanoseconds that passed
static uint64_t time_to_long_yield(void)
{
    const uint64_t begun = now;
    const unsigned before = yields;
    while (yields == before) {
        now += GN_MILLISECOND / 10;
        ck_assert(!gn_yield());
    }
    return now - begun - slice;
}

START_TEST(test_short_yields_pay)
{
    slice = GN_MILLISECOND / 2;
    for (unsigned i = 0; i < 5000; i++) ck_assert(gn_yield());
    ck_assert_uint_eq(yields, 5000);
}
END_TEST

START_TEST(test_a_long_yield_is_followed_by_a_rest)
{
    slice = 4 * GN_MILLISECOND;
    ck_assert(!gn_yield());
    ck_assert_uint_eq(yields, 1);
    ck_assert(!gn_yield());
    now += GN_MILLISECOND;
    ck_assert(!gn_yield());
    ck_assert_uint_eq(yields, 1);
    slice = 0;
    now += 20 * GN_MILLISECOND;
    ck_assert(gn_yield());
    ck_assert_uint_eq(yields, 2);
}
END_TEST

START_TEST(test_rests_grow_while_the_host_is_busy)
{
    slice = 4 * GN_MILLISECOND;
    uint64_t rest = time_to_long_yield();
    for (unsigned i = 0; i < 8; i++) {
        const uint64_t next = time_to_long_yield();
        ck_assert_uint_gt(next, rest + rest / 2);
        rest = next;
    }
    // at most a hundredth of the time goes to yields then, and what has changed is seen in 2 s
    for (unsigned i = 0; i < 3; i++) {
        rest = time_to_long_yield();
        ck_assert_uint_gt(rest, 100 * slice);
        ck_assert_uint_lt(rest, 2 * GN_SECOND);
    }
    // idle again
    now += rest;
    slice = 0;
    for (unsigned i = 0; i < 2000; i++) ck_assert(gn_yield());
    slice = 4 * GN_MILLISECOND;
    ck_assert(!gn_yield());
    ck_assert_uint_lt(time_to_long_yield(), 20 * GN_MILLISECOND);
}
END_TEST

int main(void)
{
    return RUN_TESTS("yield", test_short_yields_pay, test_a_long_yield_is_followed_by_a_rest,
                     test_rests_grow_while_the_host_is_busy);
}
