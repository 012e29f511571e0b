// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_INTERFACE_H
#define GRADNIC_RING_INTERFACE_H
/// Which local address the exchange listens at and sends from.

#include <sys/socket.h>

#include "error.h"

/// `spec`: an interface ("gn0"), an address or network ("10.9.0.2", "10.9.0.0/24", "fd00::/64"), interfaces to avoid
/// ("^lo,docker0"), or NULL for the address that the route to `toward` has. `toward` may be NULL (no route to ask for): then NULL
/// takes the first interface that is up and not loopback, or loopback where there is no other. Where several addresses fit, one
/// of `toward`'s family comes first. `local`: the address, port 0.
/// @return GN_INVALID with a list of what there is.
gn_status gn_interface_select(const char *spec, const struct sockaddr_storage *toward, struct sockaddr_storage *local,
                              gn_error *error);

#endif
