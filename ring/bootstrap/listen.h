// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_BOOTSTRAP_LISTEN_H
#define GRADNIC_RING_BOOTSTRAP_LISTEN_H
/// Where a rank listens for its neighbours.

#include "ring/bootstrap/bootstrap.h"

/// Selects this rank's address and opens its listeners there. `toward`: the rendezvous, or NULL at
/// rank 0 of a rendezvous file. @return GN_OK, GN_IO, GN_INVALID
gn_status gn_bootstrap_listen(gn_bootstrap *boot, const gn_endpoint *toward, gn_error *error);

#endif
