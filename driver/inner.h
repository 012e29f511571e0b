// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_INNER_H
#define GRADNIC_DRIVER_INNER_H
/// What the NIC must know of every IP packet, whatever is in it (fragments, extension headers, ICMP): how long it is, where it
/// goes and where it comes from. TCP and UDP headers are <gradnic/packet.h>'s business.

#include <stdbool.h>
#include <stddef.h>

#include "net/address.h"

typedef struct gn_inner {
    gn_ip source, destination;
    uint32_t length;  ///< bytes of the IP packet; what follows in the buffer is padding
} gn_inner;

/// @return false unless `bytes` start with a whole IPv4 or IPv6 packet
bool gn_inner_read(const uint8_t *bytes, size_t length, gn_inner *inner);

#endif
