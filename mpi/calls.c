// SPDX-License-Identifier: Apache-2.0
// The functions of MPI that a program calls, in front of MPI's own. What is not taken goes on to
// the PMPI function of the same name. MPI says what they do. Below each stands what compresses.
#include <gradnic/mpi_comp.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/beside.h"
#include "mpi/kinds.h"
#include "mpi/take.h"

#define EXACT(function) ((gn_mpi_name){function, false})
#define COMP(function) ((gn_mpi_name){function, true})

static bool allreduce(gn_mpi_name name, const void *send, void *recv, MPI_Count count, MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm, int *code)
{
    gn_mpi_kind kind;
    if (count <= 0 || op != MPI_SUM || !gn_mpi_kind_of(type, &kind)) return gn_mpi_leave();
    const gn_call call = {.collective = GN_ALLREDUCE,
                          .type = kind.type,
                          .send = send == MPI_IN_PLACE ? recv : send,
                          .recv = recv,
                          .count = (size_t)count * kind.values,
                          .id = GN_BUCKET_NONE};
    return gn_mpi_take(comm, name, &call, (size_t)count * kind.bytes, 1, code);
}

int MPI_Allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int code;
    return allreduce(EXACT("MPI_Allreduce"), send, recv, count, type, op, comm, &code)
               ? code
               : PMPI_Allreduce(send, recv, count, type, op, comm);
}

int MPI_Allreduce_comp(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int code;
    return allreduce(COMP("MPI_Allreduce_comp"), send, recv, count, type, op, comm, &code)
               ? code
               : PMPI_Allreduce(send, recv, count, type, op, comm);
}

#if MPI_VERSION >= 4
int MPI_Allreduce_c(const void *send, void *recv, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int code;
    return allreduce(EXACT("MPI_Allreduce"), send, recv, count, type, op, comm, &code)
               ? code
               : PMPI_Allreduce_c(send, recv, count, type, op, comm);
}
#endif

/// MPI_Reduce and MPI_Reduce_scatter pay later than MPI_Allreduce: from so many times the bytes.
enum { LATER = 16 };

/// Ranks of a communicator. 0: of none, or of an intercommunicator, whose calls are MPI's.
static int ranks_of(MPI_Comm comm)
{
    int size, inter;
    if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) || inter) return 0;
    return PMPI_Comm_size(comm, &size) ? 0 : size;
}

static bool reduce(const void *send, void *recv, MPI_Count count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                   int *code)
{
    gn_mpi_kind kind;
    if (count <= 0 || root < 0 || op != MPI_SUM || !gn_mpi_kind_of(type, &kind) || root >= ranks_of(comm))
        return gn_mpi_leave();
    const gn_call call = {.collective = GN_REDUCE,
                          .type = kind.type,
                          .send = send == MPI_IN_PLACE ? recv : send,
                          .recv = recv,
                          .count = (size_t)count * kind.values,
                          .root = root,
                          .id = GN_BUCKET_NONE};
    return gn_mpi_take(comm, EXACT("MPI_Reduce"), &call, (size_t)count * kind.bytes, LATER, code);
}

int MPI_Reduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    int code;
    return reduce(send, recv, count, type, op, root, comm, &code)
               ? code
               : PMPI_Reduce(send, recv, count, type, op, root, comm);
}

