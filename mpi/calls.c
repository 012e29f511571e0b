// SPDX-License-Identifier: Apache-2.0
// The functions of MPI that a program calls, in front of MPI's own. What is not taken goes on to
// the PMPI function of the same name. MPI says what they do.
#include <mpi.h>

#include "mpi/beside.h"
#include "mpi/kinds.h"
#include "mpi/take.h"

static bool allreduce(const void *send, void *recv, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                      int *code)
{
    gn_mpi_kind kind;
    if (count <= 0 || !gn_mpi_kind_of(type, op, &kind)) return gn_mpi_leave();
    const gn_call call = {.collective = GN_ALLREDUCE,
                          .type = kind.type,
                          .send = send == MPI_IN_PLACE ? recv : send,
                          .recv = recv,
                          .count = (size_t)count * kind.values,
                          .id = GN_BUCKET_NONE};
    return gn_mpi_take(comm, "MPI_Allreduce", &call, (size_t)count * kind.bytes, code);
}

int MPI_Allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int code;
    return allreduce(send, recv, count, type, op, comm, &code) ? code
                                                               : PMPI_Allreduce(send, recv, count, type, op, comm);
}

#if MPI_VERSION >= 4
int MPI_Allreduce_c(const void *send, void *recv, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int code;
    return allreduce(send, recv, count, type, op, comm, &code) ? code
                                                               : PMPI_Allreduce_c(send, recv, count, type, op, comm);
}
#endif

int MPI_Finalize(void)
{
    gn_mpi_summary();
    gn_mpi_beside_end();
    return PMPI_Finalize();
}
