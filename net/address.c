// SPDX-License-Identifier: Apache-2.0
#include "net/address.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "net/number.h"

int gn_ip_compare(const gn_ip *a, const gn_ip *b)
{
    if (a->version != b->version) return a->version < b->version ? -1 : 1;
    return memcmp(a->bytes, b->bytes, sizeof a->bytes);
}

gn_ip gn_ip_mask(const gn_ip *ip, unsigned length)
{
    gn_ip masked = {.version = ip->version};
    const unsigned whole = length / 8, rest = length % 8;
    memcpy(masked.bytes, ip->bytes, whole);
    if (rest) masked.bytes[whole] = (uint8_t)(ip->bytes[whole] & (0xff00u >> rest));
    return masked;
}

bool gn_prefix_contains(const gn_prefix *prefix, const gn_ip *ip)
{
    if (prefix->ip.version != ip->version) return false;
    const gn_ip wanted = gn_ip_mask(&prefix->ip, prefix->length), got = gn_ip_mask(ip, prefix->length);
    return gn_ip_compare(&wanted, &got) == 0;
}

int gn_ip_family(const gn_ip *ip)
{
    return ip->version == 4 ? AF_INET : AF_INET6;
}

bool gn_ip_is_any(const gn_ip *ip)
{
    return !gn_ip_compare(ip, &(gn_ip){.version = ip->version});
}

bool gn_ip_is_multicast(const gn_ip *ip)
{
    static const uint8_t all[4] = {255, 255, 255, 255};
    return ip->version == 4 ? ip->bytes[0] >> 4 == 14 || !memcmp(ip->bytes, all, sizeof all) : ip->bytes[0] == 255;
}

bool gn_ip_is_loopback(const gn_ip *ip)
{
    static const uint8_t one[16] = {[15] = 1};
    return ip->version == 4 ? ip->bytes[0] == 127 : !memcmp(ip->bytes, one, sizeof one);
}

bool gn_ip_is_link_local(const gn_ip *ip)
{
    return ip->version == 6 && ip->bytes[0] == 0xfe && (ip->bytes[1] & 0xc0) == 0x80;
}

bool gn_ip_parse(const char *text, gn_ip *ip)
{
    memset(ip, 0, sizeof *ip);
    ip->version = strchr(text, ':') ? 6 : 4;
    return inet_pton(gn_ip_family(ip), text, ip->bytes) == 1;
}

bool gn_port_parse(const char *text, uint16_t *port)
{
    unsigned number;
    if (!text || !gn_number_parse(text, 65535, &number) || !number) return false;
    *port = (uint16_t)number;
    return true;
}

gn_status gn_prefix_parse(const char *text, gn_prefix *prefix, gn_error *error)
{
    char copy[INET6_ADDRSTRLEN + 8];
    if (strlen(text) >= sizeof copy) return gn_fail(error, GN_INVALID, "'%.60s' is not an IP prefix", text);
    memcpy(copy, text, strlen(text) + 1);
    char *slash = strchr(copy, '/');
    if (slash) *slash++ = 0;
    if (!gn_ip_parse(copy, &prefix->ip))
        return gn_fail(error, GN_INVALID, "'%s' is not an IP prefix (10.77.0.2/32, fd77::2/128)", text);
    unsigned length = gn_ip_bits(&prefix->ip);
    if (slash && !gn_number_parse(slash, length, &length))
        return gn_fail(error, GN_INVALID, "'%s': prefix length is not a number from 0 to %u", text,
                       gn_ip_bits(&prefix->ip));
    prefix->length = (uint8_t)length;
    return GN_OK;
}

int gn_ip_reaches(const gn_ip *own)
{
    return own->version == 4 ? AF_INET : !own->version || gn_ip_is_any(own) ? AF_UNSPEC : AF_INET6;
}

/// ::ffff:a.b.c.d is an IPv4 address, and travels as one.
static void take_mapped(gn_ip *ip)
{
    static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};
    if (ip->version != 6 || memcmp(ip->bytes, prefix, sizeof prefix) != 0) return;
    gn_ip four = {.version = 4};
    memcpy(four.bytes, ip->bytes + sizeof prefix, 4);
    *ip = four;
}

