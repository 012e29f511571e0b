// SPDX-License-Identifier: Apache-2.0
// A worker that is registered at a UDP port is found by address and port. Nobody else is found.
// IPv4 is the same behind an IPv6 socket.
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "switch/daemon/sources.h"
#include "unit/suite.h"

static gn_sources sources;

static gn_endpoint v4(unsigned host, unsigned port)
{
    return (gn_endpoint){.ip = {.version = 4, .bytes = {10, 0, (uint8_t)(host >> 8), (uint8_t)host}},
                         .port = (uint16_t)port};
}

static const gn_source *find(const gn_endpoint *endpoint, int family)
{
    struct sockaddr_storage address;
    (void)gn_endpoint_to_sockaddr(endpoint, family, &address);
    return gn_sources_find(&sources, &address);
}

START_TEST(all_that_there_can_be)
{
    gn_sources_clear(&sources, 132);
    for (unsigned i = 0; i < GN_SOURCES_MAX; i++) {
        const gn_endpoint e = v4(i / 3, 5000 + i % 3);  // several at one host
        ck_assert(gn_sources_set(&sources, i, &(gn_far_end){.at = e}, AF_INET));
    }
    for (unsigned i = 0; i < GN_SOURCES_MAX; i++) {
        const gn_endpoint e = v4(i / 3, 5000 + i % 3);
        const gn_source *s = find(&e, AF_INET);
        ck_assert_ptr_eq(s, &sources.source[i]);
        ck_assert_uint_eq(s->port, 132 + i);
    }
    for (unsigned i = 0; i < 2000; i++) {
        const gn_endpoint port = v4(i / 3, 6000 + i % 3), host = v4(1000 + i, 5000);
        ck_assert_ptr_null(find(&port, AF_INET));
        ck_assert_ptr_null(find(&host, AF_INET));
    }
    gn_sources_clear(&sources, 0);
    const gn_endpoint e = v4(0, 5000);
    ck_assert_ptr_null(find(&e, AF_INET));
}
END_TEST

START_TEST(nobody_twice)
{
    gn_sources_clear(&sources, 0);
    const gn_endpoint e = v4(1, 5000), other = v4(1, 5001);
    ck_assert(gn_sources_set(&sources, 3, &(gn_far_end){.at = e}, AF_INET));
    ck_assert(!gn_sources_set(&sources, 4, &(gn_far_end){.at = e}, AF_INET));
    ck_assert(!gn_sources_set(&sources, 3, &(gn_far_end){.at = other}, AF_INET));
    ck_assert(gn_sources_set(&sources, 4, &(gn_far_end){.at = other}, AF_INET));
}
END_TEST

START_TEST(both_versions)
{
    gn_sources_clear(&sources, 0);
    const gn_endpoint e = v4(1, 5000);
    gn_endpoint six = {.ip = {.version = 6, .bytes = {0xfd, 0x77, [15] = 1}}, .port = 5000};
    ck_assert(gn_sources_set(&sources, 0, &(gn_far_end){.at = e}, AF_INET6));
    ck_assert(gn_sources_set(&sources, 1, &(gn_far_end){.at = six}, AF_INET6));
    ck_assert_ptr_eq(find(&e, AF_INET6), &sources.source[0]);
    ck_assert_ptr_eq(find(&e, AF_INET), &sources.source[0]);
    ck_assert_ptr_eq(find(&six, AF_INET6), &sources.source[1]);
    six.ip.bytes[7] = 1;
    ck_assert_ptr_null(find(&six, AF_INET6));
    // An address of a link is another host on another link.
    gn_endpoint link = {.ip = {.version = 6, .bytes = {0xfe, 0x80, [15] = 1}}, .port = 5000, .scope = 2};
    ck_assert(gn_sources_set(&sources, 2, &(gn_far_end){.at = link}, AF_INET6));
    ck_assert_ptr_eq(find(&link, AF_INET6), &sources.source[2]);
    link.scope = 3;
    ck_assert_ptr_null(find(&link, AF_INET6));
    ck_assert(gn_sources_set(&sources, 3, &(gn_far_end){.at = link}, AF_INET6));
    struct sockaddr_storage none = {.ss_family = AF_UNIX};
    ck_assert_ptr_null(gn_sources_find(&sources, &none));
}
END_TEST

int main(void)
{
    return RUN_TESTS("sources", all_that_there_can_be, nobody_twice, both_versions);
}
