// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_FREE_PORT_H
#define GRADNIC_TESTS_FREE_PORT_H

#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>

#include <check.h>

/// A TCP port of this machine that nobody listens at. It stays reserved while the process lives.
/// The kernel gives it to nobody who asks for any port. A listener with SO_REUSEADDR may still take
/// it.
static inline uint16_t free_port(void)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
    socklen_t length = sizeof address;
    const int on = 1, off = 0, fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert(fd >= 0);
    ck_assert(!setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) &&
              !setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off));
    ck_assert(!bind(fd, (struct sockaddr *)&address, length));
    ck_assert(!getsockname(fd, (struct sockaddr *)&address, &length));
    return ntohs(address.sin6_port);
}

#endif
