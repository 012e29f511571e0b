// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_MPI_TAKE_H
#define GRADNIC_MPI_TAKE_H
/// Runs a call of MPI in the library, and counts.

#include <mpi.h>

#include <gradnic/comm.h>

/// What a program has called.
typedef struct gn_mpi_name {
    const char *function;  ///< for errors
    bool comp;             ///< compress, whatever the environment says
} gn_mpi_name;

/// Runs `call` beside the communicator, or says that it is MPI's. Calls are taken from `times` the
/// bytes on that MPI_Allreduce is. With true, `*code` is what the call returns to the program.
bool gn_mpi_take(MPI_Comm comm, gn_mpi_name name, const gn_call *call, size_t bytes, unsigned times, int *code);

/// A call that was not even tried is MPI's. @return false
bool gn_mpi_leave(void);

/// Says on stderr what was taken, where GRADNIC_SUMMARY asks for it and `rank` is 0.
void gn_mpi_summary(int rank);

#endif
