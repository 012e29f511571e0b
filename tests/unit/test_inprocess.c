// SPDX-License-Identifier: Apache-2.0
// The NIC within a worker: what it does to values, what it counts, and how long its link takes. Its
// clock is the test's own (--wrap), so a link of any rate costs no time.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "examples/train/inprocess.h"
#include "suite.h"

enum { COUNT = 50000, HEADERS = 52, QUEUE_BYTES = 1 << 17 };

static uint64_t now_ns;

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    ck_assert_int_eq(clock, CLOCK_MONOTONIC);
    *now = (struct timespec){(time_t)(now_ns / 1000000000), (long)(now_ns % 1000000000)};
    return 0;
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left)
{
    (void)left;
    ck_assert(clock == CLOCK_MONOTONIC && flags == TIMER_ABSTIME);
    const uint64_t wanted = (uint64_t)until->tv_sec * 1000000000u + (uint64_t)until->tv_nsec;
    if (wanted > now_ns) now_ns = wanted;
    return 0;
}

static float values[COUNT], sent[COUNT];
static gn_train_settings settings;
static gn_in_process *nic;

static void setup(void)
{
    now_ns = 77000000000u;
    settings = gn_train_settings_default();
    settings.mtu = 1500;
    settings.link_bits = 0;
    for (int i = 0; i < COUNT; i++) values[i] = sent[i] = sinf((float)i) / 50;
}

static void teardown(void)
{
    gn_in_process_free(nic);
}

static void begin(int rank, int size)
{
    gn_train_error error;
    ck_assert_int_eq(gn_in_process_new(&nic, &settings, &error), GN_OK);
    gn_in_process_connect(nic, &settings, rank, size);
}

START_TEST(exact_without_compression)
{
    begin(0, 2);
    gn_in_process_wire(nic, values, COUNT);
    ck_assert_mem_eq(values, sent, sizeof sent);
    const gn_in_process_stats stats = gn_in_process_get_stats(nic);
    ck_assert_uint_eq(stats.lost, 0);
    ck_assert_uint_eq(stats.payload_bytes, sizeof sent);
    ck_assert_uint_eq(stats.wire_payload_bytes, sizeof sent);
    ck_assert_uint_ge(stats.packets, (sizeof sent + 1500 - HEADERS - 1) / (1500 - HEADERS));
    ck_assert_uint_eq(stats.wire_bytes, sizeof sent + stats.packets * HEADERS);
    ck_assert_uint_eq(now_ns, 77000000000u);  // no link: no time
}
END_TEST

/// Any type of service does, because both ends know it.
START_TEST(compressed_within_the_bound)
{
    static const int tos[] = {GN_TOS_AUTO, 0x28, 0x48};
    settings.comm.quantise = true;
    settings.comm.data_tos = tos[_i];
    begin(0, 2);
    gn_in_process_wire(nic, values, COUNT);
    float worst = 0;
    for (int i = 0; i < COUNT; i++) worst = fmaxf(worst, fabsf(values[i] - sent[i]));
    ck_assert(worst > 0 && worst <= ldexpf(1, -settings.comm.codec.bound_exp));
    const gn_in_process_stats stats = gn_in_process_get_stats(nic);
    ck_assert_uint_eq(stats.lost, 0);
    ck_assert_uint_eq(stats.payload_bytes, sizeof sent);
    ck_assert_uint_lt(stats.wire_payload_bytes, sizeof sent / 3);
    ck_assert_uint_eq(stats.wire_bytes, stats.wire_payload_bytes + stats.packets * HEADERS);
}
END_TEST

/// Time that the link needs, less what its queue holds, to a packet.
static void took(uint64_t before, uint64_t bits_per_second, uint64_t bytes)
{
    const double expected = (double)(bytes - QUEUE_BYTES) * 8e9 / (double)bits_per_second,
                 packet = 1500 * 8e9 / (double)bits_per_second;
    ck_assert_double_eq_tol((double)(now_ns - before), expected, packet);
}

START_TEST(the_link_takes_its_time)
{
    settings.link_bits = 100000000;
    begin(1, 3);
    uint64_t before = now_ns;
    for (int i = 0; i < 5; i++) gn_in_process_wire(nic, values, COUNT);
    took(before, 100000000, gn_in_process_get_stats(nic).wire_bytes);
    now_ns += 5000000000;  // idle meanwhile: no credit from that
    before = now_ns;
    const gn_in_process_stats first = gn_in_process_get_stats(nic);
    for (int i = 0; i < 3; i++) gn_in_process_wire_plain(nic, 1000001);
    const gn_in_process_stats both = gn_in_process_get_stats(nic);
    took(before, 100000000, both.wire_bytes - first.wire_bytes);
    ck_assert_uint_eq(both.payload_bytes - first.payload_bytes, 3000003);
    ck_assert_uint_eq(both.wire_payload_bytes - first.wire_payload_bytes, 3000003);
    ck_assert_uint_eq(both.wire_bytes - first.wire_bytes, 3000003 + HEADERS * (both.packets - first.packets));
    // What fits into the queue is not waited for.
    now_ns += 5000000000;
    before = now_ns;
    gn_in_process_wire_plain(nic, 100000);
    ck_assert_uint_eq(now_ns, before);
}
END_TEST

/// The aggregator's one link is shared by the workers.
START_TEST(a_part_of_the_link)
{
    settings.link_bits = 100000000;
    settings.comm.algorithm = GN_WORKER_AGGREGATOR;
    begin(1, 5);
    const uint64_t before = now_ns;
    gn_in_process_wire_plain(nic, 4000000);
    took(before, 25000000, gn_in_process_get_stats(nic).wire_bytes);
    gn_in_process_free(nic);
    begin(0, 5);
    const uint64_t again = now_ns;
    gn_in_process_wire_plain(nic, 4000000);
    took(again, 100000000, gn_in_process_get_stats(nic).wire_bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("in-process NIC");
    TCase *tcase = tcase_create("in-process NIC");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, exact_without_compression);
    tcase_add_loop_test(tcase, compressed_within_the_bound, 0, 3);
    tcase_add_test(tcase, the_link_takes_its_time);
    tcase_add_test(tcase, a_part_of_the_link);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
