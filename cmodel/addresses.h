// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_CMODEL_ADDRESSES_H
#define GRADNIC_CMODEL_ADDRESSES_H
/// Where an IP packet has its addresses: the source, and right behind it the destination.

#include <gradnic/packet.h>

enum { GN_IPV4_SOURCE = 12, GN_IPV6_SOURCE = 8 };

/// `sum` and the checksum's sum over both addresses.
static inline uint32_t gn_addresses_sum(uint32_t sum, const uint8_t *packet, unsigned version)
{
    return version == 4 ? gn_checksum_add(sum, packet + GN_IPV4_SOURCE, 8)
                        : gn_checksum_add(sum, packet + GN_IPV6_SOURCE, 32);
}

#endif
