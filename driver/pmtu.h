// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_PMTU_H
#define GRADNIC_DRIVER_PMTU_H
/// The path's MTU while the NIC runs: a link that is given a smaller one, or a router that says "fragmentation needed"
/// (RFC 1191, RFC 8201), makes the packets that are cut smaller, not lost.

#include "driver/nic_private.h"

enum {
    GN_PMTU_AGAIN_MS = 100,      ///< after a refusal, the paths are asked at most this often
    GN_PMTU_RECOVER_MS = 10000,  ///< while it is lowered, whether it has risen is asked this often
    GN_PMTU_LEAST = 128          ///< bytes of the smallest packet that anything is still cut to
};

/// What the kernel knows now of the MTU on the way to `endpoint`; 0 when there is no way.
unsigned gn_pmtu_ask(const gn_endpoint *endpoint);

/// Follows the paths' MTU if the wire has refused datagrams as too big, or some time after. Called with out's lock held.
void gn_pmtu_follow(gn_nic *nic, uint64_t now);

/// The host's packet cannot be cut and does not fit: tells the host how much does (ICMP), so that it sends less. At most one a
/// millisecond. Called with out's lock held.
void gn_pmtu_tell_host(gn_nic *nic, const uint8_t *packet, size_t length, uint64_t now);

#endif
