// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_CUTS_H
#define GRADNIC_DRIVER_CUTS_H
/// Where a TCP flow was cut within its values when it was sent for the first time. A value that was
/// cut there went exactly. Every other one may have been rounded. When it is sent again in parts,
/// they must not go as they are: the receiver may have the rest of it, rounded. So they are put
/// together here, and leave as one.
///
/// Sequence numbers are modulo 2^32.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GN_CUTS_RUNS = 256, GN_CUTS_PARTS = 8, GN_VALUE_BYTES = 4 };

/// What was sent at once: it begins, ends, and is cut into pieces of one size.
typedef struct gn_cuts_run {
    uint32_t from, to;
    uint32_t piece;  ///< 0: it is not cut
} gn_cuts_run;

/// A value that came in parts.
typedef struct gn_cuts_part {
    uint32_t at;    ///< its first byte
    uint8_t have;   ///< a bit for each byte; 0: no value
    uint8_t tries;  ///< how often nothing left, for want of the rest
    uint8_t bytes[GN_VALUE_BYTES];
} gn_cuts_part;

typedef struct gn_cuts {
    uint32_t since;       ///< what lies before is not known
    uint32_t aged;        ///< what was sent when old ones were last dropped
    uint16_t runs, next;  ///< how many are known; where the next one goes
    uint8_t next_part;
    gn_cuts_run run[GN_CUTS_RUNS];
    gn_cuts_part part[GN_CUTS_PARTS];
} gn_cuts;

/// A segment that is sent again.
typedef struct gn_cuts_segment {
    const uint8_t *payload;
    uint32_t seq, bytes;
    uint8_t head;  ///< bytes ahead of the first value
    uint32_t top;  ///< behind the last byte that was sent, this segment included
} gn_cuts_segment;

/// What leaves of it: `lead` bytes ahead of it, then the payload from `start` to `end`, then
/// `trail` bytes.
typedef struct gn_cuts_whole {
    uint32_t start, end;
    uint8_t lead, trail;
    uint8_t ahead[GN_VALUE_BYTES], behind[GN_VALUE_BYTES];
} gn_cuts_whole;

/// Forgets all. `first` is the first byte whose cuts will be known.
void gn_cuts_begin(gn_cuts *cuts, uint32_t first);

/// Tells that all bytes ahead of `top` were sent, so that what is known of old ones is forgotten:
/// their numbers come again after 4 GiB.
void gn_cuts_age(gn_cuts *cuts, uint32_t top);

/// Notes bytes that are sent for the first time, and in which the host cuts within values.
void gn_cuts_note(gn_cuts *cuts, const gn_cuts_run *run);

/// Finds what leaves of a segment that is sent again, so that no value that may have been rounded
/// leaves in parts. Where nothing would leave, a part does so the fourth time.
void gn_cuts_make_whole(gn_cuts *cuts, const gn_cuts_segment *segment, gn_cuts_whole *whole);

#endif
