// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_FREE_PORT_H
#define GRADNIC_TESTS_FREE_PORT_H

#include <arpa/inet.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include <check.h>

/// A TCP port of 127.0.0.1 that nobody listens at now.
static inline uint16_t free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert(fd >= 0 && !bind(fd, (struct sockaddr *)&address, length));
    ck_assert(!getsockname(fd, (struct sockaddr *)&address, &length));
    close(fd);
    return ntohs(address.sin_port);
}

#endif
