// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_JOIN_H
#define GRADNIC_DRIVER_JOIN_H
/// Hands packets to the host, neighbours of a TCP flow as one segment (gn_run of <gradnic/frame.h>), gathered without copying.
///
/// A joined segment goes up with its checksum "not yet made", so nothing would check it again: gn_run joins only packets
/// whose own checksum holds. A lone packet that passed untouched goes up as it is, and the host verifies it.

#include <gradnic/frame.h>

#include "driver/tun.h"

enum { GN_JOIN_MAX = 128 };  ///< packets in one segment

typedef struct gn_join_counters {
    uint64_t packets, bytes;  ///< IP packets handed to the host, before joining
    uint64_t writes;          ///< system calls that did
    uint64_t refused;         ///< packets that the host did not take (device down, ...)
} gn_join_counters;

typedef struct gn_join {
    const gn_tun *tun;
    gn_join_counters counters;
    bool open;  // a run is being made
    gn_run run;
    uint8_t *first;
    struct iovec vector[1 + GN_JOIN_MAX];
} gn_join;

void gn_join_init(gn_join *join, const gn_tun *tun);

/// Adds one whole IP packet, which must stay until the next flush and whose headers may be rewritten.
/// `restored`: it comes out of the engine, its checksum holds. `partial`: it has only the pseudo header's sum for a checksum.
void gn_join_add(gn_join *join, uint8_t *packet, size_t length, bool restored, bool partial);

/// Hands over what was added.
void gn_join_flush(gn_join *join);

#endif
