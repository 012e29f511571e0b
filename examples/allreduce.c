// SPDX-License-Identifier: Apache-2.0
// Averages a gradient over all ranks. Start one process for each rank:
//
//     RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=5000 allreduce &
//     RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=5000 allreduce
//
// or let a launcher do it: mpirun -n 2 allreduce, srun -n 2 allreduce, torchrun.
//
// An argument is a rendezvous, such as tcp://127.0.0.1:5000, in place of MASTER_ADDR and
// MASTER_PORT. All ranks print the same sum of bits.
#include <gradnic/comm.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 100000 };

static float contribution(int rank, int i)
{
    return sinf((float)(i + 1) * (float)(rank + 1)) / 100;
}

static int is_right(const float *average, int ranks)
{
    for (int i = 0; i < COUNT; i++) {
        double sum = 0;
        for (int rank = 0; rank < ranks; rank++) sum += (double)contribution(rank, i);
        if (fabs((double)average[i] - sum / ranks) > 0x1p-10) return 0;
    }
    return 1;
}

int main(int argc, char **argv)
{
    static float gradient[COUNT];

    gn_comm_config config = gn_comm_config_default();  // rank and size: the launcher's
    config.rendezvous = argc > 1 ? argv[1] : NULL;     // NULL: the launcher's, too
    config.quantise = true;                            // compress with dense, |error| <= 2^-10
    gn_comm *comm;
    if (gn_comm_init(&comm, &config)) {
        fprintf(stderr, "%s\n", gn_comm_last_error(NULL));
        return 1;
    }
    const int rank = gn_comm_rank(comm), ranks = gn_comm_size(comm);
    for (int i = 0; i < COUNT; i++) gradient[i] = contribution(rank, i);
    if (gn_allreduce(comm, gradient, gradient, COUNT, GN_AVERAGE)) {
        fprintf(stderr, "%s\n", gn_comm_last_error(comm));
        return 1;
    }
    gn_comm_free(comm);

    uint64_t bits = 0;
    for (int i = 0; i < COUNT; i++) {
        uint32_t word;
        memcpy(&word, &gradient[i], sizeof word);
        bits = bits * 31 + word;
    }
    printf("%d ranks, sum of bits %016" PRIx64 "\n", ranks, bits);
    return is_right(gradient, ranks) ? 0 : 1;
}
