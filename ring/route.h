// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_ROUTE_H
#define GRADNIC_RING_ROUTE_H
/// The way to a rank's switch: where it is, and how large packets on it may be.

#include <gradnic/aggregate.h>
#include <gradnic/comm.h>

#include "ring/address.h"

typedef struct gn_switch_route {
    gn_endpoint address;  ///< of the switch
    gn_address place;     ///< the same, to be compared with other ranks'
    char name[GN_ENDPOINT_TEXT];
    unsigned values;  ///< of a packet: as configured, or what the MTU takes
} gn_switch_route;

/// From gn_comm_config.switch_address. @return GN_INVALID or GN_IO with a text.
gn_status gn_switch_route_find(const gn_comm_config *config, gn_switch_route *route, gn_error *error);

/// What the switch is asked to add: lattice, dense, half or int32.
gn_agg_format gn_switch_route_format(const gn_comm_config *config);

/// A UDP socket that does not block. Its datagrams go to `to` and come from `local`; either may be
/// NULL. @return it, or -1 with errno
int gn_route_socket(const gn_endpoint *to, const gn_endpoint *local);

#endif
