// SPDX-License-Identifier: Apache-2.0
// The switch's outbox on loopback: datagrams to several children in few messages, and ways that
// take no message of several datagrams.
#include <string.h>

#include "net/udp_in.h"
#include "switch/daemon/outbox.h"
#include "unit/suite.h"

enum { CHILDREN = 3, LONGEST = 2000 };

static gn_outbox *box;
static gn_udp_inbox *inbox;
static gn_sources sources;
static int from, child[CHILDREN];
static gn_error error;

static void begin(void)
{
    const gn_udp_options options = {.join = true, .read_tos = true};
    box = calloc(1, sizeof *box);
    inbox = gn_udp_inbox_new(false);
    from = gn_udp_open(AF_INET, &(gn_udp_options){0});
    ck_assert(box && inbox && from >= 0);
    gn_sources_clear(&sources, 0);
    for (unsigned i = 0; i < CHILDREN; i++) {
        gn_endpoint at;
        ck_assert_int_eq(gn_endpoint_parse("127.0.0.1", &at, &error), GN_OK);
        at.port = 0;
        ck_assert_int_eq(gn_udp_listen(&child[i], &at, &options, &error), GN_OK);
        ck_assert(gn_sources_set(&sources, i, &(gn_far_end){.at = at}, AF_INET));
    }
}

static void end(void)
{
    for (int i = 0; i < CHILDREN; i++) gn_close(&child[i]);
    gn_close(&from);
    gn_udp_inbox_free(inbox);
    free(box);
}

/// A datagram of that length, all of its bytes `fill`, to the children whose bits are set.
static void post(size_t bytes, uint8_t fill, unsigned children)
{
    uint8_t *room = gn_outbox_room(box, bytes);
    memset(room, fill, bytes);
    gn_outbox_keep(box, bytes);
    for (unsigned i = 0; i < CHILDREN; i++)
        if (children >> i & 1) gn_outbox_post(box, from, &sources.source[i], room, bytes);
}

/// What a child has received: how many datagrams of each length, whose bytes are all the same.
static unsigned received(unsigned number, unsigned lengths[LONGEST + 1], int tos)
{
    unsigned count = 0;
    int got;
    memset(lengths, 0, (LONGEST + 1) * sizeof *lengths);
    while ((got = gn_udp_inbox_receive(inbox, child[number], GN_UDP_INBOX_MESSAGES)) > 0)
        for (int i = 0; i < got; i++) {
            const gn_udp_arrival a = gn_udp_inbox_at(inbox, i);
            ck_assert_int_eq(a.tos, tos);
            for (size_t at = 0; at < a.bytes; at += a.segment, count++) {
                const size_t bytes = gn_udp_piece(&a, at);
                ck_assert_uint_le(bytes, LONGEST);
                ck_assert(!memcmp(a.data + at, a.data + at + 1, bytes - 1));
                lengths[bytes]++;
            }
        }
    return count;
}

START_TEST(one_call_for_all)
{
    unsigned lengths[LONGEST + 1];
    for (uint8_t i = 0; i < 10; i++) {
        post(1000, i, 7);
        post(300, i, 7);
    }
    post(1400, 10, 1);
    gn_outbox_flush(box);
    ck_assert_uint_eq(box->counters.calls, 1);
    ck_assert_uint_eq(box->counters.datagrams, 61);
    ck_assert_uint_eq(box->counters.bytes, 30 * 1300 + 1400);
    ck_assert_uint_eq(box->counters.errors + box->counters.full, 0);
    // The longest first: 1400 and one of 1000; nine (ten) of 1000 and one of 300; the others.
    ck_assert_uint_eq(box->counters.messages, 3 + 2 + 2);
    for (unsigned i = 0; i < CHILDREN; i++) {
        ck_assert_uint_eq(received(i, lengths, 0), i ? 20 : 21);
        ck_assert_uint_eq(lengths[1000], 10);
        ck_assert_uint_eq(lengths[300], 10);
        ck_assert_uint_eq(lengths[1400], !i);
    }
    // The next batch begins anew.
    post(50, 1, 2);
    gn_outbox_flush(box);
    ck_assert_uint_eq(received(1, lengths, 0), 1);
    ck_assert_uint_eq(received(0, lengths, 0), 0);
    ck_assert_uint_eq(box->counters.calls, 2);
}
END_TEST

