// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "cmodel/flow.h"
#include "packets.h"
#include "suite.h"

static uint8_t bytes[200];
static gn_headers headers;

/// Makes `bytes` and `headers` a segment of flow number `n`.
static void flow(int version, unsigned n)
{
    packet p = {.version = version, .source = (uint16_t)(1 + n % 60000), .host = (uint8_t)(1 + n / 60000)};
    size_t length = packet_build(&p, "data", 4, bytes);
    ck_assert_int_eq(gn_packet_parse(bytes, length, &headers), GN_PARSE_OK);
}

static gn_flow_added add(gn_flow_table *t, int version, unsigned n, uint32_t isn)
{
    flow(version, n);
    return gn_flow_add(t, bytes, &headers, isn);
}

static bool has(gn_flow_table *t, int version, unsigned n, uint32_t expected)
{
    uint32_t isn = ~expected;
    flow(version, n);
    bool found = gn_flow_find(t, bytes, &headers, &isn);
    if (found) ck_assert_uint_eq(isn, expected);
    return found;
}

START_TEST(added_found_removed)
{
    gn_flow_table *t = gn_flow_new(10);
    ck_assert(!has(t, 4, 1, 0));
    ck_assert_int_eq(add(t, 4, 1, 1000), GN_FLOW_NEW);
    ck_assert(has(t, 4, 1, 1000));
    ck_assert(!has(t, 4, 2, 0));
    ck_assert_uint_eq(gn_flow_count(t), 1);
    flow(4, 1);
    ck_assert(gn_flow_remove(t, bytes, &headers));
    ck_assert(!gn_flow_remove(t, bytes, &headers));
    ck_assert(!has(t, 4, 1, 0));
    ck_assert_uint_eq(gn_flow_count(t), 0);
    gn_flow_free(t);
}
END_TEST

START_TEST(a_port_used_again_begins_anew)
{
    gn_flow_table *t = gn_flow_new(10);
    add(t, 4, 1, 1000);
    ck_assert_int_eq(add(t, 4, 1, 1000), GN_FLOW_AGAIN);  // the SYN sent again
    ck_assert_int_eq(add(t, 4, 1, 77), GN_FLOW_AGAIN);
    ck_assert(has(t, 4, 1, 77));
    ck_assert_uint_eq(gn_flow_count(t), 1);
    gn_flow_free(t);
}
END_TEST

START_TEST(every_part_of_the_key_counts)
{
    gn_flow_table *t = gn_flow_new(100);
    static const packet others[] = {{.source = 1},  {.destination = 1},        {.host = 9},
                                    {.version = 6}, {.version = 6, .host = 9}, {.source = 5000, .destination = 40000}};
    uint32_t isn;
    packet p = {0};
    gn_packet_parse(bytes, packet_build(&p, "x", 1, bytes), &headers);
    gn_flow_add(t, bytes, &headers, 5);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        gn_packet_parse(bytes, packet_build(&others[i], "x", 1, bytes), &headers);
        ck_assert(!gn_flow_find(t, bytes, &headers, &isn));
        ck_assert_int_eq(gn_flow_add(t, bytes, &headers, 100 + (uint32_t)i), GN_FLOW_NEW);
    }
    // The destination address, and each address byte of IPv6.
    for (size_t at = 8; at < 40; at++) {
        packet six = {.version = 6};
        size_t length = packet_build(&six, "x", 1, bytes);
        bytes[at] ^= 1;
        gn_packet_parse(bytes, length, &headers);
        ck_assert(!gn_flow_find(t, bytes, &headers, &isn));
    }
    for (size_t at = 12; at < 20; at++) {
        size_t length = packet_build(&p, "x", 1, bytes);
        bytes[at] ^= 1;
        gn_packet_parse(bytes, length, &headers);
        ck_assert(!gn_flow_find(t, bytes, &headers, &isn));
    }
    // An IPv4 address and the IPv6 address with the same bytes in front are different flows.
    packet six = {.version = 6};
    packet_build(&six, "x", 1, bytes);
    memset(bytes + 8, 0, 32);
    memcpy(bytes + 8, (uint8_t[]){10, 0, 0, 1}, 4);
    memcpy(bytes + 24, (uint8_t[]){10, 0, 1, 2}, 4);
    gn_packet_parse(bytes, 61, &headers);
    ck_assert(!gn_flow_find(t, bytes, &headers, &isn));
    gn_flow_free(t);
}
END_TEST

START_TEST(the_least_recently_used_gives_way)
{
    gn_flow_table *t = gn_flow_new(3);
    for (unsigned n = 1; n <= 3; n++) ck_assert_int_eq(add(t, 4, n, n), GN_FLOW_NEW);
    ck_assert(has(t, 4, 1, 1));
    ck_assert_int_eq(add(t, 4, 2, 22), GN_FLOW_AGAIN);
    ck_assert_int_eq(add(t, 6, 4, 4), GN_FLOW_EVICTED);  // 3 is the oldest
    ck_assert(!has(t, 4, 3, 3));
    ck_assert(has(t, 4, 1, 1) && has(t, 4, 2, 22) && has(t, 6, 4, 4));
    ck_assert_uint_eq(gn_flow_count(t), 3);
    gn_flow_free(t);

    t = gn_flow_new(1);
    ck_assert_int_eq(add(t, 4, 1, 1), GN_FLOW_NEW);
    ck_assert_int_eq(add(t, 4, 2, 2), GN_FLOW_EVICTED);
    ck_assert(!has(t, 4, 1, 1) && has(t, 4, 2, 2));
    gn_flow_free(t);
}
END_TEST

