// SPDX-License-Identifier: Apache-2.0
#include "net/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

void gn_socket_set_tos(int fd, uint8_t tos)
{
    const int value = tos;
    // An IPv6 socket has the second option only, an IPv4 socket the first. Whether the network
    // honours it cannot be known here.
    (void)setsockopt(fd, IPPROTO_IP, IP_TOS, &value, sizeof value);
    (void)setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &value, sizeof value);
}

// Of the socket: an IPv6 socket may talk to IPv4 addresses.
static int family_of(int fd, const gn_ip *ip)
{
    int family;
    socklen_t length = sizeof family;
    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &length) ? gn_ip_family(ip) : family;
}

int gn_socket_bind(int fd, const gn_endpoint *local)
{
    struct sockaddr_storage address;
    const socklen_t length = gn_endpoint_to_sockaddr(local, family_of(fd, &local->ip), &address);
    return bind(fd, (const struct sockaddr *)&address, length);
}

const char *gn_socket_bind_hint(int reason)
{
    if (reason == EADDRINUSE) return " (another program has this port: end it, or choose another port)";
    if (reason == EADDRNOTAVAIL) return " (no interface of this host has this address)";
    if (reason == EACCES) return " (this account may not take a port below 1024)";
    return "";
}

int gn_socket_connect(int fd, const gn_endpoint *to)
{
    struct sockaddr_storage address;
    const socklen_t length = gn_endpoint_to_sockaddr(to, family_of(fd, &to->ip), &address);
    return connect(fd, (const struct sockaddr *)&address, length) && errno != EINPROGRESS ? -1 : 0;
}

bool gn_socket_local(int fd, gn_endpoint *endpoint)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &length)) return false;
    *endpoint = gn_endpoint_from_sockaddr(&address);
    return true;
}

bool gn_socket_remote(int fd, gn_endpoint *endpoint)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    if (getpeername(fd, (struct sockaddr *)&address, &length)) return false;
    *endpoint = gn_endpoint_from_sockaddr(&address);
    return true;
}

int gn_socket_connected(int fd)
{
    int result = 0;
    socklen_t length = sizeof result;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &result, &length) ? errno : result;
}

int gn_apart(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO) return fd;
    const int apart = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    gn_close(&fd);
    return apart;
}

void gn_close(int *fd)
{
    const int kept = errno;
    if (*fd >= 0) close(*fd);
    *fd = -1;
    errno = kept;
}

int gn_poll(struct pollfd *set, nfds_t count, int ms)
{
    const int found = poll(set, count, ms);
    if (found >= 0 || errno != EINVAL) return found;
    struct pollfd *open = calloc(count, sizeof *open);
    if (!open) return -1;
    nfds_t n = 0;
    for (nfds_t i = 0; i < count; i++)
        if (set[i].fd >= 0) open[n++] = set[i];
    const int some = poll(open, n, ms), reason = errno;
    n = 0;
    for (nfds_t i = 0; i < count; i++) set[i].revents = some > 0 && set[i].fd >= 0 ? open[n++].revents : 0;
    free(open);
    errno = reason;
    return some;
}