gn_status gn_endpoint_parse(const char *text, gn_endpoint *endpoint, gn_error *error)
{
    char copy[INET6_ADDRSTRLEN + IF_NAMESIZE + 16];
    const char *port = NULL;
    memset(endpoint, 0, sizeof *endpoint);
    if (strlen(text) >= sizeof copy) return gn_fail(error, GN_INVALID, "'%.80s' is not an address with a port", text);
    memcpy(copy, text, strlen(text) + 1);

    char *host = copy;
    if (*host == '[') {
        char *bracket = strchr(++host, ']');
        if (!bracket) return gn_fail(error, GN_INVALID, "'%s': no ']' behind the IPv6 address", text);
        *bracket = 0;
        if (bracket[1] == ':')
            port = bracket + 2;
        else if (bracket[1])
            return gn_fail(error, GN_INVALID, "'%s': ']' must be followed by ':PORT'", text);
        char *scope = strchr(host, '%');
        if (scope) {
            *scope++ = 0;
            endpoint->scope = if_nametoindex(scope);
            if (!endpoint->scope) return gn_fail(error, GN_INVALID, "'%s': no interface '%s'", text, scope);
        }
    } else {
        char *colon = strchr(host, ':');
        if (colon && strchr(colon + 1, ':'))
            return gn_fail(error, GN_INVALID, "'%s': write an IPv6 endpoint as [address]:port", text);
        if (colon) *colon = 0, port = colon + 1;
    }
    if (!gn_ip_parse(host, &endpoint->ip))
        return gn_fail(
            error, GN_INVALID,
            "'%s': give an address or a name, with or without a port (192.0.2.1, 192.0.2.1:%d, [2001:db8::1]:%d)", text,
            GN_PORT_DEFAULT, GN_PORT_DEFAULT);
    take_mapped(&endpoint->ip);
    if (!gn_ip_is_link_local(&endpoint->ip)) endpoint->scope = 0;
    endpoint->port = GN_PORT_DEFAULT;
    if (port && !gn_port_parse(port, &endpoint->port))
        return gn_fail(error, GN_INVALID, "'%s': port is not a number from 1 to 65535", text);
    return GN_OK;
}

gn_status gn_host_and_port_parse(const char *text, char host[GN_HOST_TEXT], uint16_t *port, gn_error *error)
{
    const char *colon = strrchr(text, ':');
    const char *start = text, *stop = colon;
    if (colon && *text == '[' && colon > text && colon[-1] == ']') start++, stop--;
    const size_t length = colon ? (size_t)(stop - start) : 0;
    if (!length || length >= GN_HOST_TEXT) return gn_fail(error, GN_INVALID, "'%s': HOST:PORT is needed", text);
    if (!gn_port_parse(colon + 1, port))
        return gn_fail(error, GN_INVALID, "'%s': port is not a number from 1 to 65535", text);
    memcpy(host, start, length);
    host[length] = 0;
    return GN_OK;
}

bool gn_host_and_port(const char *text, char host[GN_HOST_TEXT], uint16_t *port)
{
    gn_error ignored;
    return gn_host_and_port_parse(text, host, port, &ignored) == GN_OK;
}

const char *gn_ip_format(const gn_ip *ip, char *text)
{
    snprintf(text, GN_IP_TEXT, "?");
    inet_ntop(gn_ip_family(ip), ip->bytes, text, GN_IP_TEXT);
    return text;
}

const char *gn_prefix_format(const gn_prefix *prefix, char *text)
{
    char address[GN_IP_TEXT];
    snprintf(text, GN_PREFIX_TEXT, "%s/%u", gn_ip_format(&prefix->ip, address), prefix->length);
    return text;
}

const char *gn_endpoint_format(const gn_endpoint *endpoint, char *text)
{
    char address[GN_IP_TEXT], scope[IF_NAMESIZE + 1] = "", port[8] = "";
    gn_ip_format(&endpoint->ip, address);
    if (endpoint->scope && if_indextoname(endpoint->scope, scope + 1)) scope[0] = '%';
    if (endpoint->port) snprintf(port, sizeof port, ":%u", endpoint->port);
    const bool brackets = endpoint->ip.version == 6 && endpoint->port;
    snprintf(text, GN_ENDPOINT_TEXT, "%s%s%s%s%s", brackets ? "[" : "", address, scope, brackets ? "]" : "", port);
    return text;
}

socklen_t gn_endpoint_to_sockaddr(const gn_endpoint *endpoint, int family, struct sockaddr_storage *address)
{
    memset(address, 0, sizeof *address);
    if (family == AF_INET) {
        struct sockaddr_in *in = (struct sockaddr_in *)address;
        in->sin_family = AF_INET;
        in->sin_port = htons(endpoint->port);
        memcpy(&in->sin_addr, endpoint->ip.bytes, 4);
        return sizeof *in;
    }
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)address;
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons(endpoint->port);
    in6->sin6_scope_id = endpoint->scope;
    if (endpoint->ip.version == 4) {
        memset(in6->sin6_addr.s6_addr + 10, 0xff, 2);
        memcpy(in6->sin6_addr.s6_addr + 12, endpoint->ip.bytes, 4);
    } else {
        memcpy(&in6->sin6_addr, endpoint->ip.bytes, 16);
    }
    return sizeof *in6;
}

gn_endpoint gn_endpoint_from_sockaddr(const struct sockaddr_storage *address)
{
    gn_endpoint endpoint = {0};
    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)address;
        endpoint.ip.version = 4;
        endpoint.port = ntohs(in->sin_port);
        memcpy(endpoint.ip.bytes, &in->sin_addr, 4);
    } else if (address->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
        endpoint.port = ntohs(in6->sin6_port);
        endpoint.ip.version = 6;
        memcpy(endpoint.ip.bytes, &in6->sin6_addr, 16);
        take_mapped(&endpoint.ip);
        if (gn_ip_is_link_local(&endpoint.ip)) endpoint.scope = in6->sin6_scope_id;
    }
    return endpoint;
}
