// SPDX-License-Identifier: Apache-2.0
// Sockets that are full: whoever has something to send is woken as soon as there is room again, and
// not with the next sign of life. And who looks too early is woken by what comes.
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "comm_ranks.h"
#include "net/clock.h"
#include "ring/exchange.h"
#include "ring/group.h"
#include "ring/worker_channel.h"
#include "suite.h"

// ---- a connection that takes little at a time

enum { COUNT = 1 << 18, TURNS = 40, SMALL = 64 << 10, SLOW_US = 1000 };

static bool reads_slowly;

/// In place of libc's: this rank reads little, and that slowly.
ssize_t recv(int fd, void *buffer, size_t room, int flags)
{
    if (reads_slowly && room > SMALL) room = SMALL;
    if (reads_slowly) usleep(SLOW_US);
    return recvfrom(fd, buffer, room, flags, NULL, NULL);
}

static void shrink(int fd)
{
    const int bytes = SMALL;
    if (fd < 0) return;
    RANK_CHECK(!setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes));
    RANK_CHECK(!setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes));
}

typedef struct plan {
    gn_algorithm algorithm;
    int slow;  ///< rank
} plan;

static void run_full(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = p->algorithm;
    config.timeout_ms = 60000;  // a sign of life every second
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(comm);
    for (int i = 0; i < comm->neighbour_count; i++) {
        shrink(comm->neighbours[i].data_in);
        shrink(comm->neighbours[i].data_out);
    }
    reads_slowly = rank == p->slow;
    float *values = calloc(COUNT, sizeof *values);
    for (int i = 0; i < TURNS; i++) RANK_CHECK(values && !gn_allreduce(comm, values, values, COUNT, GN_SUM));
    free(values);
    gn_comm_free(comm);
}

// Again and again there is no room. If it lasted until the next sign of life each time, this took
// forty seconds, and not two.
START_TEST(a_sender_is_woken_by_room)
{
    static plan plans[] = {{GN_RING, 0}, {GN_WORKER_AGGREGATOR, 0}, {GN_WORKER_AGGREGATOR, 1}, {GN_DIRECT, 1}};
    ranks_run(3, run_full, &plans[_i], 30);
}
END_TEST

// ---- memory that ranks share

static bool is_late, is_slow;

// The linker puts these before the library's own. Algorithm direct calls the first one, often for
// nothing, between looking for what has come and waiting for more. Headers go another way than what
// the second one sends.
void __real_gn_exchange_finish(gn_exchange *exchange, size_t first, size_t count);
void __wrap_gn_exchange_finish(gn_exchange *exchange, size_t first, size_t count);
void __wrap_gn_exchange_finish(gn_exchange *exchange, size_t first, size_t count)
{
    if (is_late && !count) usleep(SLOW_US);
    __real_gn_exchange_finish(exchange, first, count);
}
ssize_t __real_gn_data_send(gn_neighbour *n, const void *bytes, size_t count);
ssize_t __wrap_gn_data_send(gn_neighbour *n, const void *bytes, size_t count);
ssize_t __wrap_gn_data_send(gn_neighbour *n, const void *bytes, size_t count)
{
    if (is_slow) usleep(SLOW_US * 3 / 2);  // the other one looks a second time, and then it comes
    return __real_gn_data_send(n, bytes, count);
}

static void run_late(int rank, const ranks *group, void *argument)
{
    (void)argument;
    static float values[SMALL];
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = GN_DIRECT;
    config.timeout_ms = 60000;
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(comm && comm->neighbours[0].shared);
    is_late = !rank;
    is_slow = rank;
    for (int i = 0; i < 10 * TURNS; i++) RANK_CHECK(!gn_allreduce(comm, values, values, SMALL, GN_SUM));
    gn_comm_free(comm);
}

// A whole piece comes just then: it is to be added, and takes no room. Such a rank slept until the
// next sign of life, a second each time.
START_TEST(a_piece_that_comes_meanwhile_is_added)
{
    ranks_run(2, run_late, NULL, 30);
}
END_TEST

// ---- a channel to a switch

enum { SLOTS = 64, VALUES = 256 };

/// Takes what has come. @return datagrams
static unsigned take_all(int fd)
{
    uint8_t datagram[4096];
    unsigned count = 0;
    while (recv(fd, datagram, sizeof datagram, MSG_DONTWAIT) > 0) count++;
    return count;
}

// Such a pair holds few datagrams, and then has no room. UDP sockets on loopback never say so: what
// has no room is lost.
START_TEST(a_channel_waits_for_room_only_when_it_is_full)
{
    static float values[SLOTS * VALUES];
    int pair[2];
    ck_assert(!socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, pair));
    ck_assert(!setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &(int){4608}, sizeof(int)));
    gn_worker_channel channel = {.fd = pair[0]};
    const gn_worker_config config = {.job = 1,
                                     .gen = 1,
                                     .ranks = 2,
                                     .children = 2,
                                     .format = GN_AGG_INT32,
                                     .slots = SLOTS,
                                     .packet_values = VALUES,
                                     .rto_min_ns = GN_SECOND,
                                     .rto_max_ns = GN_SECOND};
    const gn_bucket bucket = {.send = values, .recv = values, .count = SLOTS * VALUES};
    const gn_exchange exchange = {.bucket = &bucket};
    ck_assert_int_eq(gn_worker_channel_open(&channel, &config, 0), GN_OK);
    ck_assert_int_eq(gn_worker_channel_post(&channel, &exchange, 0, bucket.count), GN_OK);
    ck_assert_int_eq(gn_worker_channel_events(&channel), POLLIN);
    unsigned came = 0, full = 0;
    for (const uint64_t now = gn_now(); came < SLOTS; full++) {
        (void)gn_worker_channel_move(&channel, now);
        const short events = gn_worker_channel_events(&channel);
        const unsigned some = take_all(pair[1]);
        ck_assert_uint_gt(some, 0);
        ck_assert_int_eq(atomic_load(&channel.failed), 0);
        came += some;
        ck_assert_int_eq(events, came < SLOTS ? POLLIN | POLLOUT : POLLIN);
    }
    ck_assert_uint_gt(full, 1);
    ck_assert_uint_eq(came, SLOTS);  // nothing was lost, nothing came twice
    (void)gn_worker_channel_move(&channel, gn_now());
    ck_assert_int_eq(gn_worker_channel_events(&channel), POLLIN);
    gn_worker_channel_close(&channel);
    close(pair[1]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("comm full");
    TCase *full = tcase_create("full");
    tcase_set_timeout(full, 60);
    tcase_add_loop_test(full, a_sender_is_woken_by_room, 0, 4);
    tcase_add_test(full, a_piece_that_comes_meanwhile_is_added);
    tcase_add_test(full, a_channel_waits_for_room_only_when_it_is_full);
    suite_add_tcase(suite, full);
    return suite_run(suite);
}
