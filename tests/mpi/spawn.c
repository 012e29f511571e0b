// SPDX-License-Identifier: Apache-2.0
// Ranks that start others, which may be without the preload, and sum with them. The sums are right,
// and those of the first ranks alone are taken as before.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 100000, CHILDREN = 2 };

static double values[MOST], sums[MOST];

/// Whether sums of several sizes are right.
static int is_right(MPI_Comm comm)
{
    static const int counts[] = {1, 2, 1000, MOST};
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < counts[k]; i++) values[i] = rank + i;
        if (MPI_Allreduce(values, sums, counts[k], MPI_DOUBLE, MPI_SUM, comm) != MPI_SUCCESS) return 0;
        for (int i = 0; i < counts[k]; i++)
            if (sums[i] < (double)size * i + size * (size - 1) / 2 - 0.25 ||
                sums[i] > (double)size * i + size * (size - 1) / 2 + 0.25)
                return 0;
    }
    return 1;
}

int main(int argc, char **argv)
{
    static char child[] = "child";
    char *arguments[] = {child, NULL};
    int codes[CHILDREN], wrong = 0;
    MPI_Comm parents, between, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parents);
    const int spawned = parents != MPI_COMM_NULL;
    if (spawned)
        between = parents;
    else
        MPI_Comm_spawn(argv[0], arguments, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, codes);
    MPI_Intercomm_merge(between, spawned, &all);
    if (!is_right(all)) wrong = 1;
    if (!is_right(MPI_COMM_WORLD)) wrong = 1;
    printf("%s %s: sums are %s\n", spawned ? "child" : "parent", getenv("LD_PRELOAD") ? "with" : "without",
           wrong ? "wrong" : "right");
    fflush(stdout);
    MPI_Barrier(all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&between);
    MPI_Finalize();
    return wrong;
}
