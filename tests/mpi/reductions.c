// SPDX-License-Identifier: Apache-2.0
// A program of MPI for the preload: MPI_Reduce and both forms of MPI_Reduce_scatter return what MPI
// itself returns (PMPI_...), at every root, in place or not, with blocks of any size. It runs
// without the preload as well. With "counted" it makes calls of known sizes for two ranks, so that
// the summary can be compared: 6 that are taken from 4096 bytes on, and 6 that are left.
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 60, MOST = 60000, RANKS = 16 };

static int rank, size;
static unsigned seed = 7;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "rank %d: %s:%d: %s\n", rank, __FILE__, __LINE__, #condition);                             \
            MPI_Abort(MPI_COMM_WORLD, 9);                                                                              \
        }                                                                                                              \
    } while (0)

/// The same at all ranks.
static unsigned next(void)
{
    seed = seed * 1103515245u + 12345u;
    return seed >> 8;
}

/// Small whole numbers, whose sums are exact in every order.
static void fill(void *at, MPI_Datatype type, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const int value = (int)((i * 7 + (size_t)rank * 13 + i / 11) % 100);
        if (type == MPI_FLOAT)
            ((float *)at)[i] = (float)value;
        else if (type == MPI_DOUBLE)
            ((double *)at)[i] = value;
        else if (type == MPI_C_FLOAT_COMPLEX)
            ((float *)at)[2 * i] = (float)value, ((float *)at)[2 * i + 1] = 1;
        else
            ((int *)at)[i] = value;
    }
}

static void one(MPI_Comm comm)
{
    const MPI_Datatype types[] = {MPI_FLOAT, MPI_DOUBLE, MPI_INT, MPI_C_FLOAT_COMPLEX};
    const MPI_Datatype type = types[next() % 4];
    const MPI_Op op = next() % 4 || type == MPI_C_FLOAT_COMPLEX ? MPI_SUM : MPI_MAX;
    const size_t count = next() % 3 ? next() % MOST : next() % 50;
    const int in_place = (int)(next() % 2), root = (int)(next() % (unsigned)size);
    int bytes, me, counts[RANKS];
    MPI_Type_size(type, &bytes);
    MPI_Comm_rank(comm, &me);
    size_t all = 0;
    int scatter_in_place = in_place;
    for (int i = 0; i < size; i++) {
        counts[i] = next() % 4 ? (int)(next() % (count + 1)) : 0;
#ifndef OPEN_MPI
        // MPICH 4.0.2 itself ends a program whose block overlaps the place that it is moved to
        if (all && (size_t)counts[i] > all) scatter_in_place = 0;
#endif
        all += (size_t)counts[i];
    }
    const size_t most = (all > count * (size_t)size ? all : count * (size_t)size) * (size_t)bytes + 1;
    char *send = malloc(most), *recv = malloc(most), *expected = malloc(most), *kept = malloc(most);
    CHECK(send && recv && expected && kept);
    fill(send, type, most / (size_t)bytes);
    memcpy(kept, send, most);

    const size_t whole = count * (size_t)bytes;
#ifdef OPEN_MPI
    const int own_place = in_place && me == root;
#else
    const int own_place = in_place && me == root && root == 0;  // MPICH 4.0.2 itself crashes at other roots
#endif
    memcpy(recv, send, most);
    CHECK(!PMPI_Reduce(send, expected, (int)count, type, op, root, comm));
    CHECK(!MPI_Reduce(own_place ? MPI_IN_PLACE : send, me == root ? recv : NULL, (int)count, type, op, root, comm));
    CHECK(me != root || !memcmp(recv, expected, whole));
    CHECK(!memcmp(recv + (me == root ? whole : 0), send + (me == root ? whole : 0), most - (me == root ? whole : 0)));

    memcpy(recv, send, most);
    CHECK(!PMPI_Reduce_scatter_block(send, expected, (int)count, type, op, comm));
    CHECK(!MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : send, recv, (int)count, type, op, comm));
    CHECK(!memcmp(recv, expected, whole));

    memcpy(recv, send, most);
    CHECK(!PMPI_Reduce_scatter(send, expected, counts, type, op, comm));
    CHECK(!MPI_Reduce_scatter(scatter_in_place ? MPI_IN_PLACE : send, scatter_in_place || counts[me] ? recv : NULL,
                              counts, type, op, comm));
    CHECK(!memcmp(recv, expected, (size_t)counts[me] * (size_t)bytes));
