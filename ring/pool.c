// SPDX-License-Identifier: Apache-2.0
#include "ring/pool.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>

#include "net/address.h"
#include "net/socket.h"

unsigned gn_pool_slots(uint64_t round_trip_ns, uint64_t bits_per_s, unsigned packet_bytes, unsigned least)
{
    const double bytes = (double)round_trip_ns * 1e-9 * (double)bits_per_s / 8;
    unsigned slots = least;
    while (slots < GN_POOL_MOST && (double)slots * packet_bytes < bytes) slots *= 2;
    return slots;
}

/// Whether an address of an interface is this one.
static bool is_at(const struct ifaddrs *interface, const gn_ip *ip)
{
    struct sockaddr_storage address = {0};
    if (!interface->ifa_addr) return false;
    switch (interface->ifa_addr->sa_family) {
    case AF_INET:
        *(struct sockaddr_in *)&address = *(const struct sockaddr_in *)(const void *)interface->ifa_addr;
        break;
    case AF_INET6:
        *(struct sockaddr_in6 *)&address = *(const struct sockaddr_in6 *)(const void *)interface->ifa_addr;
        break;
    default:
        return false;
    }
    const gn_endpoint there = gn_endpoint_from_sockaddr(&address);
    return !gn_ip_compare(&there.ip, ip);
}

/// What the kernel says of an interface, in bits a second; 0: nothing. Loopback has no speed.
static uint64_t speed_of(const char *interface)
{
    char path[64];
    long megabits = 0;
    snprintf(path, sizeof path, "/sys/class/net/%s/speed", interface);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    if (fscanf(file, "%ld", &megabits) != 1 || megabits < 0) megabits = 0;
    fclose(file);
    return (uint64_t)megabits * 1000000;
}

static uint64_t rate_of(int fd)
{
    gn_endpoint own;
    struct ifaddrs *all;
    uint64_t rate = 0;
    if (!gn_socket_local(fd, &own) || getifaddrs(&all)) return 0;
    for (const struct ifaddrs *i = all; i && !rate; i = i->ifa_next)
        if (is_at(i, &own.ip)) rate = speed_of(i->ifa_name);
    freeifaddrs(all);
    return rate;
}

unsigned gn_pool_of(int fd, unsigned packet_bytes, unsigned least)
{
    struct tcp_info info = {0};
    socklen_t length = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length)) return least;
    return gn_pool_slots((uint64_t)info.tcpi_rtt * 1000, rate_of(fd), packet_bytes, least);
}
