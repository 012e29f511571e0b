// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_COALESCER_H
#define GRADNIC_DRIVER_COALESCER_H
/// Hands packets to the host. Neighbours of one TCP flow go up together, as one segment, with one
/// write (gn_run of <gradnic/frame.h>). Nothing is copied for that.
///
/// A segment of several packets goes up with its checksum "not yet made", so nothing would check it
/// again. gn_run therefore joins only packets whose own checksum holds. A single packet that passed
/// untouched goes up as it is, and the host verifies it.
///
/// The host may forward them. So values that the engine has made longer than the link onward are
/// cut, but none in two. What came untouched or stored keeps the size that its sender gave it.

#include <gradnic/frame.h>

#include "driver/onward.h"
#include "driver/tun.h"

enum { GN_COALESCER_MAX = 128 };  ///< packets in one segment

typedef struct gn_coalescer_counters {
    uint64_t packets, bytes;  ///< IP packets handed to the host, as they were one by one
    uint64_t writes;          ///< system calls for them
    uint64_t refused;         ///< packets that the host did not take (device down, ...)
} gn_coalescer_counters;

typedef struct gn_coalescer {
    const gn_tun *tun;
    gn_onward *onward;
    gn_tx *cutter;    // has no rule: it only cuts
    gn_burst *burst;  // what it has cut
    gn_coalescer_counters counters;
    bool open;  // a run is being made
    gn_run run;
    uint8_t *first;
    struct iovec vector[1 + GN_COALESCER_MAX];
} gn_coalescer;

/// What came out of the engine, and how the packet was on the wire.
typedef struct gn_restored {
    const uint8_t *packet;  ///< NULL: it passed untouched
    size_t length;
} gn_restored;

/// `tun` and `onward` are not owned. gn_coalescer_close() is called in any case.
gn_status gn_coalescer_open(gn_coalescer *coalescer, const gn_tun *tun, gn_onward *onward);
void gn_coalescer_close(gn_coalescer *coalescer);

/// Adds one whole IP packet. It must stay where it is until the next flush; its headers may be
/// rewritten. The checksum of a restored one holds. `partial`: it has only the pseudo header's sum
/// for a checksum.
void gn_coalescer_add(gn_coalescer *coalescer, uint8_t *packet, size_t length, gn_restored wire, bool partial);

/// Hands over everything that was added.
void gn_coalescer_flush(gn_coalescer *coalescer);

#endif
