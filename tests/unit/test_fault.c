// SPDX-License-Identifier: Apache-2.0
// When delayed datagrams leave: their order, who overtakes whom, and the mean of the jitter.
#include <math.h>
#include <string.h>

#include "net/fault.h"
#include "suite.h"

enum { MANY = 3000 };

static uint32_t left[2 * MANY];  // numbers of the datagrams that have left
static size_t count;

static void leave(void *context, const void *to, const gn_wire_packet *packets, size_t packet_count)
{
    (void)context, (void)to;
    for (size_t i = 0; i < packet_count; i++) {
        SUITE_CHECK(packets[i].head_bytes == sizeof *left && count < 2 * MANY, "a datagram that is none");
        memcpy(&left[count++], packets[i].head, sizeof *left);
    }
}

static const gn_fault_sink sink = {leave, NULL};

static void begin(void)
{
    count = 0;
}

static void put(gn_fault *fault, uint32_t number, uint64_t now)
{
    const gn_wire_packet packet = {.head = (const uint8_t *)&number, .head_bytes = sizeof number};
    gn_fault_send(fault, &sink, NULL, &packet, 1, now);
}

static void have_left(const uint32_t *expected, size_t expected_count)
{
    ck_assert_uint_eq(count, expected_count);
    ck_assert_mem_eq(left, expected, expected_count * sizeof *expected);
}

// Many that are due at one instant leave in the order they came.
START_TEST(equal_times_keep_their_order)
{
    gn_fault *fault = gn_fault_new(&(gn_fault_config){.delay_ns = 1000});
    for (uint32_t i = 0; i < MANY; i++) put(fault, i, 5000);
    ck_assert_uint_eq(gn_fault_release(fault, &sink, 5999), 1);
    ck_assert_uint_eq(count, 0);
    ck_assert_uint_eq(gn_fault_release(fault, &sink, 6000), UINT64_MAX);
    ck_assert_uint_eq(count, MANY);
    for (uint32_t i = 0; i < MANY; i++) ck_assert_uint_eq(left[i], i);
    gn_fault_free(fault);
}
END_TEST

// A reordered one leaves so much later, and those that come meanwhile overtake it.
START_TEST(reordered_ones_are_overtaken)
{
    static const uint32_t without_delay[] = {1, 2, 0, 3}, with_delay[] = {1, 0, 2};
    gn_fault *fault = gn_fault_new(&(gn_fault_config){.reorder = 1, .reorder_ns = 1000});
    put(fault, 0, 0);
    ck_assert_uint_eq(gn_fault_get_counters(fault)->reordered, 1);
    gn_fault_set(fault, &(gn_fault_config){0});  // what waits keeps its time
    ck_assert_uint_eq(gn_fault_release(fault, &sink, 400), 600);
    put(fault, 1, 400);
    put(fault, 2, 999);
    ck_assert_uint_eq(gn_fault_release(fault, &sink, 1000), UINT64_MAX);
    put(fault, 3, 1000);
    have_left(without_delay, 4);

    count = 0;
    gn_fault_set(fault, &(gn_fault_config){.reorder = 1, .reorder_ns = 1000, .delay_ns = 500});
    put(fault, 0, 2000);  // due at 3500
    gn_fault_set(fault, &(gn_fault_config){.delay_ns = 500});
    put(fault, 1, 2999);  // due at 3499
    put(fault, 2, 3001);  // due at 3501
    ck_assert_uint_eq(gn_fault_release(fault, &sink, 4000), UINT64_MAX);
    have_left(with_delay, 3);
    gn_fault_free(fault);
}
END_TEST

// Jitter alone: half of them have no delay at all, and still none leaves ahead of its turn.
START_TEST(jitter_sorts_by_time)
{
    uint32_t expected[MANY], at = 0;
    uint64_t due[MANY];
    gn_fault *fault = gn_fault_new(&(gn_fault_config){.seed = 5, .jitter_ns = 1000});
    for (uint32_t i = 0; i < MANY; i++) {  // what each one's time is, one by one
        put(fault, i, 0);
        due[i] = gn_fault_release(fault, &sink, 0);
        if (due[i] == UINT64_MAX)
            due[i] = 0;
        else
            (void)gn_fault_release(fault, &sink, UINT64_MAX);
        due[i] += 10 * (uint64_t)i;
    }
    for (uint64_t now = 0; at < MANY; now++)
        for (uint32_t i = 0; i < MANY && 10 * (uint64_t)i <= now; i++)
            if (due[i] == now) expected[at++] = i;
    count = 0;
    gn_fault_set(fault, gn_fault_get(fault));  // the seed begins anew
    for (uint32_t i = 0; i < MANY; i++) put(fault, i, 10 * (uint64_t)i);
    ck_assert_uint_eq(count, 0);
    for (uint64_t now = 0; gn_fault_release(fault, &sink, now) != UINT64_MAX; now++) continue;
    have_left(expected, MANY);
    gn_fault_free(fault);
}
END_TEST

// A delay of 1000 +- 800 is 1000 in the mean, lies between 200 and 1800, and comes close to both.
START_TEST(the_mean_of_jitter_is_the_delay)
{
    double sum = 0, least = INFINITY, most = 0;
    gn_fault *fault = gn_fault_new(&(gn_fault_config){.seed = 9, .delay_ns = 1000000, .jitter_ns = 800000});
    for (uint32_t i = 0; i < MANY; i++) {
        put(fault, i, 0);
        const double delay = (double)gn_fault_release(fault, &sink, 0);
        (void)gn_fault_release(fault, &sink, UINT64_MAX);
        sum += delay;
        if (delay < least) least = delay;
        if (delay > most) most = delay;
    }
    // Uniform: the standard deviation is 800 / sqrt(3). Within five of the mean's.
    ck_assert_double_le(fabs(sum / MANY - 1e6), 5 * 8e5 / sqrt(3) / sqrt(MANY));
    ck_assert_double_ge(least, 2e5);
    ck_assert_double_le(least, 2.1e5);
    ck_assert_double_le(most, 1.8e6);
    ck_assert_double_ge(most, 1.79e6);
    gn_fault_free(fault);
}
END_TEST

// Settings that are good again do not let what comes after wait for what waits.
START_TEST(a_shorter_delay_overtakes_a_longer_one)
{
    static const uint32_t expected[] = {1, 2, 0};
    gn_fault *fault = gn_fault_new(&(gn_fault_config){.delay_ns = 1000});
    ck_assert(gn_fault_active(fault));
    put(fault, 0, 0);
    gn_fault_set(fault, &(gn_fault_config){.delay_ns = 100});
    put(fault, 1, 0);
    ck_assert_uint_eq(gn_fault_release(fault, &sink, 100), 900);
    gn_fault_set(fault, &(gn_fault_config){0});
    ck_assert(!gn_fault_active(fault));
    put(fault, 2, 100);
    ck_assert_uint_eq(gn_fault_release(fault, &sink, 999), 1);
    ck_assert_uint_eq(gn_fault_release(fault, &sink, 1000), UINT64_MAX);
    have_left(expected, 3);
    gn_fault_free(fault);
}
END_TEST

int main(void)
{
    return RUN_SUITE("fault", begin, NULL, equal_times_keep_their_order, reordered_ones_are_overtaken,
                     jitter_sorts_by_time, the_mean_of_jitter_is_the_delay, a_shorter_delay_overtakes_a_longer_one);
}
