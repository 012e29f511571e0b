// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_SOURCES_H
#define GRADNIC_SWITCH_DAEMON_SOURCES_H
/// Who may send to one UDP port of the switch, and is sent to: the children of one channel, and its
/// parent or parameter server. They are found by their address, in a small hash table, for every
/// message that comes in.

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include <gradnic/aggregate.h>

#include "net/address.h"

enum {
    // Numbers of sources. A child's number is its bit.
    GN_SOURCE_PARENT = GN_AGG_WORKERS_MAX,
    GN_SOURCE_PS,
    GN_SOURCES_MAX,
    GN_SOURCES_PLACES = 256  ///< of the hash table: a power of two, at least 3 * GN_SOURCES_MAX
};

typedef struct gn_source {
    bool used;
    bool single;  ///< the way there takes no segmented sends
    /// The DSCP that marked packets come with, so that NICs compress them. Packets that go there
    /// have it, so that NICs restore them.
    uint8_t tos;
    uint16_t port;  ///< as gn_switch_rx() knows it
    uint16_t udp_port;
    uint64_t ip[2];  ///< as IPv6
    struct sockaddr_storage address;
    socklen_t length;
    gn_ip here;  ///< this host's address that it knows; version 0: the socket has only one
} gn_source;

/// Whom a channel talks to.
typedef struct gn_far_end {
    gn_endpoint at;  ///< its UDP address
    gn_ip here;      ///< as in gn_source
} gn_far_end;

typedef struct gn_sources {
    gn_source source[GN_SOURCES_MAX];
    uint8_t place[GN_SOURCES_PLACES];  ///< number + 1; 0: free
} gn_sources;

/// Forgets all sources. Source `number` will have port `first_port` + number.
void gn_sources_clear(gn_sources *sources, unsigned first_port);

/// Enters an address, in the form in which a socket of `family` sees it. @return false when it is
/// there already
bool gn_sources_set(gn_sources *sources, unsigned number, const gn_far_end *end, int family);

/// The source with this address. @return NULL when there is none
gn_source *gn_sources_find(gn_sources *sources, const struct sockaddr_storage *address);

#endif
