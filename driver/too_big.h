// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_TOO_BIG_H
#define GRADNIC_DRIVER_TOO_BIG_H
/// "Fragmentation needed" (RFC 792, RFC 1191) and "Packet Too Big" (RFC 4443 3.2), as a router on the way would send them.

#include <stddef.h>
#include <stdint.h>

enum { GN_TOO_BIG_BYTES = 1280 };  ///< RFC 4443 2.4(c); for IPv4 576 (RFC 1812 4.3.2.3)

/// Makes the message to the sender of `packet` (a whole IP packet, see inner.h) into `out`, GN_TOO_BIG_BYTES. It comes from the
/// packet's destination, which is sure to be routed the same way. @return its bytes; 0 for packets that get none: ICMP errors,
/// later fragments, multicast
size_t gn_too_big_make(const uint8_t *packet, size_t length, unsigned mtu, uint8_t *out);

#endif
