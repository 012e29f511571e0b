// SPDX-License-Identifier: Apache-2.0
#include "net/tcp.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>

enum { BACKLOG = 512 };

static void send_at_once(int fd)
{
    const int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static int tcp_socket(int family, bool both, uint8_t tos)
{
    const int fd = gn_apart(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)), only = !both;
    if (fd < 0) return -1;
    send_at_once(fd);
    if (family == AF_INET6) (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
    if (tos) gn_socket_set_tos(fd, tos);
    return fd;
}

int gn_tcp_listen(gn_endpoint *at, bool both, uint8_t tos)
{
    int fd = tcp_socket(gn_ip_family(&at->ip), both, tos);
    if (fd < 0) return -1;
    const int on = 1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    gn_endpoint bound;
    if (gn_socket_bind(fd, at) || listen(fd, BACKLOG) || !gn_socket_local(fd, &bound))
        gn_close(&fd);
    else
        at->port = bound.port;
    return fd;
}

int gn_tcp_connect(const gn_endpoint *to, const gn_endpoint *local, uint8_t tos)
{
    int fd = tcp_socket(gn_ip_family(&to->ip), false, tos);
    if (fd < 0) return -1;
    if (local && local->ip.version) {
        gn_endpoint source = *local;
        source.port = 0;
        const int on = 1;  // the port is chosen at connect(), when both ends are known
        (void)setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
        if (gn_socket_bind(fd, &source)) gn_close(&fd);
    }
    if (fd >= 0 && gn_socket_connect(fd, to)) gn_close(&fd);
    return fd;
}

int gn_tcp_accept(int listener, gn_endpoint *from)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    const int fd = gn_apart(accept4(listener, (struct sockaddr *)&address, &length, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd < 0) return -1;
    send_at_once(fd);
    *from = gn_endpoint_from_sockaddr(&address);
    return fd;
}
