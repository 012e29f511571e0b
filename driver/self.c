// SPDX-License-Identifier: Apache-2.0
// Whether a peer is the NIC itself. What the host sends to such a peer comes back to the host.
#include <errno.h>
#include <string.h>

#include "driver/nic.h"
#include "net/interface.h"
#include "net/resolve.h"

static bool leads_to_peer(const gn_peers *peers, const gn_peer *peer, const gn_ip *own)
{
    for (size_t i = 0; i < gn_peers_prefix_count(peers); i++) {
        const gn_peer *to;
        const gn_prefix *prefix = gn_peers_prefix(peers, i, &to);
        if (to == peer && gn_prefix_contains(prefix, own)) return true;
    }
    return false;
}

/// Whether the peer is this host's own line in a table that all hosts have: then one of its
/// prefixes has an address of this host.
static bool is_own_line(const gn_nic_config *config, const gn_peer *peer, const struct ifaddrs *interfaces)
{
    for (size_t i = 0; i < config->address_count; i++)
        if (leads_to_peer(config->peers, peer, &config->addresses[i].ip)) return true;
    for (const struct ifaddrs *at = interfaces; at; at = at->ifa_next) {
        const gn_endpoint own = gn_interface_address(at);
        if (own.ip.version && leads_to_peer(config->peers, peer, &own.ip)) return true;
    }
    return false;
}

gn_status gn_nic_check_peers(const gn_nic_config *config, gn_error *error)
{
    gn_endpoint listen = config->listen;
    char text[GN_ENDPOINT_TEXT];
    struct ifaddrs *interfaces = NULL;
    gn_status wrong = GN_OK;
    if (!listen.port) listen.port = GN_PORT_DEFAULT;
    if (!listen.ip.version) listen.ip.version = 6;  // hears both
    for (size_t i = 0; i < gn_peers_count(config->peers) && !wrong; i++) {
        const gn_peer *peer = gn_peers_at(config->peers, i);
        if (gn_ip_is_link_local(&peer->endpoint.ip) && !peer->endpoint.scope) {
            wrong =
                gn_fail(error, GN_INVALID, "peer %s: an address of a link needs its interface, as in [fe80::1%%eth0]",
                        gn_endpoint_format(&peer->endpoint, text));
            break;
        }
        if (peer->endpoint.ip.version == 4 && gn_ip_reaches(&listen.ip) == AF_INET6) {
            wrong = gn_fail(error, GN_INVALID, "peer %s is IPv4, but the wire listens on an address of IPv6",
                            gn_endpoint_format(&peer->endpoint, text));
            break;
        }
        if (!peer->endpoint.ip.version || !gn_endpoint_leads_to(&peer->endpoint, &listen)) continue;
        if (!interfaces && getifaddrs(&interfaces))
            wrong = gn_fail(error, GN_IO, "the addresses of this host: %s", strerror(errno));
        else if (!is_own_line(config, peer, interfaces))
            wrong = gn_fail(error, GN_INVALID, "peer %s%s%s is this NIC itself: give the other host's address",
                            peer->name, *peer->name ? ", " : "", gn_endpoint_format(&peer->endpoint, text));
    }
    if (interfaces) freeifaddrs(interfaces);
    return wrong;
}
