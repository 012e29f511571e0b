// SPDX-License-Identifier: Apache-2.0
// Fortran's functions of Open MPI, in front of its own. They call PMPI_* there, past calls.c.
// Programs with mpif.h and `use mpi` call mpi_NAME_, and mpi_f08 calls ompi_NAME_f. MPICH's call
// MPI_*, so they need nothing.
#include <mpi.h>

#ifdef OPEN_MPI

_Static_assert(sizeof(MPI_Fint) == sizeof(int), "arrays of counts are passed on as they are");

// Open MPI's functions have no declarations that a program may include.
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/// One of these is MPI_IN_PLACE: that of the compiler's way to name things.
extern __attribute__((weak)) int mpi_fortran_in_place, mpi_fortran_in_place_, mpi_fortran_in_place__,
    MPI_FORTRAN_IN_PLACE;

static const void *c_of(const void *buffer)
{
    const void *names[] = {&mpi_fortran_in_place_, &mpi_fortran_in_place, &mpi_fortran_in_place__,
                           &MPI_FORTRAN_IN_PLACE};
    for (size_t i = 0; buffer && i < sizeof names / sizeof *names; i++)
        if (buffer == names[i]) return MPI_IN_PLACE;
    return buffer;
}

/// FORTRAN(NAME, UPPER, (PARAMETERS), VALUE): the function by all its names. It sets `*error`.
#define FORTRAN(name, upper, parameters, value)                                                                        \
    void ompi_##name##_f parameters                                                                                    \
    {                                                                                                                  \
        *error = (MPI_Fint)(value);                                                                                    \
    }                                                                                                                  \
    void mpi_##name parameters __attribute__((alias("ompi_" #name "_f")));                                             \
    void mpi_##name##_ parameters __attribute__((alias("ompi_" #name "_f")));                                          \
    void mpi_##name##__ parameters __attribute__((alias("ompi_" #name "_f")));                                         \
    void MPI_##upper parameters __attribute__((alias("ompi_" #name "_f")));

// clang-format off
#define TYPE PMPI_Type_f2c(*type)
#define OP PMPI_Op_f2c(*op)
#define COMM PMPI_Comm_f2c(*comm)
// clang-format on

FORTRAN(allreduce, ALLREDUCE,
        (const void *send, void *recv, const MPI_Fint *count, const MPI_Fint *type, const MPI_Fint *op,
         const MPI_Fint *comm, MPI_Fint *error),
        MPI_Allreduce(c_of(send), recv, *count, TYPE, OP, COMM))

FORTRAN(reduce, REDUCE,
        (const void *send, void *recv, const MPI_Fint *count, const MPI_Fint *type, const MPI_Fint *op,
         const MPI_Fint *root, const MPI_Fint *comm, MPI_Fint *error),
        MPI_Reduce(c_of(send), recv, *count, TYPE, OP, *root, COMM))

FORTRAN(reduce_scatter, REDUCE_SCATTER,
        (const void *send, void *recv, const MPI_Fint *counts, const MPI_Fint *type, const MPI_Fint *op,
         const MPI_Fint *comm, MPI_Fint *error),
        MPI_Reduce_scatter(c_of(send), recv, counts, TYPE, OP, COMM))

FORTRAN(reduce_scatter_block, REDUCE_SCATTER_BLOCK,
        (const void *send, void *recv, const MPI_Fint *count, const MPI_Fint *type, const MPI_Fint *op,
         const MPI_Fint *comm, MPI_Fint *error),
        MPI_Reduce_scatter_block(c_of(send), recv, *count, TYPE, OP, COMM))

FORTRAN(finalize, FINALIZE, (MPI_Fint * error), MPI_Finalize())

#else
typedef int gn_mpi_no_fortran;  // a file is not empty
#endif
