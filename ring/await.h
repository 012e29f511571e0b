// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_AWAIT_H
#define GRADNIC_RING_AWAIT_H
/// How an algorithm waits for its neighbours' data.

#include "ring/group.h"

/// What is wanted of a neighbour. Zeros: nothing.
typedef struct gn_wish {
    bool reading, sending;  ///< its data connection may bring something; it was full
    bool owes;              ///< something must still come from it
} gn_wish;

/// Looks for news, and waits for what `wishes` says of each neighbour, by index. `blocked`: nothing
/// has moved. Otherwise it does not wait.
/// @return GN_OK, or the status with which the communicator has failed
gn_status gn_await_data(gn_comm *comm, const gn_wish wishes[], bool blocked);

/// Waits until all neighbours have begun this collective. @return as gn_await_data()
gn_status gn_await_headers(gn_comm *comm);

#endif
