// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_ADDRESS_H
#define GRADNIC_RING_ADDRESS_H
/// Addresses between their form in messages (message.h) and endpoints (net/address.h).

#include "net/address.h"
#include "ring/message.h"

/// Both ports of the result are 0.
gn_address gn_address_from(const gn_ip *ip);
/// `scope`: the interface index, which only link-local IPv6 addresses need.
gn_endpoint gn_address_endpoint(const gn_address *from, uint16_t port, uint32_t scope);
/// Whether all fields are equal, the ports too.
bool gn_address_same(const gn_address *a, const gn_address *b);
/// A rank's address without ports: "10.9.0.3". @return name
const char *gn_rank_name(const gn_rank_table *table, int rank, char name[GN_ENDPOINT_TEXT]);

#endif
