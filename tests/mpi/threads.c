// SPDX-License-Identifier: Apache-2.0
// Under MPI_THREAD_MULTIPLE each thread sums in communicators of its own, at the same time as the
// others. The threads start in another order at each rank, so the ranks meet in different order.
// The first call of the preload is one of these threads' as well, and they all come at once.
#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, TURNS = 2, ROUNDS = 8, COUNT = 40000 };

static int rank, size;
static pthread_barrier_t start;
static MPI_Comm parents[THREADS];

static void fail(const char *why, int thread)
{
    fprintf(stderr, "threads: rank %d, thread %d: %s\n", rank, thread, why);
    MPI_Abort(MPI_COMM_WORLD, 9);
}

static void sums(MPI_Comm comm, int thread, float *values)
{
    const int ranks = size * (size + 1) / 2;
    for (int round = 0; round < ROUNDS; round++) {
        // Sums of another thread or round would be others.
        const int step = (thread + 1) * 100 + round;
        for (int i = 0; i < COUNT; i++) values[i] = (float)((rank + 1) * (step + i % 7));
        if (MPI_Allreduce(MPI_IN_PLACE, values, COUNT, MPI_FLOAT, MPI_SUM, comm)) fail("no sum", thread);
        for (int i = 0; i < COUNT; i++)
            if (values[i] != (float)(ranks * (step + i % 7))) fail("a wrong sum", thread);
    }
}

static void *run(void *context)
{
    const int thread = (int)((MPI_Comm *)context - parents);
    float *values = malloc(COUNT * sizeof *values);
    if (!values) fail("out of memory", thread);
    pthread_barrier_wait(&start);
    for (int turn = 0; turn < TURNS; turn++) {  // a group is freed while others are made and sum
        MPI_Comm comm;
        MPI_Comm_dup(parents[thread], &comm);
        sums(comm, thread, values);
        MPI_Comm_free(&comm);
    }
    free(values);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (provided < MPI_THREAD_MULTIPLE) fail("this MPI has no MPI_THREAD_MULTIPLE", -1);
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &parents[i]);
    for (int i = 0; i < THREADS; i++) {
        const int thread = (i + rank) % THREADS;
        if (pthread_create(&threads[thread], NULL, run, &parents[thread])) fail("no thread", thread);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) MPI_Comm_free(&parents[i]);
    pthread_barrier_destroy(&start);
    MPI_Finalize();
    return 0;
}
