// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_MPI_BESIDE_H
#define GRADNIC_MPI_BESIDE_H
/// The gn_comm that stands beside a communicator of MPI. It is made by the first call that is large
/// enough, hangs on an attribute, and is freed with the communicator. A duplicate has its own.
///
/// Any thread may call these for different communicators, as MPI's own collectives.

#include <mpi.h>

#include "mpi/settings.h"

/// What the environment says. A wrong variable ends the program with its name, by MPI_Abort().
const gn_mpi_settings *gn_mpi_settings_get(void);

/// The gn_comm for a call of so many bytes. All ranks come with the same `bytes`. The first call on
/// a communicator is collective: its ranks agree from which size on calls are taken. So is the
/// first that is large enough. @return NULL: the call is MPI's
gn_comm *gn_mpi_beside(MPI_Comm comm, size_t bytes);

/// Tells the communicator's error handler that `function` has failed, and why. @return MPI's code
int gn_mpi_fail(MPI_Comm comm, const char *function, const char *why);

/// Frees all that are left; before MPI is finalised.
void gn_mpi_beside_end(void);

#endif
