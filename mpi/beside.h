// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_MPI_BESIDE_H
#define GRADNIC_MPI_BESIDE_H
/// The gn_comm that stands beside a communicator of MPI. It is made by the first call that is large
/// enough, hangs on an attribute, and is freed with the communicator, or when MPI is finalised. A
/// duplicate has its own.
///
/// Any thread may call these for different communicators, as MPI's own collectives.

#include <mpi.h>
#include <stdint.h>

#include "mpi/settings.h"

/// What the environment says. A wrong variable ends the program with its name, by MPI_Abort(). The
/// first call makes sure that the summary is given when MPI is finalised.
const gn_mpi_settings *gn_mpi_settings_get(void);

/// The gn_comm for a call of so many bytes. All ranks come with the same `bytes`. The first call on
/// a communicator is collective: its ranks agree from which size on calls are taken. So is the
/// first that is large enough, and the first with `compressed`: a group that compresses, whatever
/// the environment says. @return NULL: the call is MPI's
gn_comm *gn_mpi_beside(MPI_Comm comm, size_t bytes, bool compressed);

/// What this rank has sent.
typedef struct gn_mpi_sent {
    uint64_t bytes, wire_bytes;  ///< of values; the same, as they left
    int ranks;                   ///< of the largest group that compressed; 0: none did
} gn_mpi_sent;

/// Returns what the groups have sent, those that are freed as well.
gn_mpi_sent gn_mpi_beside_sent(void);

/// Tells the communicator's error handler that `function` has failed, and why. @return MPI's code
int gn_mpi_fail(MPI_Comm comm, const char *function, const char *why);

#endif
