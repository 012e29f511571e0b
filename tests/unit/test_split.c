// SPDX-License-Identifier: Apache-2.0
// Groups of ranks of a group: rows and columns, ranks that want none, a secret, and a failure.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm_ranks.h"
#include "suite.h"

enum { SIZE = 6 };

static gn_comm *init(int rank, const ranks *group, const char *secret)
{
    gn_comm_config config = rank_config(rank, group);
    config.quantise = true;
    config.secret_file = secret;
    gn_comm *comm = rank_init(rank, group, &config);
    if (!comm) fprintf(stderr, "rank %d: %s\n", rank, group->reports[rank].text);
    RANK_CHECK(comm);
    return comm;
}

static float sum_of(gn_comm *comm, float value)
{
    RANK_CHECK(!gn_allreduce(comm, &value, &value, 1, GN_SUM));
    return value;
}

static gn_comm *split(gn_comm *comm, int colour, int key)
{
    gn_comm *sub = comm;
    const gn_status status = gn_comm_split(comm, colour, key, &sub);
    if (status) fprintf(stderr, "%s | %s\n", gn_comm_last_error(comm), gn_comm_last_error(NULL));
    RANK_CHECK(!status);
    return sub;
}

// A grid of 2 rows and 3 columns. Within a column the order is the other way round.
static void run_grid(int rank, const ranks *group, void *argument)
{
    gn_comm *comm = init(rank, group, argument);
    const int row = rank / 3, column = rank % 3;
    gn_comm *in_row = split(comm, row, 0), *in_column = split(comm, column, -rank);
    RANK_CHECK(gn_comm_size(in_row) == 3 && gn_comm_rank(in_row) == column);
    RANK_CHECK(gn_comm_size(in_column) == 2 && gn_comm_rank(in_column) == 1 - row);
    for (int i = 0; i < 3; i++) {
        RANK_CHECK(sum_of(in_row, (float)rank) == (float)(9 * row + 3));
        RANK_CHECK(sum_of(in_column, (float)rank) == (float)(2 * column + 3));
        RANK_CHECK(sum_of(comm, (float)rank) == 15);
    }
    gn_comm_free(in_row);
    gn_comm *again = split(in_column, 0, 0);  // a group of a group
    RANK_CHECK(sum_of(again, 1) == 2);
    gn_comm_free(again);
    gn_comm_free(in_column);
    gn_comm_free(comm);
}

START_TEST(test_grid)
{
    char secret[] = "/tmp/gradnic-split-XXXXXX";
    ranks group;
    if (_i) {
        const int fd = mkstemp(secret);
        ck_assert(fd >= 0 && write(fd, "0123456789abcdefghij\n", 21) == 21);
        close(fd);
    }
    ranks_start(&group, SIZE, run_grid, _i ? secret : NULL);
    ranks_wait(&group, 60);
    unlink(secret);
    for (int rank = 0; rank < SIZE; rank++) ck_assert_int_eq(group.exits[rank], 0);
    ranks_free(&group);
}
END_TEST

// Ranks 1 and 4 want no group; rank 5 has one of its own.
static void run_some(int rank, const ranks *group, void *argument)
{
    gn_comm *comm = init(rank, group, argument);
    gn_comm *sub = split(comm, rank == 1 || rank == 4 ? -1 : rank == 5, 0);
    RANK_CHECK(!sub == (rank == 1 || rank == 4));
    if (sub) RANK_CHECK(gn_comm_size(sub) == (rank == 5 ? 1 : 3) && sum_of(sub, 1) == (rank == 5 ? 1 : 3));
    RANK_CHECK(sum_of(comm, 1) == SIZE);
    gn_comm_free(sub);
    gn_comm_free(comm);
}

START_TEST(test_some)
{
    ranks_run(SIZE, run_some, NULL, 60);
}
END_TEST

// A failure in a group ends that group. A rank that calls something else is named.
static void run_failure(int rank, const ranks *group, void *argument)
{
    (void)argument;
    gn_comm *comm = init(rank, group, NULL), *sub = split(comm, rank / 3, 0);
    if (rank == 1) RANK_CHECK(!gn_comm_abort(sub, "enough"));
    gn_status status = GN_OK;
    float value = 1;
    while (rank < 3 && !status) status = gn_allreduce(sub, &value, &value, 1, GN_SUM);
    RANK_CHECK(rank > 2 || status == GN_ABORTED || (rank == 1 && status == GN_DEAD));
    if (rank > 2) RANK_CHECK(sum_of(sub, 1) == 3);
    RANK_CHECK(sum_of(comm, 1) == SIZE);
    gn_comm_free(sub);
    gn_comm *other = comm;
    status = rank == 2 ? gn_barrier(comm) : gn_comm_split(comm, 0, 0, &other);
    RANK_CHECK(status == GN_MISMATCH && (rank == 2 || !other));
    RANK_CHECK(strstr(gn_comm_last_error(comm), "called barrier"));
    RANK_CHECK(strstr(gn_comm_last_error(comm), "called all_gather of 4 i32 values"));
    gn_comm_free(comm);
    RANK_CHECK(gn_comm_split(NULL, 0, 0, &other) == GN_INVALID);
}

START_TEST(test_failure)
{
    ranks_run(SIZE, run_failure, NULL, 60);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("split");
    TCase *tcase = tcase_create("split");
    tcase_set_timeout(tcase, 150);
    tcase_add_loop_test(tcase, test_grid, 0, 2);
    tcase_add_test(tcase, test_some);
    tcase_add_test(tcase, test_failure);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
