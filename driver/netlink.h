// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_NETLINK_H
#define GRADNIC_DRIVER_NETLINK_H
/// What a NIC asks of the kernel's routing, over rtnetlink (rtnetlink(7)). Every call opens and
/// closes its own socket: calls are rare, and no socket outlives the dropping of root by accident.
///
/// The functions return GN_OK, or GN_IO with the kernel's reason in errno.

#include <stdbool.h>

#include "net/address.h"

/// Settings of a device. Fields that are 0 leave it as it is.
typedef struct gn_link {
    unsigned mtu;
    unsigned queue_length;      ///< packets between the kernel and the NIC's reader
    unsigned gso_max_segments;  ///< packets that the host puts into one segment
    bool up;
} gn_link;

gn_status gn_link_set(unsigned index, const gn_link *link);
gn_status gn_link_mtu(unsigned index, unsigned *mtu);

/// Packets that the device refused to take from the host (tx_dropped); 0 when it cannot be read.
uint64_t gn_link_tx_dropped(unsigned index);

gn_status gn_address_add(unsigned index, const gn_prefix *address);

/// A route of the kernel: `prefix` -> device, in `table` (0: main).
typedef struct gn_kernel_route {
    gn_prefix prefix;
    unsigned index;
    unsigned table;
    gn_ip source;  ///< preferred source address; version 0: none
} gn_kernel_route;

/// Never replaces a route for the same prefix: errno is EEXIST then.
gn_status gn_kernel_route_add(const gn_kernel_route *route);
gn_status gn_kernel_route_remove(const gn_kernel_route *route);
/// Takes IPv4 packets out of the device whatever the way back to their source is. What
/// net.ipv4.conf.all.rp_filter says holds all the same.
gn_status gn_link_accept_sources(unsigned index);

/// What rp_filter is for the device, or for all with GN_ALL_LINKS. -1: not known
enum { GN_ALL_LINKS = -1 };
int gn_link_source_check(int index);

/// Removes all routes of a table that lead to a device. Ends at one that is not as
/// gn_kernel_route_add() makes them: errno is ESRCH then.
gn_status gn_kernel_routes_clear(unsigned index, unsigned table);

/// How the kernel reaches an address now.
typedef struct gn_path {
    unsigned index;
    unsigned mtu;  ///< of the path; of the interface when the route has none
    gn_ip source;
} gn_path;

/// `scope`: the interface of an address of a link, otherwise 0.
gn_status gn_path_find(const gn_ip *ip, uint32_t scope, gn_path *path);
/// The same, without the MTU that the kernel has learnt from ICMP in the last minutes.
gn_status gn_path_find_unlearnt(const gn_ip *ip, uint32_t scope, gn_path *path);

/// A policy-routing rule: packets with this firewall mark, or those with this ToS (FRA_DSCP) that
/// this host itself sends -> table. A peer would refuse what is forwarded: its source is another
/// host's.
typedef struct gn_policy {
    int version;  ///< 4 or 6
    unsigned table, priority;
    unsigned tos;  ///< used when mark is 0
    unsigned mark;
} gn_policy;

/// errno: EEXIST; EPROTONOSUPPORT where the kernel has no rules by DSCP (Linux before 6.12).
gn_status gn_policy_add(const gn_policy *policy);
gn_status gn_policy_remove(const gn_policy *policy);
/// Whether a rule that exists already does nothing: its table has no routes. A NIC that was killed
/// leaves such a rule.
bool gn_policy_is_idle(const gn_policy *policy);

#endif
