// SPDX-License-Identifier: Apache-2.0
// TCP sockets on loopback: where they listen, where they come from, and what is set on them.
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "net/socket.h"
#include "net/tcp.h"
#include "suite.h"

static int listener = -1, near = -1, far = -1;

static void end(void)
{
    gn_close(&listener);
    gn_close(&near);
    gn_close(&far);
}

static gn_endpoint at(const char *text)
{
    gn_endpoint endpoint = {0};
    ck_assert(gn_ip_parse(text, &endpoint.ip));
    return endpoint;
}

static int option(int fd, int level, int name)
{
    int value = -1;
    socklen_t length = sizeof value;
    ck_assert(!getsockopt(fd, level, name, &value, &length));
    return value;
}

static bool is_ready(int fd, short events)
{
    struct pollfd p = {.fd = fd, .events = events};
    return poll(&p, 1, 5000) == 1;
}

/// @return the errno of a connection that was begun
static int came_of(int fd)
{
    ck_assert(is_ready(fd, POLLOUT));
    return gn_socket_connected(fd);
}

static void check_socket(int fd, int tos)
{
    ck_assert(fcntl(fd, F_GETFL) & O_NONBLOCK);
    ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    ck_assert_int_eq(option(fd, IPPROTO_TCP, TCP_NODELAY), 1);
    ck_assert_int_eq(option(fd, IPPROTO_IP, IP_TOS), tos);
}

START_TEST(both_ends)
{
    gn_endpoint place = at("127.0.0.1"), local, remote, from = {0};
    listener = gn_tcp_listen(&place, false, 0x28);
    ck_assert_int_ge(listener, 0);
    ck_assert_uint_ne(place.port, 0);
    check_socket(listener, 0x28);
    ck_assert_int_eq(option(listener, SOL_SOCKET, SO_REUSEADDR), 1);
    ck_assert_int_eq(gn_tcp_accept(listener, &from), -1);  // nobody has come
    ck_assert_int_eq(errno, EAGAIN);
    near = gn_tcp_connect(&place, NULL, 0x10);
    ck_assert_int_ge(near, 0);
    check_socket(near, 0x10);
    ck_assert_int_eq(came_of(near), 0);
    ck_assert(is_ready(listener, POLLIN));
    far = gn_tcp_accept(listener, &from);
    ck_assert_int_ge(far, 0);
    check_socket(far, 0x28);
    ck_assert(gn_socket_local(near, &local) && gn_socket_remote(near, &remote));
    ck_assert(from.port == local.port && !gn_ip_compare(&from.ip, &local.ip));
    ck_assert(remote.port == place.port && !gn_ip_compare(&remote.ip, &place.ip));
    ck_assert(gn_socket_remote(far, &remote) && remote.port == local.port);
    ck_assert(!gn_socket_remote(listener, &remote) && !gn_socket_local(-1, &local));
}
END_TEST

START_TEST(from_an_address)
{
    gn_endpoint place = at("127.0.0.1"), source = at("127.0.0.2"), foreign = at("192.0.2.77"), none = {0}, from = {0};
    listener = gn_tcp_listen(&place, false, 0);
    source.port = place.port;  // of an address, only the address counts
    near = gn_tcp_connect(&place, &source, 0);
    ck_assert_int_ge(near, 0);
    ck_assert_int_eq(came_of(near), 0);
    far = gn_tcp_accept(listener, &from);
    ck_assert(!gn_ip_compare(&from.ip, &source.ip) && from.port != place.port);
    ck_assert_int_eq(gn_tcp_connect(&place, &foreign, 0), -1);
    ck_assert_int_eq(errno, EADDRNOTAVAIL);
    gn_close(&near);
    near = gn_tcp_connect(&place, &none, 0);  // no wish
    ck_assert_int_eq(came_of(near), 0);
}
END_TEST

START_TEST(what_cannot_be_had)
{
    gn_endpoint place = at("127.0.0.1"), same, foreign = at("192.0.2.77");
    listener = gn_tcp_listen(&place, false, 0);
    same = place;
    ck_assert_int_eq(gn_tcp_listen(&same, false, 0), -1);
    ck_assert_int_eq(errno, EADDRINUSE);
    ck_assert_int_eq(gn_tcp_listen(&foreign, false, 0), -1);
    ck_assert_int_eq(errno, EADDRNOTAVAIL);
    gn_close(&listener);
    near = gn_tcp_connect(&place, NULL, 0);  // nobody listens there now
    ck_assert(near < 0 || came_of(near) == ECONNREFUSED);
    int none = -1;
    errno = 77;
    gn_close(&none);
    ck_assert_int_eq(errno, 77);
    gn_close(&near);
    ck_assert_int_eq(near, -1);
}
END_TEST

// Two versions at one place: an IPv6 listener takes IPv4 only when it is told to.
START_TEST(both_versions)
{
    for (int both = 0; both < 2; both++) {
        gn_endpoint any = at("::"), four = at("127.0.0.1"), six = at("::1"), from = {0};
        listener = gn_tcp_listen(&any, both, 0);
        if (listener < 0 && errno == EAFNOSUPPORT) return;
        ck_assert_int_ge(listener, 0);
        ck_assert_int_eq(option(listener, IPPROTO_IPV6, IPV6_V6ONLY), !both);
        four.port = six.port = any.port;
        near = gn_tcp_connect(&six, NULL, 0x28);
        ck_assert_int_eq(came_of(near), 0);
        ck_assert_int_eq(option(near, IPPROTO_IPV6, IPV6_TCLASS), 0x28);
        far = gn_tcp_accept(listener, &from);
        ck_assert_uint_eq(from.ip.version, 6);
        gn_close(&near);
        gn_close(&far);
        near = gn_tcp_connect(&four, NULL, 0);
        if (both) {
            ck_assert_int_eq(came_of(near), 0);
            far = gn_tcp_accept(listener, &from);
            ck_assert_uint_eq(from.ip.version, 4);
        } else {
            ck_assert(near < 0 || came_of(near) == ECONNREFUSED);
        }
        end();
    }
}
END_TEST

int main(void)
{
    return RUN_SUITE("tcp", NULL, end, both_ends, from_an_address, what_cannot_be_had, both_versions);
}
