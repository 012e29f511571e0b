// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_PS_H
#define GRADNIC_SWITCH_PS_H
/// The inside of the parameter server: for ps.c, and for tests that copy and compare servers.

#include <gradnic/ps.h>

#include "copy.h"
#include "rtt.h"

/// One chunk that is under way, or its result (GN_COPY_DONE).
typedef struct gn_ps_entry {
    gn_copy copy;
    uint64_t tell;      ///< workers to be told the result
    uint64_t ask;       ///< workers to be asked
    bool ask_switch;    ///< the switch is to be asked
    bool is_due;        ///< queued for gn_ps_send()
    bool told;          ///< everyone has been told the result
    unsigned attempts;  ///< reminders
    int64_t deadline_ns;
} gn_ps_entry;

struct gn_ps {
    gn_ps_config config;
    gn_codec codec, exact;
    gn_ps_entry *entries;  ///< two for each slot, like the copies of a switch in mode partitioned
    int32_t *sums;         ///< packet_values for each entry
    uint32_t *due;         ///< a queue of entries, each at most once
    unsigned due_first, due_count;
    int64_t next_deadline;  ///< no entry's is earlier
    gn_rtt spread;          ///< from the first part of a chunk to the last
    gn_ps_stats stats;
};

#endif
