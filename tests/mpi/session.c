// SPDX-License-Identifier: Apache-2.0
// A program with a session of MPI 4.
//
//   session alone    a sum in it. There is neither MPI_COMM_WORLD nor MPI_COMM_SELF
//   session within   between MPI_Init() and MPI_Finalize(), which have a sum of their own
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

enum { COUNT = 100000 };

static float values[COUNT];

static void check(int code, const char *what)
{
    if (!code) return;
    fprintf(stderr, "%s: %d\n", what, code);
    exit(EXIT_FAILURE);
}

static void sum_over(MPI_Comm comm)
{
    int size;
    check(MPI_Comm_size(comm, &size), "size");
    for (int i = 0; i < COUNT; i++) values[i] = (float)(i % 100);
    check(MPI_Allreduce(MPI_IN_PLACE, values, COUNT, MPI_FLOAT, MPI_SUM, comm), "sum");
    for (int i = 0; i < COUNT; i++) check(values[i] != (float)(i % 100 * size), "a sum is wrong");
}

static void run_session(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    check(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), "session");
    check(MPI_Group_from_session_pset(session, "mpi://WORLD", &group), "group");
    check(MPI_Comm_create_from_group(group, "gradnic", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), "communicator");
    check(MPI_Group_free(&group), "group's end");
    sum_over(comm);
    check(MPI_Comm_free(&comm), "communicator's end");
    check(MPI_Session_finalize(&session), "session's end");
}

int main(int argc, char **argv)
{
    const bool within = argc > 1 && !strcmp(argv[1], "within");
    if (within) check(MPI_Init(&argc, &argv), "begin");
    run_session();
    if (within) sum_over(MPI_COMM_WORLD);
    if (within) check(MPI_Finalize(), "end");
    return EXIT_SUCCESS;
}
