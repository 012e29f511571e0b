// SPDX-License-Identifier: Apache-2.0
// Training with shards: each rank keeps and updates one part of the parameters. In each step the
// gradients are added by reduce_scatter, compressed. Each rank updates its part, and all_gather
// brings the new parameters to all, as they are.
//
//     RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=5000 shards &
//     RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=5000 shards
//
// An argument is a rendezvous. All ranks print the same sum of bits.
#include <gradnic/comm.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 100003, STEPS = 5 };

static float gradient_of(int rank, int step, size_t i)
{
    return (float)((int)(i * 7 + (size_t)(rank * 3 + step)) % 13 - 6) / 100;
}

static int failed(const gn_comm *comm)
{
    fprintf(stderr, "%s\n", gn_comm_last_error(comm));
    return 1;
}

int main(int argc, char **argv)
{
    static float parameters[COUNT], gradient[COUNT];
    gn_comm_config config = gn_comm_config_default();
    config.rendezvous = argc > 1 ? argv[1] : NULL;
    config.quantise = true;
    gn_comm *comm;
    if (gn_comm_init(&comm, &config)) return failed(NULL);
    const int rank = gn_comm_rank(comm);
    const size_t ranks = (size_t)gn_comm_size(comm);

    // The last parts have one parameter less where the ranks do not divide them.
    size_t counts[256], first = 0;
    for (size_t r = 0; r < ranks; r++) counts[r] = COUNT / ranks + (r < COUNT % ranks);
    for (int r = 0; r < rank; r++) first += counts[r];
    const size_t own = counts[rank];
    float *part = malloc((own + 1) * sizeof *part);
    if (!part) return 1;

    for (int step = 0; step < STEPS; step++) {
        for (size_t i = 0; i < COUNT; i++) gradient[i] = gradient_of(rank, step, i);
        const gn_call scatter = {
            .collective = GN_REDUCE_SCATTER, .op = GN_AVERAGE, .send = gradient, .recv = part, .counts = counts};
        if (gn_comm_run(comm, &scatter)) return failed(comm);
        for (size_t i = 0; i < own; i++) parameters[first + i] -= 0.1f * part[i];
        const gn_call gather = {
            .collective = GN_ALL_GATHER, .send = parameters + first, .recv = parameters, .counts = counts};
        if (gn_comm_run(comm, &gather)) return failed(comm);
    }
    gn_comm_free(comm);
    free(part);

    uint64_t bits = 0;
    for (int i = 0; i < COUNT; i++) {
        uint32_t word;
        memcpy(&word, &parameters[i], sizeof word);
        bits = bits * 31 + word;
    }
    printf("%zu ranks, sum of bits %016" PRIx64 "\n", ranks, bits);
    return 0;
}
