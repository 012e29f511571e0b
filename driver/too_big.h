// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_TOO_BIG_H
#define GRADNIC_DRIVER_TOO_BIG_H
/// The ICMP messages "fragmentation needed" (RFC 792, RFC 1191) and "packet too big" (RFC 4443
/// 3.2), as a router on the way would send them.

#include <stddef.h>
#include <stdint.h>

#include "net/address.h"

enum { GN_TOO_BIG_BYTES = 1280 };  ///< RFC 4443 2.4(c); IPv4: 576 (RFC 1812 4.3.2.3)

/// Makes the message to the sender of `packet`. The message names the packet's destination as its
/// source, because the host is sure to route that address the same way. `out` has room for
/// GN_TOO_BIG_BYTES.
/// @return bytes of the message. 0 for a packet that gets none: an ICMP error, a later fragment, a
/// multicast, or bytes that are not a whole IP packet
size_t gn_too_big_make(const uint8_t *packet, size_t length, unsigned mtu, uint8_t *out);

/// Reads such a message of this host's. `*to` is where the packet went that was too big.
/// @return the MTU that it names; 0 for any other packet
unsigned gn_too_big_read(const uint8_t *packet, size_t length, gn_ip *to);

#endif
