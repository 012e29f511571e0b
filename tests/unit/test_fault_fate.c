// SPDX-License-Identifier: Apache-2.0
// What becomes of datagrams on a bad link: how many are lost, doubled and delayed, what is counted,
// and that those which leave are as they came.
#include <string.h>

#include "net/fault.h"
#include "suite.h"

enum { MANY = 20000 };

typedef struct arrivals {
    size_t packets, bytes, calls, most;
    uint32_t hash;
    uint64_t sum;  ///< of what the datagrams begin with
    const void *to;
} arrivals;

static arrivals got;
static const int place;

static void leave(void *context, const void *to, const gn_wire_packet *packets, size_t count)
{
    arrivals *a = context;
    a->calls++;
    a->to = to;
    if (count > a->most) a->most = count;
    for (size_t i = 0; i < count; i++) {
        uint32_t number = 0;
        memcpy(&number, packets[i].head, sizeof number);
        a->packets++;
        a->bytes += gn_wire_packet_bytes(&packets[i]);
        a->sum += number;
        a->hash = a->hash * 31 + number;
        for (uint32_t k = 0; k < packets[i].head_bytes; k++) a->hash = a->hash * 31 + packets[i].head[k];
        for (uint32_t k = 0; k < packets[i].body_bytes; k++) a->hash = a->hash * 31 + packets[i].body[k];
    }
}

static const gn_fault_sink sink = {leave, &got};

/// Sends so many at once. The n-th one begins with n, and has a body of 3 bytes.
static void put(gn_fault *fault, uint32_t count, uint64_t now)
{
    static uint32_t head[MANY];
    static gn_wire_packet packet[MANY];
    for (uint32_t i = 0; i < count; i++) {
        head[i] = i;
        packet[i] = (gn_wire_packet){
            .head = (const uint8_t *)&head[i], .head_bytes = 4, .body = (const uint8_t *)"abc", .body_bytes = 3};
    }
    gn_fault_send(fault, &sink, &place, packet, count, now);
}

static void begin(void)
{
    got = (arrivals){0};
}

START_TEST(a_good_link_changes_nothing)
{
    gn_fault *fault = gn_fault_new(&(gn_fault_config){.seed = 1});
    ck_assert(!gn_fault_active(fault));
    put(fault, 1000, 0);
    ck_assert_uint_eq(got.packets, 1000);
    ck_assert_uint_eq(got.bytes, 7000);
    ck_assert_uint_eq(got.sum, 999 * 1000 / 2);
    ck_assert_ptr_eq(got.to, &place);
    ck_assert_uint_eq(got.calls, 4);  // many at a time
    ck_assert_uint_eq(got.most, 256);
    ck_assert_uint_eq(gn_fault_release(fault, &sink, 0), UINT64_MAX);
    const gn_fault_counters *c = gn_fault_get_counters(fault);
    ck_assert_uint_eq(c->lost + c->duplicated + c->reordered + c->delayed + c->overflow, 0);
    begin();
    put(fault, 256, 0);
    ck_assert_uint_eq(got.calls, 1);
    begin();
    put(fault, 0, 0);
    ck_assert_uint_eq(got.calls, 0);
    gn_fault_free(fault);
    gn_fault_free(NULL);
}
END_TEST

