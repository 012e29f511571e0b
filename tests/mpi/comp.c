// SPDX-License-Identifier: Apache-2.0
// A program that is linked with the library: MPI_*_comp compress floats, within the bound, and all
// else is exact. The argument "exact" says that nothing is compressed.
#include <gradnic/mpi_comp.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 30011, RANKS = 8 };

static int rank, size;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "rank %d: %s:%d: %s\n", rank, __FILE__, __LINE__, #condition);                             \
            MPI_Abort(MPI_COMM_WORLD, 9);                                                                              \
        }                                                                                                              \
    } while (0)

static float worst(const float *a, const float *b, int count)
{
    float most = 0;
    for (int i = 0; i < count; i++) most = fmaxf(most, fabsf(a[i] - b[i]));
    return most;
}

int main(int argc, char **argv)
{
    static float values[RANKS * BLOCK], sums[RANKS * BLOCK], again[RANKS * BLOCK], exact[RANKS * BLOCK];
    static float spread[2 * BLOCK];
    static int whole[BLOCK], total[BLOCK];
    int counts[RANKS];
    const int compressed = argc < 2 || strcmp(argv[1], "exact") != 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size > 1 && size <= RANKS);
    const int count = size * BLOCK;
    const float bound = compressed ? 0x1p-10f : 0x1p-20f;
    for (int i = 0; i < count; i++) values[i] = sinf((float)(i * (rank + 1)));
    PMPI_Allreduce(values, exact, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);

    CHECK(!MPI_Allreduce_comp(values, sums, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(worst(sums, exact, count) <= (float)size * bound);
    CHECK((worst(sums, exact, count) > 0x1p-13f) == compressed);
    memcpy(again, values, sizeof again);
    CHECK(!MPI_Allreduce_comp(MPI_IN_PLACE, again, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(!memcmp(again, sums, (size_t)count * sizeof *again));
    CHECK(!MPI_Allreduce(values, again, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(worst(again, exact, count) <= 0x1p-20f);

    int first = 0;
    for (int i = 0; i < size; i++) counts[i] = i ? BLOCK : BLOCK - 7;
    for (int i = 0; i < rank; i++) first += counts[i];
    CHECK(!MPI_Reduce_scatter_comp(values, again, counts, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(worst(again, exact + first, counts[rank]) <= (float)size * bound);
    CHECK(!compressed || !memcmp(again, sums + first, (size_t)counts[rank] * sizeof *again));

    float *const own = values + rank * BLOCK;
    PMPI_Allgather(own, BLOCK, MPI_FLOAT, exact, BLOCK, MPI_FLOAT, MPI_COMM_WORLD);
    CHECK(!MPI_Allgather_comp(own, BLOCK, MPI_FLOAT, again, BLOCK, MPI_FLOAT, MPI_COMM_WORLD));
    CHECK(worst(again, exact, count) <= (compressed ? bound : 0));
    CHECK((worst(again, exact, count) > 0) == compressed);
    memcpy(sums, again, sizeof sums);
    PMPI_Bcast(sums, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
    CHECK(!memcmp(sums, again, (size_t)count * sizeof *again));
    // A rank may name what it sends by a type that no other has.
    MPI_Datatype every_other;
    for (int i = 0; i < BLOCK; i++) spread[2 * i] = own[i];
    CHECK(!MPI_Type_vector(BLOCK, 1, 2, MPI_FLOAT, &every_other) && !MPI_Type_commit(&every_other));
    memset(again, 0, sizeof again);
    CHECK(rank == size - 1 ? !MPI_Allgather_comp(spread, 1, every_other, again, BLOCK, MPI_FLOAT, MPI_COMM_WORLD)
                           : !MPI_Allgather_comp(own, BLOCK, MPI_FLOAT, again, BLOCK, MPI_FLOAT, MPI_COMM_WORLD));
    CHECK(!memcmp(sums, again, (size_t)count * sizeof *again));
    MPI_Type_free(&every_other);
    CHECK(!MPI_Allgather_comp(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, BLOCK, MPI_FLOAT, MPI_COMM_WORLD));
    CHECK(!memcmp(values, again, (size_t)count * sizeof *again));

    // Integers and other operations are exact, and so are small calls.
    for (int i = 0; i < BLOCK; i++) whole[i] = i + rank;
    CHECK(!MPI_Allreduce_comp(whole, total, BLOCK, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < BLOCK; i++) CHECK(total[i] == i * size + size * (size - 1) / 2);
    CHECK(!MPI_Allreduce_comp(whole, total, BLOCK, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    for (int i = 0; i < BLOCK; i++) CHECK(total[i] == i + size - 1);
    CHECK(!MPI_Allgather_comp(&rank, 1, MPI_INT, total, 1, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++) CHECK(total[i] == i);
    MPI_Finalize();
    return 0;
}
