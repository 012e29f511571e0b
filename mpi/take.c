// SPDX-License-Identifier: Apache-2.0
#include "mpi/take.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "mpi/beside.h"

static atomic_uint_fast64_t taken, left, taken_bytes;

bool gn_mpi_leave(void)
{
    atomic_fetch_add_explicit(&left, 1, memory_order_relaxed);
    return false;
}

bool gn_mpi_take(MPI_Comm comm, const char *function, const gn_call *call, size_t bytes, unsigned times, int *code)
{
    gn_comm *beside = gn_mpi_beside(comm, bytes / times);
    if (!beside) return gn_mpi_leave();
    // In here MPI makes progress with messages that are under way. Ranks that wait for them could
    // not come otherwise. When it returns, all have come, and the exchange needs nothing of MPI.
    *code = PMPI_Barrier(comm);
    if (*code == MPI_SUCCESS && gn_comm_run(beside, call))
        *code = gn_mpi_fail(comm, function, gn_comm_last_error(beside));
    atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&taken_bytes, bytes, memory_order_relaxed);
    return true;
}

void gn_mpi_summary(void)
{
    int rank = 0;
    if (!gn_mpi_settings_get()->summary) return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank) return;
    fprintf(stderr,
            "gradnic: rank 0: took %" PRIuFAST64 " calls with %" PRIuFAST64 " bytes, left %" PRIuFAST64 " to MPI\n",
            atomic_load(&taken), atomic_load(&taken_bytes), atomic_load(&left));
}
