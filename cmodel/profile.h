// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_PROFILE_H
#define GRADNIC_PROFILE_H
/// Internal: a profile is a row of one table (profile.c). A new profile is a new row, and an entry
/// in each kernel that can execute it.

#include <gradnic/codec.h>

#include "lane.h"

typedef struct gn_profile_row {
    const char *name;
    int lowest, highest;                                    ///< range of bound_exp
    gn_code (*encode)(int bound_exp, uint32_t value_bits);  ///< lane.c
    uint32_t (*decode)(int bound_exp, gn_code code);
    size_t (*bound)(size_t count);  ///< gn_stream_bound()
    /// Walks a stream and checks everything that a decoder must check. For a good stream `*tally`
    /// is overwritten; for a bad one `*error_offset` says where it is bad.
    gn_status (*walk)(const uint8_t *stream, size_t bytes, size_t count, gn_tally *tally, size_t *error_offset);
} gn_profile_row;

/// The row of a profile; NULL for one that this version does not have.
const gn_profile_row *gn_profile_row_of(gn_profile profile);

#endif
