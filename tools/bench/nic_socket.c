// SPDX-License-Identifier: Apache-2.0
// The sockets of both ends of `gradnic bench nic`.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "nic.h"

int gn_bench_nic_socket(int family, int tos)
{
    const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    const struct timeval limit = {.tv_sec = GN_BENCH_NIC_DEADLINE_S};
    if (fd < 0) return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    // Before connect(), because the SYN must have it too if packets are steered by it.
    if (tos && family == AF_INET) (void)setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof tos);
    if (tos && family == AF_INET6) (void)setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof tos);
    return fd;
}
