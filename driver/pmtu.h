// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_PMTU_H
#define GRADNIC_DRIVER_PMTU_H
/// The path's MTU while the NIC runs. A link may get a smaller MTU, or a router may say
/// "fragmentation needed" (RFC 1191, RFC 8201). Then packets are cut smaller, and are not lost.

#include "driver/nic_state.h"

enum {
    GN_PMTU_AGAIN_MS = 100,      ///< after a refusal, the paths are asked at most this often
    GN_PMTU_LOOK_MS = 1000,      ///< with --steer mark, the paths are asked this often
    GN_PMTU_RECOVER_MS = 10000,  ///< while the MTU is lowered, the paths are asked this often
    GN_PMTU_TOLD_S = 600,        ///< so long a router's word holds, as in the kernel
    GN_PMTU_TOLD_LEAST = 552,    ///< what is less is no router's word, as in the kernel
    GN_PMTU_LEAST = 128          ///< bytes of a packet below which nothing is cut
};

/// Asks the paths for their MTU when the wire has refused datagrams as too big, and some time
/// after. With --steer mark the wire does not refuse what a router would, so they are asked all the
/// time. Called with out's lock held.
void gn_pmtu_follow(gn_nic *nic, uint64_t now);

/// With --steer mark: takes what routers have said of the wire's datagrams. The kernel keeps no
/// word of theirs that is larger than what it has learnt of the device. Called with in's lock held.
void gn_pmtu_hear(gn_nic *nic, uint64_t now);

/// For a packet of the host that cannot be cut and does not fit. Tells the host by ICMP how much
/// fits, at most once in a millisecond. Called with out's lock held.
void gn_pmtu_tell_host(gn_nic *nic, const uint8_t *packet, size_t length, uint64_t now);

#endif
