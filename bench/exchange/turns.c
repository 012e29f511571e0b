// SPDX-License-Identifier: Apache-2.0
// MPI_Allreduce of float beside MPI's own (PMPI_Allreduce), in turns in one process, so that both
// see the same machine. It is for the preload (bench/mpi.sh). Rank 0 prints a line for each size.
// A call takes as long as its slowest rank does, behind a barrier.
//
//     turns [SECONDS [FILE ERROR]]
//
// At most SECONDS for each size; 8 by default. FILE has the values, binary32 of this machine, again
// and again; %r in its name is the rank. With it the sizes begin at 1 MiB, and a sum may be ERROR
// off MPI's.
#include <mpi.h>
#include <string.h>

#include "peer.h"

enum { MOST = 1000, LEAST = 5 };

static int rank, size;

static struct {
    float *value;  // none: those of peer.h
    size_t count;
    double error;
} input;

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

static void read_input(const char *file, const char *error)
{
    char name[512] = "";
    const char *place = strstr(file, "%r");
    const int head = place ? (int)(place - file) : (int)strlen(file);
    if (place) snprintf(name, sizeof name, "%.*s%d%s", head, file, rank, place + 2);
    FILE *in = fopen(place ? name : file, "rb");
    enum { ROOM = 1 << 22 };
    input.value = malloc(ROOM * sizeof(float));
    input.count = in && input.value ? fread(input.value, sizeof(float), ROOM, in) : 0;
    input.error = atof(error);
    if (!input.count) {
        fprintf(stderr, "turns: %s: cannot be read, or has no value\n", place ? name : file);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    fclose(in);
}

/// Of MPI's own sum with an input, else of the sum that is computed here.
static uint64_t count_wrong(const float *recv, const float *own, size_t count)
{
    if (!input.count) return peer_wrong(recv, count, size);
    uint64_t wrong = 0;
    for (size_t i = 0; i < count; i++) wrong += !(fabs((double)recv[i] - (double)own[i]) <= input.error);
    return wrong;
}

static void one(size_t bytes, double seconds)
{
    const size_t count = bytes / sizeof(float);
    float *send = malloc(bytes), *recv = malloc(bytes), *own = malloc(bytes);
    double with[MOST], without[MOST];
    if (!send || !recv || !own) MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t i = 0; i < count; i++) send[i] = input.count ? input.value[i % input.count] : peer_value(rank, i);
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
            bytes, size, n, preloaded * 1e6, plain * 1e6, (unsigned long long)count_wrong(recv, own, count));
        fflush(stdout);
    }
    free(send);
    free(recv);
    free(own);
}

int main(int argc, char **argv)
{
    const size_t sizes[] = {8, 1024, 16384, 65536, 262144, 1 << 20, 4 << 20, 25000000, 100000000};
    enum { SIZES = sizeof sizes / sizeof *sizes, LARGE = 5 };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 3) read_input(argv[2], argv[3]);
    for (size_t i = input.count ? LARGE : 0; i < SIZES; i++) one(sizes[i], argc > 1 ? atof(argv[1]) : 8);
    MPI_Finalize();
    return 0;
}
