// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_GROUPS_GROUPING_H
#define GRADNIC_RING_GROUPS_GROUPING_H
/// Which ranks are a group: what the configuration says, and what follows for each rank.

#include <gradnic/comm.h>

#include "net/error.h"
#include "ring/message.h"

typedef struct gn_grouping {
    uint16_t by;      ///< as gn_comm_config_groups() returns it; the same on all ranks
    uint16_t number;  ///< GN_GROUPS_BY_NUMBER: the group of this rank
} gn_grouping;

/// Reads "host", "4" (ranks of a group) or "number:7" (this rank's group). NULL and "" are "host".
/// @return GN_OK, or GN_INVALID with the reason
gn_status gn_grouping_read(const char *text, gn_grouping *grouping, gn_error *error);

/// Writes "by host", "4 ranks in a row" or "by number".
void gn_grouping_say(uint16_t by, char *text, size_t room);

/// Rank 0: fills in table->group from the addresses in the table, and the numbers of all ranks.
void gn_grouping_divide(uint16_t by, const uint16_t numbers[GN_RANKS_MAX], gn_rank_table *table);

#endif
