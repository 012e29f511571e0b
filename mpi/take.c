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

bool gn_mpi_take(MPI_Comm comm, gn_mpi_name name, const gn_call *call, size_t bytes, unsigned times, int *code)
{
    gn_comm *beside = gn_mpi_beside(comm, bytes / times, name.comp);
    if (!beside) return gn_mpi_leave();
    // In here MPI makes progress with messages that are under way. Ranks that wait for them could
    // not come otherwise. When it returns, all have come, and the exchange needs nothing of MPI.
    *code = PMPI_Barrier(comm);
    if (*code == MPI_SUCCESS && gn_comm_run(beside, call))
        *code = gn_mpi_fail(comm, name.function, gn_comm_last_error(beside));
    atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&taken_bytes, bytes, memory_order_relaxed);
    return true;
}

/// The bound of `codec` on a sum over `ranks`, or what there is instead of one. 0 ranks: none had a
/// codec.
static void say_bound(char *text, size_t size, const gn_comm_config *comm, int ranks)
{
    const char *of = comm->scale == GN_SCALE_AUTO ? " x 1.53 of a vector's RMS" : "";
    if (!ranks && gn_mpi_adds_integers(comm))
        snprintf(text, size, "sums of float are integers of the switch, and all others exact but for their order");
    else if (!ranks)
        snprintf(text, size, "sums are exact but for their order");
    else if (comm->codec.profile == GN_PAPER)
        snprintf(text, size, "paper cuts at each hop, at most 2^-%d each", comm->codec.bound_exp);
    else
        snprintf(text, size, "a sum of float is at most %d x 2^-%d%s off", ranks, comm->codec.bound_exp, of);
}

/// What went over the network. Through a switch the values themselves are not counted.
static void say_sent(char *text, size_t size, gn_algorithm algorithm, const gn_mpi_sent *sent)
{
    const uint64_t values = algorithm == GN_SWITCH ? atomic_load(&taken_bytes) : sent->bytes;
    const double fewer = sent->wire_bytes ? (double)values / (double)sent->wire_bytes : 1;
    if (algorithm == GN_SWITCH)
        snprintf(text, size, "sent %" PRIu64 " bytes of datagrams (%.2f times fewer)", sent->wire_bytes, fewer);
    else
        snprintf(text, size, "sent %" PRIu64 " bytes as %" PRIu64 " (%.2f times fewer)", values, sent->wire_bytes,
                 fewer);
}

void gn_mpi_summary(int rank)
{
    const gn_mpi_settings *settings = gn_mpi_settings_get();
    if (!settings->summary || rank) return;
    const gn_mpi_sent sent = gn_mpi_beside_sent();
    char bound[100], gone[100];
    say_bound(bound, sizeof bound, &settings->comm, sent.ranks);
    say_sent(gone, sizeof gone, settings->comm.algorithm, &sent);
    fprintf(stderr,
            "gradnic: rank 0: took %" PRIuFAST64 " calls with %" PRIuFAST64 " bytes, left %" PRIuFAST64
            " to MPI; %s; %s\n",
            atomic_load(&taken), atomic_load(&taken_bytes), atomic_load(&left), gone, bound);
}
