// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_RESOLVE_H
#define GRADNIC_NET_RESOLVE_H
/// Addresses of hosts by their names, as getaddrinfo(3) finds them: numeric addresses, /etc/hosts,
/// name servers. A search ends after GN_RESOLVE_SECONDS, whatever the name servers do. Any thread.

#include "net/address.h"

enum {
    GN_ADDRESSES_MAX = 16,   ///< of one name; more are left out
    GN_RESOLVE_SECONDS = 10  ///< for one name
};

/// What a name leads to, in the resolver's order, each address once.
typedef struct gn_addresses {
    gn_endpoint at[GN_ADDRESSES_MAX];
    unsigned count;  ///< at least 1
} gn_addresses;

/// "name", "name:port". A name has letters, digits, '-', '_' and '.', and at least one letter: a
/// numeric address with a mistake is none. Without a port, GN_PORT_DEFAULT.
/// @return false for anything else
bool gn_name_parse(const char *text, char host[GN_HOST_TEXT], uint16_t *port);

/// All addresses of AF_INET or AF_INET6 alone, or of both (AF_UNSPEC).
/// @return GN_OK, GN_INVALID with the resolver's words (GN_IO: no name server has answered),
/// GN_TIMEOUT, GN_NO_MEMORY
gn_status gn_resolve_all(const char *host, uint16_t port, int family, gn_addresses *found, gn_error *error);
/// The first of them.
gn_status gn_resolve(const char *host, uint16_t port, gn_endpoint *endpoint, gn_error *error);

/// The first that answers a TCP connection; each has a second. If none does, the first: the caller
/// will see why. A name with one address is not tried.
gn_status gn_resolve_answering(const char *host, uint16_t port, gn_endpoint *endpoint, gn_error *error);

/// Where to listen: "192.0.2.1:7777" as gn_endpoint_parse(), or "name:7777" with a name of this
/// host. Of several addresses, the first that is this host's and not loopback, or else one that is.
/// @return GN_OK, GN_INVALID, GN_TIMEOUT
gn_status gn_resolve_own(const char *text, gn_endpoint *endpoint, gn_error *error);

/// Whether an address is this host's. Only such an address can be bound to.
bool gn_endpoint_is_own(const gn_endpoint *endpoint);

/// Whether what is sent to `to` comes to a listener at `at` on this host. `at` may be any address.
bool gn_endpoint_leads_to(const gn_endpoint *to, const gn_endpoint *at);

#endif
