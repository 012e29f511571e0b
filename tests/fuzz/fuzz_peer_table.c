// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of peers. They give a message, or a table. In a table every prefix leads to
// the peer it was given for, or to a longer prefix's.
#include <stdlib.h>

#include "driver/peers.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gn_error error = {0};
    gn_peers *peers = gn_peers_new();
    if (!peers) abort();
    if (gn_peers_parse(peers, "fuzz", (const char *)data, size, &error) || gn_peers_seal(peers, AF_INET6, &error)) {
        if (!*error.text) abort();
        gn_peers_free(peers);
        return 0;
    }
    for (size_t i = 0; i < gn_peers_prefix_count(peers); i++) {
        const gn_peer *owner, *got;
        const gn_prefix *prefix = gn_peers_prefix(peers, i, &owner);
        got = gn_peers_route(peers, &prefix->ip);
        bool longer = false;
        for (size_t j = 0; j < i && !longer; j++) {
            const gn_peer *other;
            longer = gn_prefix_contains(gn_peers_prefix(peers, j, &other), &prefix->ip) && other == got;
        }
        if (got != owner && !longer) abort();
    }
    for (size_t i = 0; i < gn_peers_count(peers); i++) {
        const gn_peer *peer = gn_peers_at(peers, i);
        const gn_endpoint back = gn_endpoint_from_sockaddr(&peer->address);
        if (back.port != peer->endpoint.port || gn_peers_find(peers, &peer->endpoint) != peer) abort();
    }
    gn_peers_free(peers);
    return 0;
}
