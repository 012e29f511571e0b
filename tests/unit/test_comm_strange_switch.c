// SPDX-License-Identifier: Apache-2.0
// A rank alone with a switch that the test plays: one that grants more than was asked for, and one
// that never answers a datagram.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm_ranks.h"
#include "net/clock.h"
#include "suite.h"
#include "switch/wire_peer.h"

enum { COUNT = 256, RTO_US = 400000 };

typedef struct plan {
    char address[32];
    int channels;
    int timeout_ms;
} plan;

static void run(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    gn_comm_config config = rank_config(rank, group);
    float values[COUNT] = {1};
    config.algorithm = GN_SWITCH;
    config.switch_address = p->address;
    config.switch_channels = (unsigned)p->channels;
    config.switch_slots = 64;
    config.switch_values = COUNT;
    config.switch_rto_us = RTO_US;
    config.timeout_ms = p->timeout_ms;
    gn_comm *comm = rank_init(rank, group, &config);
    if (!comm) return;
    group->reports[rank].values[0] = 1;
    group->reports[rank].status = gn_allreduce(comm, values, values, COUNT, GN_SUM);
    gn_comm_free(comm);
}

static int listener;
static plan p;
static ranks group;
static wire_peer peer;

/// The rank has come and asks. @return what for
static gn_admission_join begin(int channels, int timeout_ms)
{
    uint16_t port;
    listener = peer_listen(&port);
    p = (plan){.channels = channels, .timeout_ms = timeout_ms};
    snprintf(p.address, sizeof p.address, "127.0.0.1:%u", port);
    ranks_start(&group, 1, run, &p);
    peer_accept(&peer, listener);
    gn_admission frame;
    while ((frame = peer_hear(&peer)).type == GN_ADMISSION_PING) continue;
    ck_assert_int_eq(frame.type, GN_ADMISSION_JOIN);
    return frame.join;
}

/// Waits for the rank's end. @return what it has left
static report end(void)
{
    ranks_wait(&group, 50);
    ck_assert_int_eq(group.exits[0], 0);
    const report left = group.reports[0];
    ranks_free(&group);
    peer_close(&peer);
    close(listener);
    return left;
}

static gn_admission welcome_to(const gn_admission_join *join, uint16_t udp_port)
{
    gn_admission frame = {.type = GN_ADMISSION_WELCOME,
                          .welcome = {.mode = GN_PARTITIONED, .channels = join->channels, .slots = join->slots}};
    for (unsigned i = 0; i < GN_ADMISSION_CHANNELS_MAX; i++) {
        frame.welcome.job[i] = frame.welcome.gen[i] = (uint16_t)(100 + i);
        frame.welcome.udp_port[i] = udp_port;
    }
    return frame;
}

// A worker with more slots than its switch has memory for, or with channels that it has no sockets
// for: refused, and the switch is named.
START_TEST(a_switch_that_grants_more_is_refused)
{
    char phrase[100];
    const gn_admission_join join = begin(2, 20000);
    gn_admission answer = welcome_to(&join, 9);
    ck_assert_uint_eq(join.slots, 64);
    ck_assert_uint_eq(join.channels, 2);
    if (_i == 0) answer.welcome.slots = 128;
    if (_i == 1) answer.welcome.channels = 3;
    if (_i == 2) answer.welcome.channels = 1;
    peer_say(&peer, &answer);
    snprintf(phrase, sizeof phrase, "the switch %s gave more than was asked for", p.address);
    const report left = end();
    ck_assert_uint_eq(left.values[0], 0);
    ck_assert_int_eq(left.status, GN_CORRUPT);
    ck_assert_msg(strstr(left.text, phrase) != NULL, "%s", left.text);
}
END_TEST

// Less is a switch's right.
START_TEST(a_switch_may_grant_less)
{
    const gn_admission_join join = begin(1, 20000);
    gn_admission answer = welcome_to(&join, 9);
    answer.welcome.slots = 1;
    peer_say(&peer, &answer);
    peer_say(&peer, &(gn_admission){.type = GN_ADMISSION_GONE, .text = "that was all"});
    ck_assert_uint_eq(end().values[0], 1);  // it was in the group
}
END_TEST

// switch_rto_us is microseconds: 0.4 s from the first packet to the second one of its kind. Not the
// fraction of a millisecond that it would be in nanoseconds, nor the second that is the longest.
START_TEST(a_packet_is_sent_again_after_the_time_that_was_set)
{
    uint64_t shortest = GN_FOREVER;
    // Waking up may be late on a busy machine, but not each time.
    for (int turn = 0; turn < 5 && shortest > 2 * RTO_US * 1000ull; turn++) {
        struct sockaddr_in here = peer_loopback(0);
        socklen_t length = sizeof here;
        uint8_t datagram[4096];
        gn_agg_packet first, second;
        const struct timeval limit = {.tv_sec = PEER_PATIENCE_S};
        const int udp = socket(AF_INET, SOCK_DGRAM, 0);
        ck_assert(udp >= 0 && !bind(udp, (struct sockaddr *)&here, sizeof here));
        ck_assert(!getsockname(udp, (struct sockaddr *)&here, &length));
        ck_assert(!setsockopt(udp, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit));
        const gn_admission_join join = begin(1, 20000);
        const gn_admission answer = welcome_to(&join, ntohs(here.sin_port));
        peer_say(&peer, &answer);
        ssize_t got = recv(udp, datagram, sizeof datagram, 0);
        const uint64_t sent = gn_now();
        ck_assert(got > 0 && !gn_agg_parse(datagram, (size_t)got, &first));
        got = recv(udp, datagram, sizeof datagram, 0);
        const uint64_t again = gn_now() - sent;
        ck_assert(got > 0 && !gn_agg_parse(datagram, (size_t)got, &second));
        ck_assert_uint_eq(first.psn, second.psn);
        ck_assert(!(first.flags & GN_AGG_RESENT) && second.flags & GN_AGG_RESENT);
        if (again < shortest) shortest = again;
        peer_say(&peer, &(gn_admission){.type = GN_ADMISSION_GONE, .text = "enough"});
        (void)end();
        close(udp);
    }
    ck_assert_uint_ge(shortest, RTO_US * 1000ull / 2);  // this test may have been late to look, too
    ck_assert_uint_le(shortest, 2 * RTO_US * 1000ull);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("comm strange switch");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 100);
    tcase_add_loop_test(all, a_switch_that_grants_more_is_refused, 0, 3);
    tcase_add_test(all, a_switch_may_grant_less);
    tcase_add_test(all, a_packet_is_sent_again_after_the_time_that_was_set);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
