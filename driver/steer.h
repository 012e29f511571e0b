// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_STEER_H
#define GRADNIC_DRIVER_STEER_H
/// Which packets come to the NIC. In an overlay: all packets to the peers' overlay prefixes, by
/// routes to the device. Otherwise: packets under the hosts' own addresses with certain ToS values
/// or a firewall mark, by policy rules and a routing table of their own.

#include <gradnic/frame.h>

#include "driver/peers.h"

typedef enum gn_steer_mode {
    GN_STEER_OVERLAY,  ///< routes in the main table
    GN_STEER_DSCP,     ///< by ToS: FRA_DSCP, Linux 6.12
    GN_STEER_MARK      ///< by firewall mark, for older kernels; the firewall sets the mark
} gn_steer_mode;

enum { GN_STEER_TABLE = 18766, GN_STEER_PRIORITY = 1000, GN_STEER_MARK_DEFAULT = 0x474e };

typedef struct gn_steer_config {
    gn_steer_mode mode;
    unsigned mark, table, priority;  ///< 0: the defaults above
} gn_steer_config;

typedef struct gn_steer {
    gn_steer_config config;
    unsigned index;
    const gn_peers *peers;
    uint8_t tos[GN_RULES_MAX];
    size_t tos_count;
    size_t policies;   ///< that are there now
    uint32_t adopted;  ///< bit i: policy i had been left behind
} gn_steer;

/// Whether a firewall marks packets behind the choice of their route. What the device does not take
/// is then noted by the kernel as the MTU of the peer's own address, which is the wire's.
static inline bool gn_steer_is_late(const gn_steer_config *config)
{
    return config->mode == GN_STEER_MARK;
}

/// Adds routes and policy rules for all peers. A rule that a killed NIC has left is taken over. On
/// failure everything is as before.
gn_status gn_steer_open(gn_steer *steer, const gn_steer_config *config, unsigned index, const gn_peers *peers,
                        const gn_rule *rules, size_t rule_count, gn_error *error);
/// Removes them again.
void gn_steer_close(gn_steer *steer);

#endif
