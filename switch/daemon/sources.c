// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/sources.h"

#include <string.h>

void gn_sources_clear(gn_sources *sources, unsigned first_port)
{
    memset(sources, 0, sizeof *sources);
    for (unsigned i = 0; i < GN_SOURCES_MAX; i++) sources->source[i].port = (uint16_t)(first_port + i);
}

/// An address as 128 bits, IPv4 in its mapped form. @return false for another family
static bool read_address(const struct sockaddr_storage *address, uint64_t ip[2], uint16_t *udp_port)
{
    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
        const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
        memcpy(ip, mapped, sizeof mapped);
        memcpy((char *)ip + sizeof mapped, &v4->sin_addr, sizeof v4->sin_addr);
        *udp_port = v4->sin_port;
        return true;
    }
    if (address->ss_family != AF_INET6) return false;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
    memcpy(ip, &v6->sin6_addr, sizeof v6->sin6_addr);
    if (IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr)) ip[0] ^= (uint64_t)v6->sin6_scope_id << 24;  // bits that are 0
    *udp_port = v6->sin6_port;
    return true;
}

/// Where the search in the hash table begins.
static unsigned place_of(const uint64_t ip[2], uint16_t udp_port)
{
    const uint64_t mixed = (ip[0] ^ ip[1] * 0x9e3779b97f4a7c15u ^ (uint64_t)udp_port << 20) * 0xbf58476d1ce4e5b9u;
    return (unsigned)(mixed >> 56);
}

gn_source *gn_sources_find(gn_sources *sources, const struct sockaddr_storage *address)
{
    uint64_t ip[2];
    uint16_t udp_port;
    if (!read_address(address, ip, &udp_port)) return NULL;
    for (unsigned at = place_of(ip, udp_port);; at = (at + 1) % GN_SOURCES_PLACES) {
        if (!sources->place[at]) return NULL;
        gn_source *source = &sources->source[sources->place[at] - 1];
        if (source->ip[1] == ip[1] && source->ip[0] == ip[0] && source->udp_port == udp_port) return source;
    }
}

bool gn_sources_set(gn_sources *sources, unsigned number, const gn_far_end *end, int family)
{
    gn_source *source = &sources->source[number];
    struct sockaddr_storage address;
    const socklen_t length = gn_endpoint_to_sockaddr(&end->at, family, &address);
    if (source->used || gn_sources_find(sources, &address)) return false;
    if (!read_address(&address, source->ip, &source->udp_port)) return false;
    unsigned at = place_of(source->ip, source->udp_port);
    while (sources->place[at]) at = (at + 1) % GN_SOURCES_PLACES;
    sources->place[at] = (uint8_t)(number + 1);
    source->used = true;
    source->single = false;
    source->address = address;
    source->length = length;
    source->here = end->here;
    return true;
}
