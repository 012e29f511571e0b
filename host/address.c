// SPDX-License-Identifier: Apache-2.0
#include "host/address.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static bool ip_parse(const char *text, gn_ip *ip)
{
    memset(ip, 0, sizeof *ip);
    ip->version = strchr(text, ':') ? 6 : 4;
    return inet_pton(ip->version == 4 ? AF_INET : AF_INET6, text, ip->bytes) == 1;
}

// Decimal digits only: strtoul would take signs, spaces and "0x".
static bool number_parse(const char *text, unsigned long highest, unsigned long *value)
{
    const size_t digits = strspn(text, "0123456789");
    if (!digits || digits > 9 || text[digits]) return false;
    *value = strtoul(text, NULL, 10);
    return *value <= highest;
}

int gn_prefix_parse(const char *text, gn_prefix *prefix, gn_error *error)
{
    char copy[INET6_ADDRSTRLEN + 8];
    if (strlen(text) >= sizeof copy) return gn_error_set(error, "'%.60s' is no IP prefix", text);
    memcpy(copy, text, strlen(text) + 1);
    char *slash = strchr(copy, '/');
    if (slash) *slash++ = 0;
    if (!ip_parse(copy, &prefix->ip))
        return gn_error_set(error, "'%s' is no IP prefix (10.77.0.2/32, fd77::2/128)", text);
    unsigned long length = gn_ip_bits(&prefix->ip);
    if (slash && !number_parse(slash, length, &length))
        return gn_error_set(error, "'%s': prefix length is not a number from 0 to %u", text, gn_ip_bits(&prefix->ip));
    prefix->length = (uint8_t)length;
    return 0;
}

int gn_endpoint_parse(const char *text, gn_endpoint *endpoint, gn_error *error)
{
    char copy[INET6_ADDRSTRLEN + IF_NAMESIZE + 16];
    const char *port = NULL;
    memset(endpoint, 0, sizeof *endpoint);
    if (strlen(text) >= sizeof copy) return gn_error_set(error, "'%.80s' is no address with port", text);
    memcpy(copy, text, strlen(text) + 1);

    char *host = copy;
    if (*host == '[') {
        char *bracket = strchr(++host, ']');
        if (!bracket) return gn_error_set(error, "'%s': no ']' behind the IPv6 address", text);
        *bracket = 0;
        if (bracket[1] == ':')
            port = bracket + 2;
        else if (bracket[1])
            return gn_error_set(error, "'%s': ']' must be followed by ':PORT'", text);
        char *scope = strchr(host, '%');
        if (scope) {
            *scope++ = 0;
            endpoint->scope = if_nametoindex(scope);
            if (!endpoint->scope) return gn_error_set(error, "'%s': no interface '%s'", text, scope);
        }
    } else {
        char *colon = strchr(host, ':');
        if (colon && strchr(colon + 1, ':'))
            return gn_error_set(error, "'%s': write an IPv6 endpoint as [address]:port", text);
        if (colon) *colon = 0, port = colon + 1;
    }
    if (!ip_parse(host, &endpoint->ip))
        return gn_error_set(
            error, "'%s': give a numeric address, with or without a port (192.0.2.1, 192.0.2.1:%d, [2001:db8::1]:%d)",
            text, GN_PORT_DEFAULT, GN_PORT_DEFAULT);
    unsigned long number = GN_PORT_DEFAULT;
    if (port && (!number_parse(port, 65535, &number) || !number))
        return gn_error_set(error, "'%s': port is not a number from 1 to 65535", text);
    endpoint->port = (uint16_t)number;
    return 0;
}

const char *gn_prefix_format(const gn_prefix *prefix, char *text)
{
    char address[INET6_ADDRSTRLEN] = "?";
    inet_ntop(prefix->ip.version == 4 ? AF_INET : AF_INET6, prefix->ip.bytes, address, sizeof address);
    snprintf(text, GN_PREFIX_TEXT, "%s/%u", address, prefix->length);
    return text;
}

const char *gn_endpoint_format(const gn_endpoint *endpoint, char *text)
{
    char address[INET6_ADDRSTRLEN] = "?", scope[IF_NAMESIZE + 1] = "";
    inet_ntop(endpoint->ip.version == 4 ? AF_INET : AF_INET6, endpoint->ip.bytes, address, sizeof address);
    if (endpoint->scope && if_indextoname(endpoint->scope, scope + 1)) scope[0] = '%';
    if (endpoint->ip.version == 6)
        snprintf(text, GN_ENDPOINT_TEXT, "[%s%s]:%u", address, scope, endpoint->port);
    else
        snprintf(text, GN_ENDPOINT_TEXT, "%s:%u", address, endpoint->port);
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
        if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
            endpoint.ip.version = 4;
            memcpy(endpoint.ip.bytes, in6->sin6_addr.s6_addr + 12, 4);
        } else {
            endpoint.ip.version = 6;
            memcpy(endpoint.ip.bytes, &in6->sin6_addr, 16);
            if (IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr)) endpoint.scope = in6->sin6_scope_id;
        }
    }
    return endpoint;
}
