// SPDX-License-Identifier: Apache-2.0
// MPI_Allreduce over float, timed as `gradnic bench allreduce` times it: the median at the slowest
// rank, with a barrier before each.
#include <mpi.h>

#include "peer.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc < 4) return 2;
    size_t count = strtoull(argv[1], NULL, 10) / sizeof(float);
    int iterations = atoi(argv[2]), warmup = atoi(argv[3]), rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    float *send = malloc(count * sizeof *send), *recv = calloc(count, sizeof *recv);
    double *times = calloc((size_t)iterations, sizeof *times), slowest;
    if (!send || !recv || !times) return 1;
    for (size_t i = 0; i < count; i++) send[i] = peer_value(rank, i);
    for (int i = -warmup; i < iterations; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = peer_now();
        MPI_Allreduce(send, recv, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        if (i >= 0) times[i] = peer_now() - start;
    }
    double median = peer_median(times, (size_t)iterations);
    MPI_Reduce(&median, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (!rank)
        printf("{\"time_us\": %.1f, \"wrong\": %llu}\n", slowest * 1e6,
               (unsigned long long)peer_wrong(recv, count, size));
    free(send);
    free(recv);
    free(times);
    MPI_Finalize();
    return 0;
}
