// SPDX-License-Identifier: Apache-2.0
// A program of MPI for the preload: what it returns is what MPI itself returns (PMPI_Allreduce). It
// runs as well without the preload.
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 120, MOST = 70000 };

static int rank, size;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "rank %d: %s:%d: %s\n", rank, __FILE__, __LINE__, #condition);                             \
            MPI_Abort(MPI_COMM_WORLD, 9);                                                                              \
        }                                                                                                              \
    } while (0)

static uint64_t next(uint64_t *seed)
{
    uint64_t z = (*seed += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

/// Small whole numbers, whose sums are exact in every type and order.
static void fill(void *at, MPI_Datatype type, size_t count, uint64_t seed)
{
    int bytes;
    MPI_Type_size(type, &bytes);
    for (size_t i = 0; i < count; i++) {
        const int value = (int)(next(&seed) % 15);
        if (type == MPI_FLOAT)
            ((float *)at)[i] = (float)value;
        else if (type == MPI_DOUBLE)
            ((double *)at)[i] = value;
        else if (type == MPI_C_FLOAT_COMPLEX)
            ((float *)at)[2 * i] = (float)value, ((float *)at)[2 * i + 1] = 1;
        else if (type == MPI_C_DOUBLE_COMPLEX)
            ((double *)at)[2 * i] = value, ((double *)at)[2 * i + 1] = 1;
        else if (bytes == 1)
            ((uint8_t *)at)[i] = (uint8_t)value;
        else if (bytes == 2)
            ((uint16_t *)at)[i] = (uint16_t)value;
        else if (bytes == 4)
            ((uint32_t *)at)[i] = (uint32_t)value * 0x11111111u;  // they wrap
        else
            ((uint64_t *)at)[i] = (uint64_t)value * 0x1111111111111111u;
    }
}

static void compare(MPI_Comm comm, uint64_t *seed, MPI_Datatype type, MPI_Op op, size_t count, int in_place)
{
    int bytes, me;
    MPI_Type_size(type, &bytes);
    MPI_Comm_rank(comm, &me);
    const size_t room = count * (size_t)bytes;
    char *send = malloc(room + 1), *recv = malloc(room + 1), *expected = malloc(room + 1), *kept = malloc(room + 1);
    CHECK(send && recv && expected && kept);
    fill(send, type, count, *seed + (uint64_t)me);
    memcpy(recv, send, room);
    memcpy(kept, send, room);
    CHECK(!PMPI_Allreduce(send, expected, (int)count, type, op, comm));
    CHECK(!MPI_Allreduce(in_place ? MPI_IN_PLACE : send, recv, (int)count, type, op, comm));
    CHECK(!memcmp(recv, expected, room) && !memcmp(send, kept, room));
#if MPI_VERSION >= 4
    memcpy(recv, send, room);
    CHECK(!MPI_Allreduce_c(in_place ? MPI_IN_PLACE : send, recv, (MPI_Count)count, type, op, comm));
    CHECK(!memcmp(recv, expected, room));
#endif
    free(send);
    free(recv);
    free(expected);
    free(kept);
}

static void one(MPI_Comm comm, uint64_t *seed, MPI_Op own)
{
    // Types that the library sums, and such that it does not.
    const MPI_Datatype types[] = {MPI_FLOAT,           MPI_DOUBLE, MPI_INT,     MPI_UNSIGNED, MPI_LONG,
                                  MPI_UINT64_T,        MPI_INT8_T, MPI_UINT8_T, MPI_SHORT,    MPI_C_FLOAT_COMPLEX,
                                  MPI_C_DOUBLE_COMPLEX};
    const MPI_Op ops[] = {MPI_SUM, MPI_SUM, MPI_SUM, MPI_PROD, MPI_MAX, own};
    const MPI_Datatype type = types[next(seed) % (sizeof types / sizeof *types)];
    MPI_Op op = ops[next(seed) % (sizeof ops / sizeof *ops)];
    const size_t count = next(seed) % (next(seed) % 2 ? MOST : 100);
    const int in_place = (int)(next(seed) % 2);
    if (op == MPI_MAX && (type == MPI_C_FLOAT_COMPLEX || type == MPI_C_DOUBLE_COMPLEX)) op = MPI_SUM;
    if (op == own && type != MPI_FLOAT) op = MPI_SUM;
    compare(comm, seed, type, op, count, in_place);
}

/// Not commutative in general, and no MPI_SUM: it is not taken.
static void add(void *in, void *sum, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++) ((float *)sum)[i] += ((const float *)in)[i];
}

/// Each type that the library sums, in a call that is large enough for it.
static void all_types(void)
{
    const MPI_Datatype types[] = {
        MPI_FLOAT,  MPI_DOUBLE,        MPI_INT,         MPI_UNSIGNED,        MPI_INT32_T,       MPI_UINT32_T,
        MPI_LONG,   MPI_UNSIGNED_LONG, MPI_LONG_LONG,   MPI_INT64_T,         MPI_UINT64_T,      MPI_UNSIGNED_LONG_LONG,
        MPI_INT8_T, MPI_UINT8_T,       MPI_SIGNED_CHAR, MPI_C_FLOAT_COMPLEX, MPI_UNSIGNED_CHAR, MPI_C_DOUBLE_COMPLEX};
    uint64_t seed = 8;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        compare(MPI_COMM_WORLD, &seed, types[i], MPI_SUM, MOST, 0);
}

static void many(MPI_Comm comm, uint64_t seed)
{
    MPI_Op own;
    MPI_Op_create(add, 0, &own);
    for (int i = 0; i < ROUNDS; i++) one(comm, &seed, own);
    MPI_Op_free(&own);
}

// A message that needs progress at its sender, which waits in the sum for its receiver.
static void progress(void)
{
    enum { LARGE = 1 << 22 };
    char *bytes = calloc(1, LARGE);
    float *values = calloc(MOST, sizeof *values);
    CHECK(bytes && values);
    MPI_Request request = MPI_REQUEST_NULL;
    if (!rank && size > 1) MPI_Isend(bytes, LARGE, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &request);
    if (rank == 1) MPI_Recv(bytes, LARGE, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(!MPI_Allreduce(MPI_IN_PLACE, values, MOST, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(bytes);
    free(values);
}

static void communicators(void)
{
    MPI_Comm copy, half, copy_of_half, reversed;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    many(copy, 2);
    many(half, 3 + (uint64_t)(rank % 2));
    MPI_Comm_dup(half, &copy_of_half);  // of one that has a group beside it
    MPI_Comm_free(&half);
    many(copy_of_half, 5);
    MPI_Comm_free(&copy_of_half);
    for (int i = 0; i < 20; i++) {  // handles come again
        MPI_Comm again;
        MPI_Comm_dup(copy, &again);
        uint64_t seed = (uint64_t)i;
        one(again, &seed, MPI_SUM);
        MPI_Comm_free(&again);
    }
    MPI_Comm_disconnect(&copy);
    many(reversed, 6);
    // `reversed` is left to MPI_Finalize().
}

#ifdef OPEN_MPI  // Debian's MPICH does not check arguments
/// What the program gets for wrong arguments is MPI's own error.
static void errors(void)
{
    float value = 1, sum;
    int class = MPI_SUCCESS;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Allreduce(&value, &sum, -1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD), &class);
    CHECK(class == MPI_ERR_COUNT);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}
#endif

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    all_types();
    many(MPI_COMM_WORLD, 1);
    many(MPI_COMM_SELF, 1);
    progress();
    communicators();
#ifdef OPEN_MPI
    errors();
#endif
    MPI_Finalize();
    return 0;
}