START_TEST(each_setting_makes_the_link_a_bad_one)
{
    const gn_fault_config bad[] = {
        {.loss = 1e-9}, {.duplicate = 1e-9}, {.reorder = 1e-9}, {.delay_ns = 1}, {.jitter_ns = 1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gn_fault *fault = gn_fault_new(&bad[i]);
        ck_assert(gn_fault_active(fault));
        ck_assert_mem_eq(gn_fault_get(fault), &bad[i], sizeof bad[i]);
        gn_fault_free(fault);
    }
    ck_assert(gn_fault_time_possible(10 * GN_SECOND) && !gn_fault_time_possible(10 * GN_SECOND + 1));
}
END_TEST

/// Within five standard deviations of what is to be expected.
static void about(uint64_t count, double probability)
{
    const double mean = MANY * probability, variance = mean * (1 - probability), off = (double)count - mean;
    ck_assert_msg(off * off <= 25 * variance, "%llu, not about %.0f", (unsigned long long)count, mean);
}

START_TEST(shares_are_as_they_were_set)
{
    gn_fault *fault = gn_fault_new(&(gn_fault_config){.seed = 3, .loss = 0.1, .duplicate = 0.2, .reorder = 0.05});
    const gn_fault_counters *c = gn_fault_get_counters(fault);
    put(fault, MANY, 0);
    about(c->lost, 0.1);
    about(c->reordered, 0.9 * 0.05);
    about(c->duplicated, 0.9 * 0.2);
    ck_assert_uint_gt(c->delayed, c->reordered);  // some of them are doubled
    ck_assert_uint_eq(got.packets, MANY - c->lost + c->duplicated - c->delayed);
    ck_assert_uint_eq(gn_fault_release(fault, &sink, GN_FAULT_REORDER_NS - 1), 1);
    ck_assert_uint_eq(gn_fault_release(fault, &sink, GN_FAULT_REORDER_NS), UINT64_MAX);
    ck_assert_uint_eq(got.packets, MANY - c->lost + c->duplicated);
    ck_assert_uint_eq(got.bytes, 7 * got.packets);
    gn_fault_free(fault);
}
END_TEST

START_TEST(certain_means_always)
{
    gn_fault *fault = gn_fault_new(&(gn_fault_config){.loss = 1, .duplicate = 1, .reorder = 1});
    put(fault, 100, 0);
    ck_assert_uint_eq(gn_fault_get_counters(fault)->lost, 100);
    ck_assert_uint_eq(got.packets, 0);
    gn_fault_set(fault, &(gn_fault_config){.duplicate = 1});
    put(fault, 200, 0);
    ck_assert_uint_eq(gn_fault_get_counters(fault)->duplicated, 200);
    ck_assert_uint_eq(got.packets, 400);
    ck_assert_uint_eq(got.sum, 2 * (199 * 200 / 2));
    gn_fault_free(fault);
}
END_TEST

// The same seed, the same fate; another seed, another one. Neither time nor other settings matter.
START_TEST(the_seed_decides)
{
    gn_fault_config config = {.seed = 7, .loss = 0.3};
    gn_fault *fault = gn_fault_new(&config);
    uint32_t first;
    put(fault, 1000, 0);
    first = got.hash;
    begin();
    put(fault, 1000, 0);
    ck_assert_uint_ne(got.hash, first);
    begin();
    gn_fault_set(fault, &config);
    for (unsigned i = 0; i < 1000; i++) {  // one by one
        const gn_wire_packet one = {
            .head = (const uint8_t *)&i, .head_bytes = 4, .body = (const uint8_t *)"abc", .body_bytes = 3};
        gn_fault_send(fault, &sink, NULL, &one, 1, 5 * i);
    }
    ck_assert_uint_eq(got.hash, first);
    begin();
    config.duplicate = 0, config.reorder = 0, config.delay_ns = 10;
    gn_fault_set(fault, &config);
    put(fault, 1000, 0);
    ck_assert_uint_eq(gn_fault_release(fault, &sink, 10), UINT64_MAX);
    ck_assert_uint_eq(got.hash, first);
    begin();
    config.seed = 8;
    gn_fault_set(fault, &config);
    put(fault, 1000, 0);
    ck_assert_uint_eq(gn_fault_release(fault, &sink, 10), UINT64_MAX);
    ck_assert_uint_ne(got.hash, first);
    gn_fault_free(fault);
}
END_TEST

// A delayed datagram is a copy of both its pieces, and knows where it was to go.
START_TEST(what_waits_is_as_it_was)
{
    gn_fault *now = gn_fault_new(&(gn_fault_config){0}), *later = gn_fault_new(&(gn_fault_config){.delay_ns = 100});
    arrivals first;
    put(now, 300, 0);
    first = got;
    begin();
    put(later, 300, 1000);
    ck_assert_uint_eq(got.packets, 0);
    ck_assert(gn_fault_active(later));
    gn_fault_set(later, &(gn_fault_config){0});
    ck_assert_uint_eq(gn_fault_release(later, &sink, 1100), UINT64_MAX);
    ck_assert_uint_eq(got.hash, first.hash);
    ck_assert_uint_eq(got.bytes, first.bytes);
    ck_assert_ptr_eq(got.to, &place);
    ck_assert_uint_eq(gn_fault_get_counters(later)->delayed, 300);
    gn_fault_free(now);
    gn_fault_free(later);
}
END_TEST

// What waits takes a certain number of bytes, to the byte. More is dropped, and counted.
START_TEST(no_more_waits_than_there_is_room_for)
{
    enum { BYTES = 1 << 16, ROOM = GN_FAULT_QUEUE_BYTES / BYTES };
    static uint8_t large[BYTES];
    gn_fault *fault = gn_fault_new(&(gn_fault_config){.delay_ns = 100});
    const gn_wire_packet whole = {.head = large, .head_bytes = BYTES}, byte = {.head = large, .head_bytes = 1};
    for (unsigned round = 0; round < 2; round++) {
        begin();
        for (unsigned i = 0; i < ROOM; i++) gn_fault_send(fault, &sink, NULL, &whole, 1, 0);
        ck_assert_uint_eq(gn_fault_get_counters(fault)->overflow, round);
        gn_fault_send(fault, &sink, NULL, &byte, 1, 0);
        ck_assert_uint_eq(gn_fault_get_counters(fault)->overflow, round + 1);
        ck_assert_uint_eq(gn_fault_get_counters(fault)->delayed, (round + 1) * ROOM);
        ck_assert_uint_eq(gn_fault_release(fault, &sink, 100), UINT64_MAX);
        ck_assert_uint_eq(got.bytes, GN_FAULT_QUEUE_BYTES);
    }
    gn_fault_send(fault, &sink, NULL, &whole, 1, 0);
    gn_fault_free(fault);  // with what still waits
}
END_TEST

int main(void)
{
    return RUN_SUITE("fault_fate", begin, NULL, a_good_link_changes_nothing, each_setting_makes_the_link_a_bad_one,
                     shares_are_as_they_were_set, certain_means_always, the_seed_decides, what_waits_is_as_it_was,
                     no_more_waits_than_there_is_room_for);
}
