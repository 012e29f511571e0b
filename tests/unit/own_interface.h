// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_OWN_INTERFACE_H
#define GRADNIC_TESTS_OWN_INTERFACE_H
/// An interface that is not loopback, for tests that need a second way to this host.

#include <ifaddrs.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

#include "net/address.h"

typedef struct own_interface {
    char name[IF_NAMESIZE];
    char address[GN_IP_TEXT];  ///< IPv4
} own_interface;

static inline bool own_interface_there(own_interface *found)
{
    struct ifaddrs *all;
    bool there = false;
    ck_assert(!getifaddrs(&all));
    for (const struct ifaddrs *at = all; at && !there; at = at->ifa_next) {
        if (!at->ifa_addr || at->ifa_addr->sa_family != AF_INET || !(at->ifa_flags & IFF_UP)) continue;
        struct sockaddr_storage address = {0};
        memcpy(&address, at->ifa_addr, sizeof(struct sockaddr_in));
        const gn_endpoint endpoint = gn_endpoint_from_sockaddr(&address);
        there = !gn_ip_is_loopback(&endpoint.ip) && gn_ip_format(&endpoint.ip, found->address);
        snprintf(found->name, sizeof found->name, "%s", at->ifa_name);
    }
    freeifaddrs(all);
    return there;
}

/// Finds the first that is up. Where there is none, root gets one, in a network of this process's
/// own. @return false, and says so, when this host has loopback alone and the user is not root
static inline bool own_interface_find(own_interface *found)
{
    static const char make[] = "ip link set lo up && ip link add gnt0 type veth peer name gnt1 && "
                               "ip addr add 192.0.2.1/24 dev gnt0 && ip link set gnt0 up && ip link set gnt1 up";
    if (own_interface_there(found)) return true;
    if (geteuid()) {
        fprintf(stderr, "skipped: this host has loopback alone, and only root can make another interface\n");
        return false;
    }
    ck_assert_msg(!unshare(CLONE_NEWNET) && !system(make), "no interface could be made");
    ck_assert(own_interface_there(found));
    return true;
}

#endif
