// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_MPI_COMP_H
#define GRADNIC_MPI_COMP_H
/// @file mpi_comp.h
/// Collectives of MPI that compress, as INCEPTIONN's interface has them (Fig. 11). They are in
/// libgradnic-mpi-openmpi, -mpich and -abi. A program is linked with one of them, before MPI:
///
///     mpicc program.c -lgradnic-mpi-openmpi -lgradnic-comm -lgradnic
///
/// The arguments, the rules for buffers and the results are those of the function of MPI without
/// `_comp`. A program's other calls stay as exact as the environment says (docs/mpi.md).
///
/// What is compressed: float, MPI_SUM, from GRADNIC_MIN_BYTES on. All else is done as without
/// `_comp`. GRADNIC_CODEC and GRADNIC_BOUND say how; without them it is dense, 2^-10. With
/// GRADNIC_OFFLOAD=nic the data of these calls has ToS 0x28, as in the paper, and the NIC
/// compresses.
///
/// Threads and errors are as with MPI's collectives. All ranks of a communicator call the same.

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/// MPI_Allreduce. A sum over N ranks is at most N times the bound off, and the same at all.
int MPI_Allreduce_comp(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

/// MPI_Reduce_scatter. The sums have the same bits as those of MPI_Allreduce_comp.
int MPI_Reduce_scatter_comp(const void *send, void *recv, const int counts[], MPI_Datatype type, MPI_Op op,
                            MPI_Comm comm);

/// MPI_Allgather. A value is at most the bound off, and the same at all ranks, its own too. All
/// ranks give the same types.
int MPI_Allgather_comp(const void *send, int send_count, MPI_Datatype send_type, void *recv, int recv_count,
                       MPI_Datatype recv_type, MPI_Comm comm);

#ifdef __cplusplus
}
#endif
#endif
