// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_MIRROR_H
#define GRADNIC_SWITCH_MIRROR_H
/// The state of a switch whose sums are elsewhere, in hardware: jobs, copies and counters are here,
/// as what the hardware has done with each packet is entered. So who asks this switch about them
/// learns what is true there. Mode partitioned only.

#include <gradnic/switch.h>

/// What has become of a packet.
typedef struct gn_mirrored {
    gn_drop reason;      ///< GN_DROP_NONE: it was added, or a result was sent again
    bool added;          ///< it was added, and `seen` and all below are the copy's
    unsigned job_index;  ///< anything when no job is to blame: MALFORMED, JOB
    uint32_t slot;       ///< in the memory, from 0
    bool version;
    bool whole, poison;  ///< the result is out; there is none in integers
    uint64_t seen;
    uint32_t psn;
    uint16_t values, priority;
    uint8_t flags;
    int8_t exponent, next;
} gn_mirrored;

/// Enters it. `packet` is what came in; with MALFORMED it may be anything.
void gn_mirror_enter(gn_switch *sw, uint64_t now_ns, size_t bytes, const gn_agg_packet *packet,
                     const gn_mirrored *what);

/// What the switch itself has in that copy, to compare. `since_ns` and all that has no meaning to
/// others is left out. `added` is as in `what`.
gn_mirrored gn_mirror_expected(const gn_switch *sw, const gn_mirrored *what);

/// Index of a job; -1: there is none of that number.
int gn_mirror_job_index(const gn_switch *sw, uint16_t job);

/// The job's first slot in the memory.
uint32_t gn_mirror_first_slot(const gn_switch *sw, unsigned job_index);

/// The most values of a packet.
uint16_t gn_mirror_slot_values(const gn_switch *sw);

#endif
