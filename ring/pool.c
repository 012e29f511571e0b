// SPDX-License-Identifier: Apache-2.0
#include "ring/pool.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "net/interface.h"
#include "net/socket.h"

unsigned gn_pool_slots(uint64_t round_trip_ns, uint64_t bits_per_s, unsigned packet_bytes, unsigned least)
{
    const double bytes = (double)round_trip_ns * 1e-9 * (double)bits_per_s / 8;
    unsigned slots = least;
    while (slots < GN_POOL_MOST && (double)slots * packet_bytes < bytes) slots *= 2;
    return slots;
}

unsigned gn_pool_of(int fd, unsigned packet_bytes, unsigned least)
{
    struct tcp_info info = {0};
    socklen_t length = sizeof info;
    gn_endpoint own;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) || !gn_socket_local(fd, &own)) return least;
    return gn_pool_slots((uint64_t)info.tcpi_rtt * 1000, gn_interface_rate(&own.ip), packet_bytes, least);
}
