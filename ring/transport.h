// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_TRANSPORT_H
#define GRADNIC_RING_TRANSPORT_H
/// The connections between neighbours, two to each:
///
/// * data: ToS set before connect and listen, nothing but binary32 values. Algorithm switch has
///   none;
/// * out-of-band: ToS 0, messages.
///
/// In a ring each rank connects to its right neighbour and accepts from its left one. Otherwise the
/// higher of two ranks connects, and the lower one accepts: with an aggregator or a switch rank 0,
/// with `direct` all that have a higher rank.

#include "ring/bootstrap/bootstrap.h"
#include "ring/group.h"

/// Makes the neighbours and connects to them, after gn_bootstrap_gather().
gn_status gn_transport_connect(gn_comm *comm, gn_bootstrap *boot, gn_error *error);

#endif
