// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_COPY_H
#define GRADNIC_SWITCH_COPY_H
/// A chunk's sum while it grows: what a slot of a switch and an entry of the parameter server have
/// in common.

#include <gradnic/switch.h>

#include "sums.h"

/// The flags that a sum takes over from its contributions.
enum { GN_COPY_FLAGS = GN_AGG_ECN | GN_AGG_LATE | GN_AGG_HALVES };

typedef enum gn_copy_state {
    GN_COPY_EMPTY,  ///< since the job began, or (shared memory) between two chunks
    GN_COPY_OPEN,   ///< some children have contributed
    GN_COPY_UP,     ///< all have, and the sum has gone to the parent
    GN_COPY_DONE    ///< it holds a result, until a later chunk takes the copy
} gn_copy_state;

/// The sums themselves lie elsewhere, so that a look at many copies stays cheap.
typedef struct gn_copy {
    uint64_t seen;  ///< who has contributed
    uint64_t since_ns;
    uint32_t psn;
    uint16_t values;
    uint8_t state;
    bool poison;    ///< it has no sum of integers
    uint8_t flags;  ///< those of GN_COPY_FLAGS that a contribution had
    int8_t exponent;
    int8_t next;
    uint8_t job;  ///< where jobs share slots: the index of the job that holds it
    /// Where slots are shared: it only falls while the slot is held. Mode partitioned: the highest
    /// of the contributions.
    uint16_t priority;
} gn_copy;

/// Whether a contribution has the others' number of values and exponent.
GN_INLINE bool gn_copy_fits(const gn_copy *copy, const gn_agg_packet *packet, gn_agg_format format)
{
    if (packet->values != copy->values) {
        const bool says_nothing = packet->flags & GN_AGG_POISON, nothing_said = copy->poison && !copy->values;
        if (!says_nothing && !nothing_said) return false;
    }
    return gn_agg_in_blocks(format) ? packet->exponent == copy->exponent : true;
}

/// Adds a contribution of one or several who are not in copy->seen. `first`: it is the first of a
/// new chunk, whatever the copy was before. Nothing changes unless the answer is GN_ADDED or
/// GN_ADDED_POISON.
GN_INLINE gn_added gn_copy_add(gn_copy *copy, int32_t *sums, const gn_agg_packet *packet, gn_agg_format format,
                               const gn_codec *codec, uint64_t now_ns, bool first)
{
    const bool poison = packet->flags & GN_AGG_POISON, plain = !packet->shimmed && gn_agg_in_blocks(format);
    if (!first && !gn_copy_fits(copy, packet, format)) return GN_ADD_FORMAT;
    if (packet->flags & GN_AGG_HALVES && format != GN_AGG_HALF) return GN_ADD_FORMAT;
    const bool says = !poison && packet->values, counts = says && (first || !copy->poison);
    gn_added added = poison ? GN_ADDED_POISON : GN_ADDED;
    // A stream comes first, for it may be corrupt: also where the sum is lost already, so that what
    // is wrong does not depend on others. Plain integers come last: then no register is kept busy
    // over the addition.
    if (says && !plain) {
        added = gn_sums_add(sums, packet, format, codec, first);
        if (added == GN_ADD_FORMAT || added == GN_ADD_STREAM) return added;
    }
    if (first)
        *copy = (gn_copy){.seen = 0,  // every field: clearing all first takes longer
                          .since_ns = now_ns,
                          .psn = packet->psn,
                          .values = packet->values,
                          .state = GN_COPY_OPEN,
                          .poison = false,
                          .flags = 0,
                          .exponent = packet->exponent,
                          .next = packet->next,
                          .job = 0,
                          .priority = 0};
    copy->seen |= packet->bitmap;
    copy->flags |= packet->flags & GN_COPY_FLAGS;
    if (!copy->values) copy->values = packet->values;  // the first only said that it is poisoned
    if (packet->next > copy->next) copy->next = packet->next;
    if (counts && plain) added = gn_sums_add(sums, packet, format, codec, first);
    if (added == GN_ADDED_POISON) copy->poison = true;
    return added;
}

/// Where a slot has two copies: whether this one may be given to chunk `psn`. Either it is the
/// job's first chunk there, or it follows one in the `other` copy whose result everyone has.
GN_INLINE bool gn_copy_may_open(const gn_copy *copy, const gn_copy *other, uint32_t slots, uint32_t psn)
{
    const bool empty = copy->state == GN_COPY_EMPTY;
    if (empty && psn < slots) return true;
    const bool has_before = other->state == GN_COPY_DONE && other->psn + slots == psn;
    return has_before && (empty ? psn < 2 * slots : copy->state == GN_COPY_DONE);
}

#endif
