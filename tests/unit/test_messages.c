// SPDX-License-Identifier: Apache-2.0
// Messages between two ranks: sizes, tags, orders, beside collectives, with every algorithm.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm_ranks.h"
#include "suite.h"

static const gn_algorithm algorithms[] = {GN_RING, GN_DIRECT, GN_AUTO, GN_WORKER_AGGREGATOR};
enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

typedef struct plan {
    gn_algorithm algorithm;
    uint64_t seed;
} plan;

static gn_comm *plan_init(int rank, const ranks *group, const plan *p)
{
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = p->algorithm;
    gn_comm *comm = rank_init(rank, group, &config);
    if (!comm) fprintf(stderr, "rank %d: %s\n", rank, group->reports[rank].text);
    RANK_CHECK(comm);
    return comm;
}

static void all_right(int size, plan p, rank_function function)
{
    ranks group;
    ranks_start(&group, size, function, &p);
    ranks_wait(&group, 100);
    for (int rank = 0; rank < size; rank++)
        ck_assert_msg(group.exits[rank] == 0, "%s: rank %d of %d: exit %#x", gn_algorithm_name(p.algorithm), rank, size,
                      (unsigned)group.exits[rank]);
    ranks_free(&group);
}

static void right(const gn_comm *comm, gn_status status)
{
    if (status)
        fprintf(stderr, "rank %d: %s: %s\n", gn_comm_rank(comm), gn_status_string(status), gn_comm_last_error(comm));
    RANK_CHECK(!status);
}

static uint8_t byte_of(int from, int to, int tag, size_t i)
{
    return (uint8_t)((size_t)(from * 31 + to * 7 + tag * 101) + i * 13 + (i >> 8));
}

static uint8_t *made(int from, int to, int tag, size_t count)
{
    uint8_t *bytes = malloc(count + 1);
    RANK_CHECK(bytes);
    for (size_t i = 0; i < count; i++) bytes[i] = byte_of(from, to, tag, i);
    return bytes;
}

static void check_bytes(const uint8_t *bytes, int from, int to, int tag, size_t count)
{
    for (size_t i = 0; i < count; i++) RANK_CHECK(bytes[i] == byte_of(from, to, tag, i));
}

static void send_made(gn_comm *comm, int to, int tag, size_t count)
{
    uint8_t *bytes = made(gn_comm_rank(comm), to, tag, count);
    right(comm, gn_send(comm, bytes, count, to, tag));
    memset(bytes, 0, count);  // it may be used again
    free(bytes);
}

static void receive_made(gn_comm *comm, int from, int tag, size_t count)
{
    uint8_t *bytes = malloc(count + 1);
    bytes[count] = 77;
    right(comm, gn_recv(comm, bytes, count, from, tag, NULL));
    check_bytes(bytes, from, gn_comm_rank(comm), tag, count);
    RANK_CHECK(bytes[count] == 77);
    free(bytes);
}

static const size_t sizes[] = {0, 1, 7, 4096, 65535, 65536, 65537, 262144, 1000003, 5 << 20};
enum { SIZES = sizeof sizes / sizeof *sizes };

// Rank 0 and the last one; those between are not asked for anything.
static void run_sizes(int rank, const ranks *group, void *argument)
{
    gn_comm *comm = plan_init(rank, group, argument);
    const int last = group->size - 1;
    for (int i = 0; i < SIZES && rank == 0; i++) {
        send_made(comm, last, i, sizes[i]);
        receive_made(comm, last, 100 + i, sizes[i]);
    }
    for (int i = 0; i < SIZES && rank == last; i++) {
        receive_made(comm, 0, i, sizes[i]);
        send_made(comm, 0, 100 + i, sizes[i]);
    }
    if (rank && rank != last) usleep(300000);
    right(comm, gn_barrier(comm));
    gn_comm_free(comm);
}

START_TEST(test_sizes)
{
    for (int size = 2; size <= 4; size++) all_right(size, (plan){.algorithm = algorithms[_i]}, run_sizes);
}
END_TEST

// All send to all before anybody receives, and receive in another order of tags.
static void run_first(int rank, const ranks *group, void *argument)
{
    enum { TAGS = 12, LARGEST = 65536 };
    gn_comm *comm = plan_init(rank, group, argument);
    for (int turn = 0; turn < 3; turn++) {
        for (int tag = 0; tag < TAGS; tag++)
            for (int other = 0; other < group->size; other++)
                send_made(comm, other, tag, tag % 3 ? LARGEST : (size_t)(tag * 100));
        for (int tag = TAGS; tag-- > 0;)
            for (int other = 0; other < group->size; other++)
                receive_made(comm, other, tag, tag % 3 ? LARGEST : (size_t)(tag * 100));
    }
    gn_comm_free(comm);
}

START_TEST(test_first)
{
    for (int size = 1; size <= 3; size++) all_right(size, (plan){.algorithm = algorithms[_i]}, run_first);
}
END_TEST

