// SPDX-License-Identifier: Apache-2.0
#include "comm_meet.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <check.h>

void run_meet(int rank, const ranks *group, void *argument)
{
    const meeting_point *m = argument;
    gn_comm_config config = rank_config(rank, group);
    config.rendezvous = m->environment ? "env" : m->where;
    config.interface = m->interface;
    config.algorithm = m->algorithm;
    if (m->environment) {
        char text[16];
        config.rank = config.size = -1;
        snprintf(text, sizeof text, "%d", rank);
        setenv("RANK", text, 1);
        snprintf(text, sizeof text, "%d", group->size);
        setenv("WORLD_SIZE", text, 1);
        snprintf(text, sizeof text, "%u", m->port);
        setenv("MASTER_PORT", text, 1);
        setenv("MASTER_ADDR", "localhost", 1);
    }
    gn_comm *comm = rank_init(rank, group, &config);
    if (!comm) fprintf(stderr, "rank %d: %s\n", rank, group->reports[rank].text);
    RANK_CHECK(comm);
    float values[3] = {(float)rank, 1, 2};
    RANK_CHECK(!gn_allreduce(comm, values, values, 3, GN_SUM));
    RANK_CHECK(values[0] == (float)(group->size * (group->size - 1) / 2) && values[1] == (float)group->size);
    gn_comm_free(comm);
}

void meet_on_loopback(int rank, const ranks *group, gn_algorithm algorithm)
{
    meeting_point m = {.interface = "lo", .algorithm = algorithm};
    snprintf(m.where, sizeof m.where, "%s", group->rendezvous);
    run_meet(rank, group, &m);
}

void all_end_well(ranks *group, int size, rank_function function, void *argument, double seconds)
{
    ranks_start(group, size, function, argument);
    ranks_wait(group, seconds);
    for (int rank = 0; rank < size; rank++)
        ck_assert_msg(group->exits[rank] == 0, "rank %d: %s", rank, group->reports[rank].text);
}
