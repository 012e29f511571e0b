// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_NETLINK_H
#define GRADNIC_DRIVER_NETLINK_H
/// The few things a NIC asks of the kernel's routing, over rtnetlink (rtnetlink(7)). Every call opens and closes its own
/// socket: they are rare, and none outlives the dropping of root by accident. On failure errno tells the kernel's reason.

#include <stdbool.h>

#include "net/address.h"

/// What a device is to be: fields that are 0 stay as they are.
typedef struct gn_link {
    unsigned mtu;
    unsigned queue_length;      ///< packets between the kernel and the NIC's reader
    unsigned gso_max_segments;  ///< packets that the host puts into one segment
    bool up;
} gn_link;

int gn_link_set(unsigned index, const gn_link *link);
/// MTU of an interface. @return -1 on failure
int gn_link_mtu(unsigned index);

/// Packets that the device refused to take from the host (tx_dropped); 0 when it cannot be read.
uint64_t gn_link_tx_dropped(unsigned index);

int gn_address_add(unsigned index, const gn_prefix *address);
int gn_address_remove(unsigned index, const gn_prefix *address);

/// Route `prefix` -> device in `table` (0: main). An existing route for the prefix is never replaced: EEXIST.
typedef struct gn_route {
    gn_prefix prefix;
    unsigned index;
    unsigned table;
    gn_ip source;  ///< preferred source address; version 0: none
} gn_route;
int gn_route_add(const gn_route *route);
int gn_route_remove(const gn_route *route);

/// How the kernel reaches `ip` now: interface, path MTU (the interface's when the route has none), source address.
typedef struct gn_path {
    unsigned index;
    unsigned mtu;
    gn_ip source;
} gn_path;
int gn_path_find(const gn_ip *ip, gn_path *path);

/// A policy-routing rule for packets with this ToS (by FRA_DSCP) or this firewall mark -> table.
typedef struct gn_policy {
    int version;  ///< 4 or 6
    unsigned table, priority;
    unsigned tos;  ///< used when mark is 0
    unsigned mark;
} gn_policy;
int gn_policy_add(const gn_policy *policy);
int gn_policy_remove(const gn_policy *policy);

#endif
