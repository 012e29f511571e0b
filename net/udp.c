// SPDX-License-Identifier: Apache-2.0
#include "net/udp.h"

#include <errno.h>
#include <linux/udp.h>
#include <string.h>

static void set(int fd, int level, int option, int value)
{
    (void)setsockopt(fd, level, option, &value, sizeof value);
}

static void set_buffer(int fd, int forced, int plain, size_t bytes)
{
    const int value = (int)bytes;
    if (bytes && setsockopt(fd, SOL_SOCKET, forced, &value, sizeof value)) set(fd, SOL_SOCKET, plain, value);
}

int gn_udp_open(int family, const gn_udp_options *options)
{
    const bool six = family == AF_INET6;
    const int type = SOCK_DGRAM | SOCK_CLOEXEC | (options->nonblocking ? SOCK_NONBLOCK : 0);
    const int fd = gn_apart(socket(family, type, 0));
    if (fd < 0) return -1;
    // Every option is of use and none is needed, so the kernel may refuse it.
    if (six) set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    if (options->join) set(fd, IPPROTO_UDP, UDP_GRO, 1);
    if (options->whole) {
        set(fd, IPPROTO_IP, IP_MTU_DISCOVER, options->unlearnt ? IP_PMTUDISC_PROBE : IP_PMTUDISC_DO);
        if (six) set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, options->unlearnt ? IPV6_PMTUDISC_PROBE : IPV6_PMTUDISC_DO);
    }
    if (options->unlearnt) {
        set(fd, IPPROTO_IP, IP_RECVERR, 1);
        if (six) set(fd, IPPROTO_IPV6, IPV6_RECVERR, 1);
    }
    if (options->read_tos) {
        set(fd, IPPROTO_IP, IP_RECVTOS, 1);
        if (six) set(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
    }
    if (options->read_to) set(fd, six ? IPPROTO_IPV6 : IPPROTO_IP, six ? IPV6_RECVPKTINFO : IP_PKTINFO, 1);
    if (options->overflow) set(fd, SOL_SOCKET, SO_RXQ_OVFL, 1);
    if (options->tos) gn_socket_set_tos(fd, options->tos);
    set_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, options->receive_bytes);
    set_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, options->send_bytes);
    return fd;
}

gn_status gn_udp_listen(int *fd, gn_endpoint *at, const gn_udp_options *options, gn_error *error)
{
    char text[GN_ENDPOINT_TEXT];
    gn_endpoint bound;
    *fd = gn_udp_open(gn_ip_family(&at->ip), options);
    if (*fd < 0) return gn_fail(error, GN_IO, "UDP socket: %s", strerror(errno));
    if (!gn_socket_bind(*fd, at) && gn_socket_local(*fd, &bound)) {
        at->port = bound.port;
        return GN_OK;
    }
    gn_close(fd);
    const int reason = errno;
    return gn_fail(error, GN_IO, "cannot listen on UDP %s: %s%s", gn_endpoint_format(at, text), strerror(reason),
                   gn_socket_bind_hint(reason));
}

static unsigned mtu_to(int fd, const gn_endpoint *to)
{
    const bool six = to->ip.version == 6;
    int mtu = 0;
    socklen_t length = sizeof mtu;
    if (getsockopt(fd, six ? IPPROTO_IPV6 : IPPROTO_IP, six ? IPV6_MTU : IP_MTU, &mtu, &length)) return 0;
    return mtu > 0 ? (unsigned)mtu : 0;
}

unsigned gn_udp_mtu(int fd)
{
    gn_endpoint to;
    return gn_socket_remote(fd, &to) ? mtu_to(fd, &to) : 0;
}

size_t gn_udp_payload(int fd)
{
    gn_endpoint to;
    if (!gn_socket_remote(fd, &to)) return 0;
    const unsigned mtu = mtu_to(fd, &to), headers = gn_udp_headers(&to.ip);
    return mtu > headers ? mtu - headers : 0;
}