START_TEST(without_segmentation)
{
    unsigned lengths[LONGEST + 1];
    box->no_segmentation = true;
    for (uint8_t i = 0; i < 100; i++) post(500, i, 3);
    gn_outbox_flush(box);
    ck_assert_uint_eq(box->counters.messages, 200);
    ck_assert_uint_eq(box->counters.datagrams, 200);
    ck_assert_uint_eq(box->counters.calls, 4);  // of 64 messages
    for (unsigned i = 0; i < 2; i++) ck_assert_uint_eq(received(i, lengths, 0), 100);
}
END_TEST

// A socket without checksums is one for which the kernel cuts nothing. Each way there is tried
// once, and nothing is lost.
START_TEST(ways_that_cut_nothing)
{
    const int on = 1;
    unsigned lengths[LONGEST + 1];
    ck_assert_int_eq(setsockopt(from, SOL_SOCKET, SO_NO_CHECK, &on, sizeof on), 0);
    sources.source[1].tos = 0x28;
    for (uint8_t i = 0; i < 5; i++) post(500, i, 7);
    gn_outbox_flush(box);
    ck_assert_uint_eq(box->counters.errors, 0);
    ck_assert_uint_eq(box->counters.datagrams, 15);
    ck_assert_uint_eq(box->counters.bytes, 15 * 500);
    ck_assert_uint_eq(box->counters.messages, 15);
    ck_assert(!box->no_segmentation);
    for (unsigned i = 0; i < CHILDREN; i++) {
        ck_assert(sources.source[i].single);
        ck_assert_uint_eq(received(i, lengths, i == 1 ? 0x28 | GN_ECN_CAPABLE : 0), 5);
    }
    const uint64_t calls = box->counters.calls;
    for (uint8_t i = 0; i < 5; i++) post(500, i, 7);
    gn_outbox_flush(box);
    ck_assert_uint_eq(box->counters.calls, calls + 1);
    for (unsigned i = 0; i < CHILDREN; i++)
        ck_assert_uint_eq(received(i, lengths, i == 1 ? 0x28 | GN_ECN_CAPABLE : 0), 5);
}
END_TEST

// A destination that refuses everything costs its own datagrams, not the others'.
START_TEST(one_refused_destination)
{
    unsigned lengths[LONGEST + 1];
    gn_endpoint nowhere;
    gn_sources other;
    gn_sources_clear(&other, GN_SOURCES_MAX);
    // Not without SO_BROADCAST.
    ck_assert_int_eq(gn_endpoint_parse("255.255.255.255:9", &nowhere, &error), GN_OK);
    ck_assert(gn_sources_set(&other, 0, &(gn_far_end){.at = nowhere}, AF_INET));
    for (uint8_t i = 0; i < 5; i++) {
        post(500, i, 1);
        uint8_t *room = gn_outbox_room(box, 500);
        memset(room, i, 500);
        gn_outbox_keep(box, 500);
        gn_outbox_post(box, from, &other.source[0], room, 500);
        post(500, i, 2);
    }
    gn_outbox_flush(box);
    ck_assert_uint_eq(box->counters.errors, 5);
    ck_assert_uint_eq(box->counters.datagrams, 10);
    ck_assert(!box->no_segmentation);  // others are still sent together
    ck_assert(!other.source[0].single);
    for (unsigned i = 0; i < 2; i++) ck_assert_uint_eq(received(i, lengths, 0), 5);
}
END_TEST

// More datagrams than the outbox has places, and more bytes than its arena holds. The outbox sends
// before it is asked to.
START_TEST(more_than_it_holds)
{
    unsigned lengths[LONGEST + 1], places = 0, bytes = 0;
    for (unsigned i = 0; i < GN_OUTBOX_ITEMS + 100; i++) post(8 + i % 2, (uint8_t)i, 1U << i % CHILDREN);
    ck_assert_uint_eq(box->counters.datagrams, GN_OUTBOX_ITEMS);
    gn_outbox_flush(box);
    for (unsigned i = 0; i < CHILDREN; i++) places += received(i, lengths, 0);
    ck_assert_uint_eq(places, GN_OUTBOX_ITEMS + 100);
    for (unsigned i = 0; i < 300; i++) post(1000, (uint8_t)i, 1U << i % CHILDREN);
    ck_assert_uint_gt(box->counters.datagrams, places);
    gn_outbox_flush(box);
    for (unsigned i = 0; i < CHILDREN; i++) bytes += 1000 * received(i, lengths, 0);
    ck_assert_uint_eq(bytes, 300 * 1000);
    ck_assert_uint_eq(box->counters.errors + box->counters.full, 0);
}
END_TEST

int main(void)
{
    return RUN_SUITE("outbox", begin, end, one_call_for_all, without_segmentation, ways_that_cut_nothing,
                     one_refused_destination, more_than_it_holds);
}