// What was sent before a rank leaves still arrives.
static void run_leaves(int rank, const ranks *group, void *argument)
{
    gn_comm *comm = plan_init(rank, group, argument);
    if (rank == 1)
        for (int i = 0; i < 14; i++) send_made(comm, 0, i, 65000);
    if (rank == 0) {
        usleep(300000);
        for (int i = 14; i-- > 0;) receive_made(comm, 1, i, 65000);
    }
    gn_comm_free(comm);
}

START_TEST(test_leaves)
{
    all_right(2, (plan){.algorithm = algorithms[_i]}, run_leaves);
}
END_TEST

static void run_any(int rank, const ranks *group, void *argument)
{
    gn_comm *comm = plan_init(rank, group, argument);
    const int size = group->size;
    int value = 0, seen = 0;
    bool there;
    gn_received got;
    RANK_CHECK(!gn_probe(comm, GN_ANY_RANK, GN_ANY_TAG, &there, &got) && !there);
    right(comm, gn_barrier(comm));
    if (rank) {
        right(comm, gn_send(comm, &rank, sizeof rank, 0, 10 + rank));
        right(comm, gn_send(comm, &rank, 2, 0, 5));
    }
    for (int i = 1; i < size && !rank; i++) {
        right(comm, gn_recv(comm, &value, sizeof value, GN_ANY_RANK, 10 + i, &got));
        RANK_CHECK(value == i && got.rank == i && got.tag == 10 + i && got.bytes == sizeof value);
    }
    for (int i = 1; i < size && !rank; i++) {
        for (there = false; !there;) right(comm, gn_probe(comm, GN_ANY_RANK, GN_ANY_TAG, &there, &got));
        RANK_CHECK(got.rank >= 1 && got.tag == 5 && got.bytes == 2);
        value = 0;
        right(comm, gn_recv(comm, &value, sizeof value, GN_ANY_RANK, GN_ANY_TAG, &got));
        RANK_CHECK(got.bytes == 2 && value == got.rank);
        seen |= 1 << got.rank;
    }
    RANK_CHECK(rank || seen == (1 << size) - 2);
    gn_comm_free(comm);
}

START_TEST(test_any)
{
    all_right(4, (plan){.algorithm = algorithms[_i]}, run_any);
}
END_TEST

// Random messages, all asynchronous, in random orders, and sums between them ----------------------

enum { MESSAGES = 150, TAGS = 4 };

typedef struct message {
    int from, to, tag;
    size_t count;
    uint8_t *bytes;
    gn_request *request;
    gn_received got;
} message;

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void make_messages(message *all, int size, uint64_t seed)
{
    for (int i = 0; i < MESSAGES; i++) {
        const uint64_t kind = next_random(&seed) % 8;
        const size_t most = kind == 0 ? 1 : kind < 6 ? 3000 : kind == 6 ? 70000 : 700000;
        all[i] = (message){.from = (int)(next_random(&seed) % (uint64_t)size),
                           .to = (int)(next_random(&seed) % (uint64_t)size),
                           .tag = (int)(next_random(&seed) % TAGS),
                           .count = next_random(&seed) % most};
    }
}

static bool same_lane(const message *a, const message *b)
{
    return a->from == b->from && a->to == b->to && a->tag == b->tag;
}

/// Swaps messages of different lanes: those of one lane keep their order.
static void shuffle(int *order, const message *all, uint64_t seed)
{
    for (int i = 0; i < MESSAGES; i++) order[i] = i;
    for (int n = 0; n < 20 * MESSAGES; n++) {
        const int i = (int)(next_random(&seed) % (MESSAGES - 1)), a = order[i], b = order[i + 1];
        if (same_lane(&all[a], &all[b])) continue;
        order[i] = b;
        order[i + 1] = a;
    }
}

static void start_message(gn_comm *comm, message *m, int i, bool sends)
{
    if (sends) {
        m->bytes = made(m->from, m->to, i, m->count);
        right(comm, gn_isend(comm, m->bytes, m->count, m->to, m->tag, &m->request));
    } else {
        m->bytes = malloc(m->count + 1);
        right(comm, gn_irecv(comm, m->bytes, m->count + (size_t)(i % 2), m->from, m->tag, i % 2 ? &m->got : NULL,
                             &m->request));
    }
}

static void finish_message(gn_comm *comm, message *m, int i, bool sends)
{
    bool done = false;
    gn_status status = GN_OK;
    for (int tries = 0; i % 3 == 0 && !done && tries < 100; tries++) status = gn_test(m->request, &done);
    right(comm, done ? status : gn_wait(m->request));
    if (!sends) check_bytes(m->bytes, m->from, m->to, i, m->count);
    if (!sends && i % 2) RANK_CHECK(m->got.bytes == m->count && m->got.rank == m->from && m->got.tag == m->tag);
    free(m->bytes);
}

