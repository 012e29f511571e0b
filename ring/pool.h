// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_POOL_H
#define GRADNIC_RING_POOL_H
/// How many chunks should be under way to a switch: enough for the delay times the bandwidth (Sapio
/// et al., appendix C).

#include <stdint.h>

enum { GN_POOL_MOST = 4096 };  ///< slots that are asked for without being told to

/// The power of two from which on so many packets fill a round trip, at least `least`, a power of
/// two, and at most GN_POOL_MOST or `least`. A rate or a round trip that is not known is 0.
unsigned gn_pool_slots(uint64_t round_trip_ns, uint64_t bits_per_s, unsigned packet_bytes, unsigned least);

/// The same for a TCP connection with the switch: the round trip is the connection's, the rate that
/// of this host's interface.
unsigned gn_pool_of(int fd, unsigned packet_bytes, unsigned least);

#endif
