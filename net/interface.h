// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_INTERFACE_H
#define GRADNIC_NET_INTERFACE_H
/// Which local address to listen at and to send from.

#include <ifaddrs.h>

#include "net/address.h"

/// `spec` is one of:
///
/// * an interface ("gn0"),
/// * an address or network ("10.9.0.2", "10.9.0.0/24", "fd00::/64"),
/// * interfaces to avoid ("^lo,docker0"),
/// * NULL or "": the address that the route to `toward` has.
///
/// `toward` may be NULL. Then NULL takes the first interface that is up and not loopback, or
/// loopback where there is no other. Where several addresses fit, one of `toward`'s version comes
/// first. `local` is the address, with port 0.
/// @return GN_OK, GN_IO, GN_INVALID with a list of what there is
gn_status gn_interface_select(const char *spec, const gn_endpoint *toward, gn_endpoint *local, gn_error *error);

/// The address of an entry of getifaddrs(), with port 0; version 0 where it has none of IP.
gn_endpoint gn_interface_address(const struct ifaddrs *entry);

/// Bits a second of the interface that has the address `local`, as the kernel says it. @return 0
/// where it says nothing, or where no interface has it
uint64_t gn_interface_rate(const gn_ip *local);

#endif