static void run_random(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    gn_comm *comm = plan_init(rank, group, p);
    message sent[MESSAGES], received[MESSAGES];
    int order[MESSAGES], back[MESSAGES];
    make_messages(sent, group->size, p->seed);
    make_messages(received, group->size, p->seed);
    shuffle(order, sent, p->seed * 31 + (uint64_t)rank);
    shuffle(back, sent, p->seed * 37 + (uint64_t)rank);
    for (int n = 0; n < MESSAGES; n++) {
        const int i = order[n], j = back[n];
        if (sent[i].from == rank) start_message(comm, &sent[i], i, true);
        if (received[j].to == rank) start_message(comm, &received[j], j, false);
        float one = 1;
        if (n % 40 == 20) {
            right(comm, gn_allreduce(comm, &one, &one, 1, GN_SUM));
            RANK_CHECK(one == (float)group->size);
        }
    }
    for (int n = 0; n < MESSAGES; n++) {
        const int i = back[n], j = order[n];
        if (received[i].to == rank) finish_message(comm, &received[i], i, false);
        if (sent[j].from == rank) finish_message(comm, &sent[j], j, true);
    }
    right(comm, gn_barrier(comm));
    gn_comm_free(comm);
}

START_TEST(test_random)
{
    for (uint64_t seed = 1; seed <= 4; seed++)
        all_right(2 + (int)seed % 3, (plan){.algorithm = algorithms[_i], .seed = seed}, run_random);
}
END_TEST

// A shift round the ring, where all receive first: requests do not wait for each other.
static void run_shift(int rank, const ranks *group, void *argument)
{
    enum { COUNT = 300000 };
    gn_comm *comm = plan_init(rank, group, argument);
    const int left = (rank + group->size - 1) % group->size, next = (rank + 1) % group->size;
    for (int turn = 0; turn < 5; turn++) {
        gn_request *in;
        uint8_t *bytes = malloc(COUNT);
        right(comm, gn_irecv(comm, bytes, COUNT, left, turn, NULL, &in));
        send_made(comm, next, turn, COUNT);
        right(comm, gn_wait(in));
        check_bytes(bytes, left, rank, turn, COUNT);
        free(bytes);
    }
    gn_comm_free(comm);
}

START_TEST(test_shift)
{
    all_right(4, (plan){.algorithm = algorithms[_i]}, run_shift);
}
END_TEST

// Signs of life are due each second. A message that comes with them does not wait for the next.
static void run_on_and_on(int rank, const ranks *group, void *argument)
{
    gn_comm *comm = plan_init(rank, group, argument);
    const double until = seconds_now() + 2.2;
    char more = 1;
    while (more) {
        const double start = seconds_now();
        if (rank == 0) {
            more = start < until;
            right(comm, gn_send(comm, &more, 1, 1, 0));
            right(comm, gn_recv(comm, &more, 1, 1, 0, NULL));
        } else {
            right(comm, gn_recv(comm, &more, 1, 0, 0, NULL));
            right(comm, gn_send(comm, &more, 1, 0, 0));
        }
        RANK_CHECK(seconds_now() - start < 0.8);
    }
    gn_comm_free(comm);
}

START_TEST(test_on_and_on)
{
    all_right(2, (plan){.algorithm = algorithms[_i]}, run_on_and_on);
}
END_TEST

// More small messages than are read at once are all taken without more coming.
static void run_many(int rank, const ranks *group, void *argument)
{
    enum { MANY = 3000 };
    gn_comm *comm = plan_init(rank, group, argument);
    const double start = seconds_now();
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < MANY && rank; i++) right(comm, gn_send(comm, &i, sizeof i, 0, i));
        for (int i = MANY, value = 0; i-- > 0 && !rank;) {
            right(comm, gn_recv(comm, &value, sizeof value, 1, i, NULL));
            RANK_CHECK(value == i);
        }
        right(comm, gn_barrier(comm));
    }
    RANK_CHECK(seconds_now() - start < 3);
    gn_comm_free(comm);
}

START_TEST(test_many)
{
    all_right(2, (plan){.algorithm = algorithms[_i]}, run_many);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("messages");
    TCase *tcase = tcase_create("messages");
    tcase_set_timeout(tcase, 200);
    tcase_add_loop_test(tcase, test_sizes, 0, ALGORITHMS);
    tcase_add_loop_test(tcase, test_first, 0, ALGORITHMS);
    tcase_add_loop_test(tcase, test_leaves, 0, ALGORITHMS);
    tcase_add_loop_test(tcase, test_any, 0, ALGORITHMS);
    tcase_add_loop_test(tcase, test_random, 0, ALGORITHMS);
    tcase_add_loop_test(tcase, test_shift, 0, ALGORITHMS);
    tcase_add_loop_test(tcase, test_on_and_on, 0, ALGORITHMS);
    tcase_add_loop_test(tcase, test_many, 0, ALGORITHMS);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
