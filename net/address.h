// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_ADDRESS_H
#define GRADNIC_NET_ADDRESS_H
/// IP addresses, prefixes and endpoints (an address with a port) as text, as values and as
/// sockaddr. All functions are pure but the names of scopes; any thread.

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "net/error.h"

typedef struct gn_ip {
    uint8_t version;    ///< 4 or 6
    uint8_t bytes[16];  ///< network order; an IPv4 address is the first four, the rest zero
} gn_ip;

typedef struct gn_prefix {
    gn_ip ip;
    uint8_t length;  ///< bits
} gn_prefix;

typedef struct gn_endpoint {
    gn_ip ip;
    uint16_t port;   ///< host order
    uint32_t scope;  ///< interface index of a link-local IPv6 address, else 0
} gn_endpoint;

enum {
    GN_IP_TEXT = 46,        ///< room for an address as text
    GN_PREFIX_TEXT = 50,    ///< room for a prefix as text
    GN_ENDPOINT_TEXT = 72,  ///< room for an endpoint as text
    GN_HOST_TEXT = 256,     ///< room for the name of a host
    GN_PORT_DEFAULT = 7777  ///< UDP port of the wire when none is given
};

/// Bits of an address of that version: 32 or 128.
static inline unsigned gn_ip_bits(const gn_ip *ip)
{
    return ip->version == 4 ? 32 : 128;
}
/// Bytes of an address of that version: 4 or 16.
static inline unsigned gn_ip_bytes(const gn_ip *ip)
{
    return ip->version == 4 ? 4 : 16;
}
/// AF_INET or AF_INET6.
int gn_ip_family(const gn_ip *ip);

/// Orders by version, then bytes: <0, 0, >0.
int gn_ip_compare(const gn_ip *a, const gn_ip *b);
/// The address with all bits behind `length` cleared.
gn_ip gn_ip_mask(const gn_ip *ip, unsigned length);
bool gn_ip_is_any(const gn_ip *ip);  ///< 0.0.0.0, ::
bool gn_ip_is_loopback(const gn_ip *ip);
/// Of the addresses that a socket at `own` can send to: AF_INET, AF_INET6, or AF_UNSPEC for both.
int gn_ip_reaches(const gn_ip *own);
bool gn_ip_is_multicast(const gn_ip *ip);   ///< or IPv4's broadcast to all
bool gn_ip_is_link_local(const gn_ip *ip);  ///< fe80::/10: it needs a scope
bool gn_prefix_contains(const gn_prefix *prefix, const gn_ip *ip);

/// "10.77.0.2", "fd77::2". @return false for anything else
bool gn_ip_parse(const char *text, gn_ip *ip);
/// "10.77.0.2", "fd77::/64". Without a length, all bits. Bits behind the length stay as they are.
/// @return GN_OK, GN_INVALID
gn_status gn_prefix_parse(const char *text, gn_prefix *prefix, gn_error *error);
/// "192.0.2.1:7777", "[2001:db8::1]:7777", "[fe80::1%eth0]:7777". Without a port, GN_PORT_DEFAULT.
/// @return GN_OK, GN_INVALID
gn_status gn_endpoint_parse(const char *text, gn_endpoint *endpoint, gn_error *error);
/// A decimal port, 1 to 65535. `text` may be NULL. @return false for anything else
bool gn_port_parse(const char *text, uint16_t *port);
/// "host:port", "[v6]:port": the host's name as it stands. @return GN_OK, GN_INVALID
gn_status gn_host_and_port_parse(const char *text, char host[GN_HOST_TEXT], uint16_t *port, gn_error *error);
/// The same without words. @return false for anything else
bool gn_host_and_port(const char *text, char host[GN_HOST_TEXT], uint16_t *port);

/// Into `text`, at least GN_IP_TEXT (GN_PREFIX_TEXT, GN_ENDPOINT_TEXT) bytes. An endpoint without a
/// port is its address alone. @return text
const char *gn_ip_format(const gn_ip *ip, char *text);
const char *gn_prefix_format(const gn_prefix *prefix, char *text);
const char *gn_endpoint_format(const gn_endpoint *endpoint, char *text);

/// As `family` wants it: AF_INET, or AF_INET6 (IPv4 becomes ::ffff:a.b.c.d). @return length of the
/// sockaddr
socklen_t gn_endpoint_to_sockaddr(const gn_endpoint *endpoint, int family, struct sockaddr_storage *address);
/// The inverse; ::ffff:a.b.c.d becomes IPv4. Other families give version 0.
gn_endpoint gn_endpoint_from_sockaddr(const struct sockaddr_storage *address);

#endif