/// Against a list kept in order of use, the obvious way.
START_TEST(as_a_simple_model)
{
    enum { CAPACITY = 50, FLOWS = 120 };
    struct {
        unsigned n;
        uint32_t isn;
    } model[CAPACITY], found;
    size_t count = 0;
    uint32_t seed = 9;
    gn_flow_table *t = gn_flow_new(CAPACITY);
    for (int step = 0; step < 40000; step++) {
        unsigned n = random_next(&seed) % FLOWS, action = random_next(&seed) % 8;
        size_t i = 0;
        while (i < count && model[i].n != n) i++;
        bool known = i < count;
        if (known) {
            found = model[i];
            memmove(model + i, model + i + 1, (count - i - 1) * sizeof *model);
            count--;
        }
        int version = n % 2 ? 4 : 6;
        if (action == 0) {
            flow(version, n);
            ck_assert(gn_flow_remove(t, bytes, &headers) == known);
        } else if (action < 4) {
            bool full = !known && count == CAPACITY;
            ck_assert_int_eq(add(t, version, n, seed), known ? GN_FLOW_AGAIN : full ? GN_FLOW_EVICTED : GN_FLOW_NEW);
            if (full) memmove(model, model + 1, --count * sizeof *model);
            model[count].n = n;
            model[count++].isn = seed;
        } else {
            ck_assert(has(t, version, n, known ? found.isn : 0) == known);
            if (known) model[count++] = found;
        }
        ck_assert_uint_eq(gn_flow_count(t), count);
    }
    gn_flow_free(t);
}
END_TEST

/// In sets of four, a flow gives way only to flows of its own set.
START_TEST(sets)
{
    enum { LOG2 = 5, FLOWS = 1 << LOG2, MANY = 1000 };
    gn_flow_table *t = gn_flow_new_sets(LOG2, 77);
    // As many flows as there is room for do not all find it; later all places are taken.
    size_t evicted = 0;
    for (unsigned n = 0; n < FLOWS; n++) evicted += add(t, n % 2 ? 4 : 6, n, n) == GN_FLOW_EVICTED;
    ck_assert(evicted > 0 && evicted < FLOWS / 2);
    for (unsigned n = FLOWS; n < MANY; n++) add(t, n % 2 ? 4 : 6, n, n);
    ck_assert_uint_eq(gn_flow_count(t), FLOWS);
    // Every flow that is there belongs to a set of four. One that is new takes the place of the one
    // of its set that was used least recently: the first of those four in the order of their use.
    for (unsigned fresh = MANY; fresh < MANY + 200; fresh++) {
        unsigned there[FLOWS], count = 0, gone = 0;
        for (unsigned n = 0; n < fresh; n++) {
            if (has(t, n % 2 ? 4 : 6, n, n)) there[count++] = n;  // now in the order of their numbers
        }
        ck_assert_uint_eq(count, FLOWS);
        ck_assert_int_eq(add(t, fresh % 2 ? 4 : 6, fresh, fresh), GN_FLOW_EVICTED);
        unsigned lost = 0;
        for (unsigned i = 0; i < count; i++)
            if (!has(t, there[i] % 2 ? 4 : 6, there[i], there[i])) gone++, lost = i;
        ck_assert_uint_eq(gone, 1);
        ck_assert_uint_le(lost, FLOWS - 4);  // three of its set are younger
    }
    gn_flow_free(t);
    // Another seed, other sets.
    gn_flow_table *a = gn_flow_new_sets(LOG2, 1), *b = gn_flow_new_sets(LOG2, 2);
    unsigned different = 0;
    for (unsigned n = 0; n < MANY; n++) different += add(a, 4, n, n) != add(b, 4, n, n);
    for (unsigned n = 0; n < MANY; n++) different += has(a, 4, n, n) != has(b, 4, n, n);
    ck_assert_uint_gt(different, 5);
    gn_flow_free(a);
    gn_flow_free(b);
}
END_TEST

START_TEST(impossible_sizes)
{
    ck_assert_ptr_null(gn_flow_new_sets(GN_FLOW_LOG2_MIN - 1, 0));
    ck_assert_ptr_null(gn_flow_new_sets(GN_FLOW_LOG2_MAX + 1, 0));
    ck_assert_ptr_null(gn_flow_new(0));
    ck_assert_ptr_null(gn_flow_new(SIZE_MAX));
    gn_flow_free(NULL);
}
END_TEST

int main(void)
{
    return RUN_SUITE("flow", NULL, NULL, added_found_removed, a_port_used_again_begins_anew,
                     every_part_of_the_key_counts, the_least_recently_used_gives_way, as_a_simple_model, sets,
                     impossible_sizes);
}
