// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_MPI_SETTINGS_H
#define GRADNIC_MPI_SETTINGS_H
/// What the environment says of MPI's collectives. docs/mpi.md has the variables.

#include <gradnic/comm.h>

#include "net/error.h"

typedef struct gn_mpi_settings {
    size_t least;  ///< bytes from which a call is taken; SIZE_MAX: none is
    bool summary;  ///< rank 0 says at the end what was taken
    /// How ranks exchange, but for rank and size. Its texts are the environment's.
    gn_comm_config comm;
} gn_mpi_settings;

/// Whether sums of float are integers of a switch: then small values beside large ones lose bits.
static inline bool gn_mpi_adds_integers(const gn_comm_config *comm)
{
    return comm->algorithm == GN_SWITCH && !comm->quantise;
}

/// Reads the environment. @return GN_OK; GN_INVALID with the variable and what it may be
gn_status gn_mpi_settings_read(gn_mpi_settings *settings, gn_error *error);

/// The first entry of `environment` from `*at` on, NAME=VALUE, whose name begins with GRADNIC_ and
/// that neither this library nor the one below reads. `*at` moves behind it. @return NULL: no more
const char *gn_mpi_settings_unknown(char *const *environment, size_t *at);

#endif
