// SPDX-License-Identifier: Apache-2.0
#include "socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct sockaddr_in *in4(struct sockaddr_storage *a)
{
    return (struct sockaddr_in *)(void *)a;
}
static struct sockaddr_in6 *in6(struct sockaddr_storage *a)
{
    return (struct sockaddr_in6 *)(void *)a;
}
static const struct sockaddr_in *cin4(const struct sockaddr_storage *a)
{
    return (const struct sockaddr_in *)(const void *)a;
}
static const struct sockaddr_in6 *cin6(const struct sockaddr_storage *a)
{
    return (const struct sockaddr_in6 *)(const void *)a;
}

socklen_t gn_sockaddr_length(const struct sockaddr_storage *address)
{
    return address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

uint16_t gn_sockaddr_port(const struct sockaddr_storage *address)
{
    return ntohs(address->ss_family == AF_INET6 ? cin6(address)->sin6_port : cin4(address)->sin_port);
}

void gn_sockaddr_set_port(struct sockaddr_storage *address, uint16_t port)
{
    if (address->ss_family == AF_INET6)
        in6(address)->sin6_port = htons(port);
    else
        in4(address)->sin_port = htons(port);
}

void gn_sockaddr_name(const struct sockaddr_storage *address, char name[GN_NAME])
{
    char host[INET6_ADDRSTRLEN] = "?";
    bool six = address->ss_family == AF_INET6;
    inet_ntop(address->ss_family,
              six ? (const void *)&cin6(address)->sin6_addr : (const void *)&cin4(address)->sin_addr, host,
              sizeof host);
    uint16_t port = gn_sockaddr_port(address);
    if (!port)
        snprintf(name, GN_NAME, "%s", host);
    else
        snprintf(name, GN_NAME, six ? "[%s]:%u" : "%s:%u", host, port);
}

bool gn_sockaddr_same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    if (a->ss_family != b->ss_family) return false;
    if (a->ss_family == AF_INET) return cin4(a)->sin_addr.s_addr == cin4(b)->sin_addr.s_addr;
    return !memcmp(&cin6(a)->sin6_addr, &cin6(b)->sin6_addr, 16);
}

bool gn_sockaddr_is_loopback(const struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET) return (ntohl(cin4(address)->sin_addr.s_addr) >> 24) == 127;
    return IN6_IS_ADDR_LOOPBACK(&cin6(address)->sin6_addr);
}

void gn_address_from(const struct sockaddr_storage *from, gn_address *to)
{
    memset(to, 0, sizeof *to);
    to->family = from->ss_family == AF_INET6 ? 6 : 4;
    if (to->family == 6)
        memcpy(to->bytes, &cin6(from)->sin6_addr, 16);
    else
        memcpy(to->bytes, &cin4(from)->sin_addr, 4);
}

void gn_address_to(const gn_address *from, uint16_t port, uint32_t scope, struct sockaddr_storage *to)
{
    memset(to, 0, sizeof *to);
    if (from->family == 6) {
        to->ss_family = AF_INET6;
        memcpy(&in6(to)->sin6_addr, from->bytes, 16);
        if (IN6_IS_ADDR_LINKLOCAL(&in6(to)->sin6_addr)) in6(to)->sin6_scope_id = scope;
    } else {
        to->ss_family = AF_INET;
        memcpy(&in4(to)->sin_addr, from->bytes, 4);
    }
    gn_sockaddr_set_port(to, port);
}

bool gn_address_same(const gn_address *a, const gn_address *b)
{
    return a->family == b->family && a->data_port == b->data_port && a->control_port == b->control_port &&
           !memcmp(a->bytes, b->bytes, sizeof a->bytes);
}

gn_status gn_resolve(const char *host, uint16_t port, struct sockaddr_storage *address, gn_error *error)
{
    char service[8];
    snprintf(service, sizeof service, "%u", port);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *list = NULL;
    int failed = getaddrinfo(host, service, &hints, &list);
    if (failed) return gn_cause_set(error, GN_INVALID, "host '%s': %s", host, gai_strerror(failed));
    memset(address, 0, sizeof *address);
    memcpy(address, list->ai_addr, list->ai_addrlen);
    freeaddrinfo(list);
    return GN_OK;
}

void gn_socket_set_tos(int fd, uint8_t tos)
{
    int value = tos;
    // An IPv6 socket has the second option only, an IPv4 one the first; whether the network honours it is not ours to know.
    (void)setsockopt(fd, IPPROTO_IP, IP_TOS, &value, sizeof value);
    (void)setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &value, sizeof value);
}

static int tcp_socket(int family, uint8_t tos)
{
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (family == AF_INET6) (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (tos) gn_socket_set_tos(fd, tos);
    return fd;
}

static int close_keeping_errno(int fd)
{
    int kept = errno;
    close(fd);
    errno = kept;
    return -1;
}

int gn_listen(struct sockaddr_storage *address, uint8_t tos)
{
    int fd = tcp_socket(address->ss_family, tos);
    if (fd < 0) return -1;
    int on = 1;
    socklen_t length = gn_sockaddr_length(address);
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (const struct sockaddr *)address, length) || listen(fd, 512)) return close_keeping_errno(fd);
    if (getsockname(fd, (struct sockaddr *)address, &length)) return close_keeping_errno(fd);
    return fd;
}

int gn_connect(const struct sockaddr_storage *to, const struct sockaddr_storage *local, uint8_t tos)
{
    int fd = tcp_socket(to->ss_family, tos);
    if (fd < 0) return -1;
    if (local) {
        struct sockaddr_storage source = *local;
        gn_sockaddr_set_port(&source, 0);
        int on = 1;  // the port is chosen at connect(), when both ends are known
        (void)setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
        if (bind(fd, (const struct sockaddr *)&source, gn_sockaddr_length(&source))) return close_keeping_errno(fd);
    }
    if (connect(fd, (const struct sockaddr *)to, gn_sockaddr_length(to)) && errno != EINPROGRESS)
        return close_keeping_errno(fd);
    return fd;
}

int gn_connect_result(int fd)
{
    int result = 0;
    socklen_t length = sizeof result;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &result, &length)) return errno;
    return result;
}

int gn_accept(int listener, struct sockaddr_storage *from)
{
    socklen_t length = sizeof *from;
    memset(from, 0, sizeof *from);
    int fd = accept4(listener, (struct sockaddr *)from, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return -1;
    int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

void gn_close(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}
