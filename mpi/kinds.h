// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_MPI_KINDS_H
#define GRADNIC_MPI_KINDS_H
/// Which of MPI's types the library sums.

#include <mpi.h>

#include <gradnic/comm.h>

/// What an element of MPI is in the library's terms.
typedef struct gn_mpi_kind {
    gn_type type;
    unsigned values;  ///< of `type` in an element: 2 for complex numbers
    size_t bytes;     ///< of an element
} gn_mpi_kind;

/// @return false: the type is MPI's. True at all ranks or at none, where MPI wants the same type at
/// all
bool gn_mpi_kind_of(MPI_Datatype type, gn_mpi_kind *kind);

#endif
