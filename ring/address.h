// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_ADDRESS_H
#define GRADNIC_RING_ADDRESS_H
/// Addresses between their form in messages (message.h) and endpoints (net/address.h).

#include "message.h"
#include "net/address.h"

/// Its ports are 0.
gn_address gn_address_from(const gn_ip *ip);
/// `scope`: interface index for link-local IPv6 addresses.
gn_endpoint gn_address_endpoint(const gn_address *from, uint16_t port, uint32_t scope);
/// Everything is the same, ports too.
bool gn_address_same(const gn_address *a, const gn_address *b);
/// The address without ports as text, into at least GN_ENDPOINT_TEXT bytes. @return text
const char *gn_address_format(const gn_address *address, char *text);

#endif
