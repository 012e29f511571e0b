// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_PEERS_H
#define GRADNIC_DRIVER_PEERS_H
/// The static table of peers: which overlay prefixes are behind which UDP endpoint. The longest
/// prefix of a destination decides where a packet of the host goes. A peer may send packets only
/// from sources that lead back to it.

#include <stdatomic.h>
#include <stddef.h>

#include "net/address.h"

typedef struct gn_peer_counters {
    uint64_t tx_packets, tx_bytes;  ///< IP packets and bytes sent to it (padding not counted)
    uint64_t rx_packets, rx_bytes;  ///< IP packets and bytes accepted from it
    uint64_t rx_bad_packet;         ///< datagrams without a whole IP packet: dropped
    uint64_t rx_bad_source;         ///< packets whose source is not in its prefixes: dropped
} gn_peer_counters;

typedef struct gn_peer {
    char name[GN_HOST_TEXT];          ///< as it was given; "": a numeric address
    gn_endpoint endpoint;             ///< of a name: version 0 until gn_peers_resolve()
    struct sockaddr_storage address;  ///< for the wire's socket; set by gn_peers_seal()
    socklen_t address_length;
    /// The address of this host that the peer sends to, so the one that it knows. Version 0: not
    /// known, and the kernel chooses one. `asked` is the receiving thread's, `from` the sending
    /// one's copy.
    gn_ip asked, from;
    atomic_bool forgot;         ///< `from` was no address of this host any more
    gn_peer_counters counters;  ///< the sending thread has tx_*, the receiving one rx_*
} gn_peer;

typedef struct gn_peers gn_peers;

enum { GN_PEERS_BYTES_MAX = 1 << 20 };  ///< of a file

/// @return NULL when out of memory. Free with gn_peers_free() (NULL allowed).
gn_peers *gn_peers_new(void);
void gn_peers_free(gn_peers *peers);

/// Adds "PREFIX[,PREFIX...]=ENDPOINT", or with a host's name in it. Asks no name server. A prefix
/// without a length is one address. An endpoint that is given twice is one peer. A prefix with bits
/// set behind its length is an error. So is a prefix that is given twice, which gn_peers_seal()
/// finds.
gn_status gn_peers_add(gn_peers *peers, const char *spec, gn_error *error);
/// Adds the peers of a text file: one such line per peer, '#' starts a comment. Any other text in a
/// line is an error.
gn_status gn_peers_load(gn_peers *peers, const char *path, gn_error *error);
/// As gn_peers_load(), from memory. `name` is for messages. `text` need not be terminated.
gn_status gn_peers_parse(gn_peers *peers, const char *name, const char *text, size_t length, gn_error *error);

/// Finds the addresses of those that were given by name, for a socket of `family` (AF_UNSPEC: any).
/// Of several, the first with a route. @return GN_OK, GN_INVALID, GN_TIMEOUT
gn_status gn_peers_resolve(gn_peers *peers, int family, gn_error *error);

/// Sorts the table and prepares addresses for a socket of `family` (AF_INET or AF_INET6).
/// Afterwards only the counters change, and where a peer sends to. Lookups are thread-safe.
gn_status gn_peers_seal(gn_peers *peers, int family, gn_error *error);

/// The peer that `ip` belongs to, or NULL.
gn_peer *gn_peers_route(const gn_peers *peers, const gn_ip *ip);
/// The peer with that endpoint, or NULL.
gn_peer *gn_peers_find(const gn_peers *peers, const gn_endpoint *endpoint);

size_t gn_peers_count(const gn_peers *peers);
gn_peer *gn_peers_at(const gn_peers *peers, size_t index);

/// Prefixes in the table, in its order (longest first after sealing), with the peer they lead to.
size_t gn_peers_prefix_count(const gn_peers *peers);
const gn_prefix *gn_peers_prefix(const gn_peers *peers, size_t index, const gn_peer **peer);

#endif
