// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_SENT_H
#define GRADNIC_DRIVER_SENT_H
/// What a TCP flow has sent, as far as the guard saw it. It tells which segments have to go
/// untouched, since the receiver may have an exact part of one of their values, or since they are
/// another connection's.

#include <stdbool.h>
#include <stdint.h>

#include "driver/cuts.h"

typedef struct gn_sent {
    uint32_t first, top;  // sequence numbers: of the first byte that is known of, and behind the last
    uint32_t gap;         // with `gapped`: where bytes are missing
    bool known;           // the guard has seen the flow from its SYN on
    bool begun;           // one segment was seen: all below holds
    uint8_t phase;        // sequence numbers at which values begin, modulo 4
    bool noted;           // a segment was noted
    bool within;          // the host has cut within a value
    bool gapped;          // bytes went another way, or got lost ahead of the NIC
    bool lost;            // what comes is no part of this flow
    bool recut;           // or it is, and was cut elsewhere before: no value leaves in parts
} gn_sent;

typedef struct gn_sent_segment {
    uint32_t seq, bytes;
    uint32_t piece;  // the host cuts it into pieces of this size; 0: it does not
    bool end;        // with FIN: its last value may be incomplete
} gn_sent_segment;

/// The guard sees the flow from its SYN on; `first` is the sequence number of its first byte.
void gn_sent_know(gn_sent *sent, uint32_t first);

/// Begins with a segment, of a zeroed or known flow; `head`: bytes ahead of its first value.
void gn_sent_begin(gn_sent *sent, gn_cuts *cuts, uint32_t seq, int head);

/// Where the host has cut the flow's values is no longer known. If it has, nothing is rounded from
/// now on, and what is sent again leaves in whole values.
void gn_sent_forget_cuts(gn_sent *sent);

/// How many bytes lie ahead of the first value of a segment that begins with `seq`.
uint8_t gn_sent_head(const gn_sent *sent, uint32_t seq);

/// Whether a segment has to go untouched.
typedef enum gn_sent_held {
    GN_SENT_FREE,   ///< no
    GN_SENT_HELD,   ///< yes
    GN_SENT_AGAIN,  ///< yes, and its values must not leave in parts (driver/cuts.h)
} gn_sent_held;

/// Notes a segment of a flow that has begun, and where it is cut within values.
gn_sent_held gn_sent_note(gn_sent *sent, gn_cuts *cuts, const gn_sent_segment *segment);

#endif
