// SPDX-License-Identifier: Apache-2.0
// Messages between two ranks: a pipeline. Rank 0 makes vectors and sends each to the next rank.
// Each rank adds its number and sends it on. The last one tells rank 0 what came out.
//
//     RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=5000 messages &
//     RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=5000 messages
//
// An argument is a rendezvous.
#include <gradnic/comm.h>

#include <stdio.h>

enum { COUNT = 1000, VECTORS = 8, VECTOR = 1, ANSWER = 2 };

static int failed(const gn_comm *comm)
{
    fprintf(stderr, "%s\n", gn_comm_last_error(comm));
    return 1;
}

static float sum_of(const float *values)
{
    float sum = 0;
    for (int i = 0; i < COUNT; i++) sum += values[i];
    return sum;
}

/// One vector through this rank. @return whether that went well
static int pass_on(gn_comm *comm, int number)
{
    static float values[COUNT];
    const int rank = gn_comm_rank(comm), last = gn_comm_size(comm) - 1;
    for (int i = 0; i < COUNT && !rank; i++) values[i] = (float)number;
    if (rank && gn_recv(comm, values, sizeof values, rank - 1, VECTOR, NULL)) return 0;
    for (int i = 0; i < COUNT; i++) values[i] += (float)rank;
    if (rank < last) return !gn_send(comm, values, sizeof values, rank + 1, VECTOR);
    const float sum = sum_of(values);
    return !gn_send(comm, &sum, sizeof sum, 0, ANSWER);
}

int main(int argc, char **argv)
{
    gn_comm_config config = gn_comm_config_default();
    config.rendezvous = argc > 1 ? argv[1] : NULL;
    gn_comm *comm;
    if (gn_comm_init(&comm, &config)) return failed(NULL);
    const int ranks = gn_comm_size(comm);
    for (int number = 0; number < VECTORS; number++)
        if (!pass_on(comm, number)) return failed(comm);

    float sum = 0;
    int wrong = 0;
    for (int number = 0; number < VECTORS && !gn_comm_rank(comm); number++) {
        gn_received got;
        if (gn_recv(comm, &sum, sizeof sum, GN_ANY_RANK, ANSWER, &got)) return failed(comm);
        wrong += sum != (float)(COUNT * (number + ranks * (ranks - 1) / 2)) || got.rank != ranks - 1;
    }
    if (gn_broadcast(comm, &wrong, sizeof wrong, 0)) return failed(comm);
    printf("%d vectors through %d ranks, %d wrong\n", VECTORS, ranks, wrong);
    gn_comm_free(comm);
    return wrong > 0;
}
