// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_PROFILE_H
#define GRADNIC_PROFILE_H
/// Internal: what a profile is, as a row of one table (profile.c). A new profile is a new row, and an entry
/// in each kernel that can execute it.

#include <gradnic/codec.h>

typedef struct gn_profile_row {
    const char *name;
    int lowest, highest;                                    ///< range of bound_exp
    gn_code (*encode)(int bound_exp, uint32_t value_bits);  ///< lane.c
    uint32_t (*decode)(int bound_exp, gn_code code);
    size_t (*bound)(size_t count);  ///< gn_stream_bound()
    /// Walks a stream and checks everything that a decoder must check. `*tally` (overwritten) is meaningful
    /// when the stream is good, `*error_offset` when it is not.
    gn_status (*walk)(const uint8_t *stream, size_t bytes, size_t count, gn_tally *tally, size_t *error_offset);
} gn_profile_row;

/// The row of a profile; NULL for one that this version does not have.
const gn_profile_row *gn_profile_row_of(gn_profile profile);

gn_code gn_paper_encode(int bound_exp, uint32_t value_bits);
uint32_t gn_paper_decode(int bound_exp, gn_code code);
gn_code gn_lattice_encode(int bound_exp, uint32_t value_bits);
uint32_t gn_lattice_decode(int bound_exp, gn_code code);
/// q of a lattice code with tag 0, 1 or 2; and the value of any q, rounded to nearest even where |q| > 2^24.
int32_t gn_lattice_integer(gn_code code);
uint32_t gn_lattice_value(int bound_exp, int32_t q);

size_t gn_record_bound(size_t count);
gn_status gn_record_walk(const uint8_t *stream, size_t bytes, size_t count, gn_tally *tally, size_t *error_offset);

#endif
