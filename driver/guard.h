// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_GUARD_H
#define GRADNIC_DRIVER_GUARD_H
/// The guard: a policy above the transform. It looks at the first packets of each flow that a rule
/// would compress. A flow that does not look like gradients is left alone: its packets go round the
/// engine, untouched. docs/guard.md says what it takes for gradients.
///
/// | verdict on a flow | what its packets do |
/// | --- | --- |
/// | gradients | go through the engine |
/// | other | are left alone |
/// | none yet | are left alone; those that every profile carries exactly go through the engine |
///
/// Of a TCP flow whose host cuts it within values, what is sent again is left alone, too: the
/// receiver may have parts of its values already, and those are exact. Values that may have been
/// rounded leave whole (driver/cuts.h).
///
/// Datagrams under a rule with a head are not looked at. Such a rule describes one program's
/// packets.
///
/// A verdict stays. A flow is judged anew after a SYN, and for UDP after a pause. What is kept of a
/// flow that gave way to others is in driver/evicted.h.
///
/// Threads: as the transmit side of a gn_datapath.

#include "driver/datapath.h"
#include "net/log_limit.h"

enum {
    GN_GUARD_FLOWS = 4096,     ///< flows that are remembered whole
    GN_GUARD_UDP_PAUSE_S = 60  ///< a UDP flow that was silent for so long may be another program's
};

typedef struct gn_guard_counters {
    uint64_t gradient_flows, other_flows;  ///< verdicts
    uint64_t left, left_bytes;             ///< segments of flows judged other, and those sent again
    uint64_t undecided, undecided_bytes;   ///< segments left alone before there was a verdict
    uint64_t shielded;                     ///< packets left alone that went stored (untouched.h)
    uint64_t evicted;                      ///< flows that gave way to others
} gn_guard_counters;

typedef struct gn_guard gn_guard;

/// `name` stands at the start of its log lines; not copied. @return NULL when out of memory
gn_guard *gn_guard_new(const char *name);
void gn_guard_free(gn_guard *guard);  ///< NULL allowed

/// Whether a segment is to be left alone. To be called for every segment that the host sends,
/// before the datapath gets it. `now` is gn_now(). The datapath tells where values begin.
bool gn_guard_leaves(gn_guard *guard, gn_datapath *datapath, const gn_rule *rules, size_t rule_count,
                     const gn_segment *segment, uint64_t now);

/// Makes the packets of a segment that is left alone: as gn_tx_segment_headers(), or whole packets
/// in `burst`; then cut->header_bytes is 0.
gn_status gn_guard_cut(gn_guard *guard, const gn_segment *segment, size_t wire_mtu, gn_burst *burst,
                       gn_headers_cut *cut);

/// Forgets all flows, not the counters.
void gn_guard_forget(gn_guard *guard);

/// Tells how many log lines were held back, when that is due. @return nanoseconds until it may be
/// due again; UINT64_MAX: it is not
uint64_t gn_guard_tell_rest(gn_guard *guard, uint64_t now);

const gn_guard_counters *gn_guard_count(const gn_guard *guard);

#endif
