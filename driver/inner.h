// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_INNER_H
#define GRADNIC_DRIVER_INNER_H
/// What the NIC must know of every IP packet: its length, its source and its destination. cmodel
/// reads the header (gn_ip_header_read()).

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