/// `counts`: elements of each rank's block. It is freed. NULL: out of memory.
static bool reduce_scatter(gn_mpi_name name, const void *send, void *recv, size_t *counts, const gn_mpi_kind *kind,
                           MPI_Comm comm, int *code)
{
    const int ranks = ranks_of(comm);
    int rank = 0;
    size_t all = 0;
    PMPI_Comm_rank(comm, &rank);
    for (int i = 0; counts && i < ranks; i++) all += counts[i];
    for (int i = 0; counts && i < ranks; i++) counts[i] *= kind->values;
    const size_t own = counts ? counts[rank] / kind->values * kind->bytes : 0;
    // In place the vector stands where this rank's block goes to, and the library wants two places.
    // Else a rank whose block is empty may give NULL.
    const bool in_place = counts && send == MPI_IN_PLACE;
    void *const block = in_place ? malloc(own + 1) : recv;
    bool taken = true;
    if (!counts || (in_place && !block)) {
        *code = gn_mpi_fail(comm, name.function, "out of memory");
    } else {
        const gn_call call = {.collective = GN_REDUCE_SCATTER,
                              .type = kind->type,
                              .send = send == MPI_IN_PLACE ? recv : send,
                              .recv = block,
                              .counts = counts,
                              .id = GN_BUCKET_NONE};
        taken = gn_mpi_take(comm, name, &call, all * kind->bytes, name.comp ? 1 : LATER, code);
        if (taken && in_place && own) memcpy(recv, block, own);
    }
    if (in_place) free(block);
    free(counts);
    return taken;
}

static bool reduce_scatter_block(const void *send, void *recv, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                 MPI_Comm comm, int *code)
{
    gn_mpi_kind kind;
    const int ranks = count <= 0 || op != MPI_SUM || !gn_mpi_kind_of(type, &kind) ? 0 : ranks_of(comm);
    if (ranks < 1) return gn_mpi_leave();
    size_t *counts = malloc((size_t)ranks * sizeof *counts);
    for (int i = 0; counts && i < ranks; i++) counts[i] = (size_t)count;
    return reduce_scatter(EXACT("MPI_Reduce_scatter_block"), send, recv, counts, &kind, comm, code);
}

int MPI_Reduce_scatter_block(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int code;
    return reduce_scatter_block(send, recv, count, type, op, comm, &code)
               ? code
               : PMPI_Reduce_scatter_block(send, recv, count, type, op, comm);
}

/// One of `small` and `large` is NULL.
static bool reduce_scatter_counts(gn_mpi_name name, const void *send, void *recv, const int *small,
                                  const MPI_Count *large, MPI_Datatype type, MPI_Op op, MPI_Comm comm, int *code)
{
    gn_mpi_kind kind;
    const int ranks = (!small && !large) || op != MPI_SUM || !gn_mpi_kind_of(type, &kind) ? 0 : ranks_of(comm);
    for (int i = 0; i < ranks; i++)
        if ((small ? small[i] : large[i]) < 0) return gn_mpi_leave();  // an error that MPI tells of
    if (ranks < 1) return gn_mpi_leave();
    size_t *counts = malloc((size_t)ranks * sizeof *counts);
    for (int i = 0; counts && i < ranks; i++) counts[i] = (size_t)(small ? small[i] : large[i]);
    return reduce_scatter(name, send, recv, counts, &kind, comm, code);
}

int MPI_Reduce_scatter(const void *send, void *recv, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int code;
    return reduce_scatter_counts(EXACT("MPI_Reduce_scatter"), send, recv, counts, NULL, type, op, comm, &code)
               ? code
               : PMPI_Reduce_scatter(send, recv, counts, type, op, comm);
}

int MPI_Reduce_scatter_comp(const void *send, void *recv, const int counts[], MPI_Datatype type, MPI_Op op,
                            MPI_Comm comm)
{
    int code;
    return reduce_scatter_counts(COMP("MPI_Reduce_scatter_comp"), send, recv, counts, NULL, type, op, comm, &code)
               ? code
               : PMPI_Reduce_scatter(send, recv, counts, type, op, comm);
}

/// Floats as they lie in a buffer of another type, one behind the other. @return NULL; free it
static void *pack(const void *send, int count, MPI_Datatype type, size_t bytes, MPI_Comm comm)
{
    int size = 0, at = 0;
    void *flat = NULL;
    if (count < 0 || PMPI_Type_size(type, &size) || (size_t)count * (size_t)size != bytes) return NULL;
    if (bytes <= INT_MAX && (flat = malloc(bytes)) && !PMPI_Pack(send, count, type, flat, (int)bytes, &at, comm))
        return flat;
    free(flat);
    return NULL;
}