#if MPI_VERSION >= 4
    MPI_Count large[RANKS];
    for (int i = 0; i < size; i++) large[i] = counts[i];
    memcpy(recv, send, most);
    CHECK(!MPI_Reduce_scatter_c(scatter_in_place ? MPI_IN_PLACE : send, recv, large, type, op, comm));
    CHECK(!memcmp(recv, expected, (size_t)counts[me] * (size_t)bytes));
    CHECK(!PMPI_Reduce_scatter_block(send, expected, (int)count, type, op, comm));
    memcpy(recv, send, most);
    CHECK(!MPI_Reduce_scatter_block_c(in_place ? MPI_IN_PLACE : send, recv, (MPI_Count)count, type, op, comm));
    CHECK(!memcmp(recv, expected, whole));
    CHECK(!PMPI_Reduce(send, expected, (int)count, type, op, root, comm));
    CHECK(!MPI_Reduce_c(send, recv, (MPI_Count)count, type, op, root, comm));
    CHECK(me != root || !memcmp(recv, expected, whole));
#endif
    CHECK(!memcmp(send, kept, most));
    free(send);
    free(recv);
    free(expected);
    free(kept);
}

/// Groups that sum into each other are MPI's: roots are named otherwise there.
static void intercommunicator(void)
{
    if (size < 2) return;
    enum { COUNT = 30000 };
    MPI_Comm half, inter;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 3, &inter);
    float *values = malloc(COUNT * sizeof *values), *sum = malloc(COUNT * sizeof *sum);
    CHECK(values && sum);
    for (int i = 0; i < COUNT; i++) values[i] = 2;
    const int root = rank % 2 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    CHECK(!MPI_Reduce(values, sum, COUNT, MPI_FLOAT, MPI_SUM, root, inter));
    CHECK(rank || sum[COUNT - 1] == (float)(size / 2 * 2));
    free(values);
    free(sum);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/// MPI_Finalize() calls this first of all, and MPI still works in it.
static int last(MPI_Comm self, int key, void *value, void *extra)
{
    int one = 1, sum = 0;
    (void)self, (void)key, (void)value, (void)extra;
    CHECK(!MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) && sum == size);
    return MPI_SUCCESS;
}

static void counted(void)
{
    enum { LEAST = 1024, LATER = 16 * LEAST };  // floats
    static float send[LATER], recv[LATER];
    const int last = size - 1, first_half[2] = {LATER, 0}, second_half[2] = {0, LATER}, fewer[2] = {0, LATER - 1};
    CHECK(size == 2);
    for (int i = 0; i < LATER; i++) send[i] = (float)(i + rank);
    CHECK(!MPI_Allreduce(send, recv, LEAST, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(recv[LEAST - 1] == 2 * LEAST - 1);
    CHECK(!MPI_Reduce(send, recv, LATER, MPI_FLOAT, MPI_SUM, last, MPI_COMM_WORLD));
    CHECK(rank != last || recv[LATER - 1] == 2 * LATER - 1);
    CHECK(!MPI_Reduce(send, recv, LATER, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD));
    CHECK(rank || recv[LATER - 1] == 2 * LATER - 1);
    CHECK(!MPI_Reduce_scatter_block(send, recv, LATER / 2, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(recv[0] == (float)(rank * LATER + 1));
    CHECK(!MPI_Reduce_scatter(send, recv, first_half, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(!MPI_Reduce_scatter(send, recv, second_half, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(recv[LATER - 1] == 2 * LATER - 1);

    CHECK(!MPI_Allreduce(send, recv, LEAST - 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(!MPI_Allreduce(send, recv, 0, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(!MPI_Allreduce(send, recv, LATER, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD));
    CHECK(!MPI_Reduce(send, recv, LATER - 1, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD));
    CHECK(!MPI_Reduce_scatter_block(send, recv, LATER / 2 - 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(!MPI_Reduce_scatter(send, recv, fewer, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
}

#ifdef OPEN_MPI  // Debian's MPICH does not check arguments
static void returns(int code, int expected)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    CHECK(class == expected);
}

/// What the program gets for wrong arguments is MPI's own error, however large the call is.
static void errors(void)
{
    static float send[MOST], recv[MOST];
    int counts[RANKS] = {0};
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    returns(MPI_Reduce(send, recv, MOST, MPI_FLOAT, MPI_SUM, size, MPI_COMM_WORLD), MPI_ERR_ROOT);
    returns(MPI_Reduce(send, recv, MOST, MPI_FLOAT, MPI_SUM, -20, MPI_COMM_WORLD), MPI_ERR_ROOT);
    returns(MPI_Reduce(send, recv, -1, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    returns(MPI_Reduce(send, recv, MOST, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    returns(MPI_Reduce_scatter_block(send, recv, -1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT);
    counts[0] = MOST;
    counts[size - 1] = -1;
    returns(MPI_Reduce_scatter(send, recv, counts, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}
#endif

int main(int argc, char **argv)
{
    int key;
    MPI_Comm reversed;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= RANKS);
    if (argc > 1) {
        CHECK(!strcmp(argv[1], "counted"));
        counted();
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    for (int i = 0; i < ROUNDS; i++) one(i % 2 ? reversed : MPI_COMM_WORLD);
    intercommunicator();
    MPI_Comm_free(&reversed);
#ifdef OPEN_MPI
    errors();
#endif
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, last, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    MPI_Finalize();
    return 0;
}
