// SPDX-License-Identifier: Apache-2.0
// MPI_Allreduce of float beside MPI's own (PMPI_Allreduce), in turns in one process, so that both
// see the same machine. It is for the preload (bench/mpi.sh). Rank 0 prints a line for each size.
// A call takes as long as its slowest rank does, behind a barrier.
//
//     turns [SECONDS]     at most so many for each size; 8 by default
#include <mpi.h>

#include "peer.h"

enum { MOST = 1000, LEAST = 5 };

static int rank, size;

typedef int reduce_function(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

static double timed(reduce_function *reduce, const float *send, float *recv, size_t count)
{
    PMPI_Barrier(MPI_COMM_WORLD);
    const double start = peer_now();
    reduce(send, recv, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    return peer_now() - start;
}

static double median(double *times, int count)
{
    double slowest[MOST];
    PMPI_Reduce(times, slowest, count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return rank ? 0 : peer_median(slowest, (size_t)count);
}

static void one(size_t bytes, double seconds)
{
    const size_t count = bytes / sizeof(float);
    float *send = malloc(bytes), *recv = malloc(bytes), *own = malloc(bytes);
    double with[MOST], without[MOST];
    if (!send || !recv || !own) MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t i = 0; i < count; i++) send[i] = peer_value(rank, i);
    timed(MPI_Allreduce, send, recv, count);
    timed(PMPI_Allreduce, send, own, count);
    const double begin = peer_now();
    int n = 0, again = 1;
    while (again) {
        // Neither always comes first.
        if (n % 2) with[n] = timed(MPI_Allreduce, send, recv, count);
        without[n] = timed(PMPI_Allreduce, send, own, count);
        if (n % 2 == 0) with[n] = timed(MPI_Allreduce, send, recv, count);
        again = ++n < MOST && (n < LEAST || peer_now() - begin < seconds);
        PMPI_Bcast(&again, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    const double preloaded = median(with, n), plain = median(without, n);
    if (!rank) {
        printf(
            "{\"size\": %zu, \"ranks\": %d, \"turns\": %d, \"preload_us\": %.2f, \"mpi_us\": %.2f, \"wrong\": %llu}\n",
            bytes, size, n, preloaded * 1e6, plain * 1e6, (unsigned long long)peer_wrong(recv, count, size));
        fflush(stdout);
    }
    free(send);
    free(recv);
    free(own);
}

int main(int argc, char **argv)
{
    const size_t sizes[] = {8, 1024, 16384, 65536, 262144, 1 << 20, 4 << 20, 25000000, 100000000};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) one(sizes[i], argc > 1 ? atof(argv[1]) : 8);
    MPI_Finalize();
    return 0;
}
