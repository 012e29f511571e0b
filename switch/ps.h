// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_PS_H
#define GRADNIC_SWITCH_PS_H
/// The parameter server's inside: for its own file, and for tests that copy and compare servers.

#include <gradnic/ps.h>

#include "copy.h"
#include "rtt.h"

/// One chunk: under way, or (GN_COPY_DONE) its result.
typedef struct gn_ps_entry {
    gn_copy copy;
    uint64_t tell;      ///< who is to be told the result
    uint64_t ask;       ///< workers to be asked
    bool ask_switch;    ///< the switch is to be asked
    bool is_due;        ///< queued for gn_ps_send()
    bool told;          ///< the result has been, to everyone
    unsigned attempts;  ///< reminders
    int64_t deadline_ns;
} gn_ps_entry;

struct gn_ps {
    gn_ps_config config;
    gn_switch_job job;  ///< what gn_copy_add() wants to know
    gn_codec codec, exact;
    gn_ps_entry *entries;  ///< two for each slot, as copies of a partitioned switch
    int32_t *sums;         ///< packet_values for each
    uint32_t *due;         ///< a queue of entries, each at most once
    unsigned due_first, due_count;
    int64_t next_deadline;  ///< no entry's is earlier
    gn_rtt spread;          ///< from the first part of a chunk to the last
    gn_ps_stats stats;
};

#endif