// MPI's own gathers as fast over TCP, and faster in shared memory, so MPI_Allgather is not taken.
// What is received decides, because all ranks receive the same. Each may name what it sends by a
// type of its own.
int MPI_Allgather_comp(const void *send, int send_count, MPI_Datatype send_type, void *recv, int recv_count,
                       MPI_Datatype recv_type, MPI_Comm comm)
{
    gn_mpi_kind kind;
    int code = MPI_SUCCESS, rank = 0;
    const int ranks = recv_count > 0 && recv_type == MPI_FLOAT && gn_mpi_kind_of(recv_type, &kind) ? ranks_of(comm) : 0;
    if (!ranks) {
        gn_mpi_leave();
        return PMPI_Allgather(send, send_count, send_type, recv, recv_count, recv_type, comm);
    }
    PMPI_Comm_rank(comm, &rank);
    const size_t bytes = (size_t)recv_count * kind.bytes;
    const bool in_place = send == MPI_IN_PLACE,
               other = !in_place && (send_type != recv_type || send_count != recv_count);
    void *const flat = other ? pack(send, send_count, send_type, bytes, comm) : NULL;
    const void *const own = in_place ? (char *)recv + (size_t)rank * bytes : send;
    if (other && !flat) return gn_mpi_fail(comm, "MPI_Allgather_comp", "what is sent are not as many floats");
    const gn_call call = {.collective = GN_ALL_GATHER,
                          .type = kind.type,
                          .send = other ? flat : own,
                          .recv = recv,
                          .count = (size_t)recv_count,
                          .lossy = true,
                          .id = GN_BUCKET_NONE};
    if (!gn_mpi_take(comm, COMP("MPI_Allgather_comp"), &call, (size_t)ranks * bytes, 1, &code))
        code = PMPI_Allgather(send, send_count, send_type, recv, recv_count, recv_type, comm);
    free(flat);
    return code;
}

#if MPI_VERSION >= 4
int MPI_Reduce_c(const void *send, void *recv, MPI_Count count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    int code;
    return reduce(send, recv, count, type, op, root, comm, &code)
               ? code
               : PMPI_Reduce_c(send, recv, count, type, op, root, comm);
}

int MPI_Reduce_scatter_block_c(const void *send, void *recv, MPI_Count count, MPI_Datatype type, MPI_Op op,
                               MPI_Comm comm)
{
    int code;
    return reduce_scatter_block(send, recv, count, type, op, comm, &code)
               ? code
               : PMPI_Reduce_scatter_block_c(send, recv, count, type, op, comm);
}

int MPI_Reduce_scatter_c(const void *send, void *recv, const MPI_Count counts[], MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm)
{
    int code;
    return reduce_scatter_counts(EXACT("MPI_Reduce_scatter"), send, recv, NULL, counts, type, op, comm, &code)
               ? code
               : PMPI_Reduce_scatter_c(send, recv, counts, type, op, comm);
}
#endif

#if MPI_VERSION >= 4
/// This process's rank among all; -1: the session does not say.
static int rank_in(MPI_Session session)
{
    MPI_Group group;
    int rank = -1;
    if (PMPI_Group_from_session_pset(session, "mpi://WORLD", &group)) return -1;
    PMPI_Group_rank(group, &rank);
    PMPI_Group_free(&group);
    return rank;
}

/// The end of a program that has sessions alone.
int MPI_Session_finalize(MPI_Session *session)
{
    int world = 0;
    PMPI_Initialized(&world);
    if (!world && session && *session != MPI_SESSION_NULL) gn_mpi_summary(rank_in(*session));
    return PMPI_Session_finalize(session);
}
#endif

int MPI_Finalize(void)
{
    gn_mpi_settings_get();  // so that a program without any sum has a summary, too
    return PMPI_Finalize();
}
