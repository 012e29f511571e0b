// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_COPY_H
#define GRADNIC_SWITCH_COPY_H
/// A chunk's sum while it grows: what a slot of a switch and an entry of the parameter server have in common.

#include <string.h>

#include <gradnic/switch.h>
#include <gradnic/words.h>

#include "format.h"

/// What a sum takes over from its contributions.
enum { GN_COPY_FLAGS = GN_AGG_ECN | GN_AGG_LATE };

typedef enum gn_copy_state {
    GN_COPY_EMPTY,  ///< since the job began, or (shared memory) between two chunks
    GN_COPY_OPEN,   ///< some children have contributed
    GN_COPY_UP,     ///< all have, and the parent has been given the sum
    GN_COPY_DONE    ///< holds a result: kept until a later chunk takes the copy
} gn_copy_state;

/// Its sums lie elsewhere, so that looking at copies stays cheap.
typedef struct gn_copy {
    uint64_t seen;  ///< who has contributed; the first is who finds nobody
    uint64_t since_ns;
    uint32_t psn;
    uint16_t values;
    uint8_t state;
    bool poison;    ///< no integers can be given for it
    uint8_t flags;  ///< those of GN_COPY_FLAGS that one of the contributions had
    int8_t exponent;
    int8_t next;
    uint8_t job;  ///< index: whose it is, where jobs share slots
    uint16_t
        priority;  ///< where slots are shared: only falls while the slot is held; partitioned: the highest of the contributions
} gn_copy;

/// What comes of adding a packet's values to a copy's sums.
typedef enum gn_added { GN_ADDED, GN_ADDED_POISON, GN_ADD_FORMAT, GN_ADD_STREAM } gn_added;

/// Adds (or, with `first`, writes) words of the host's. @return whether a sum has left int32
GN_INLINE bool gn_sums_put(int32_t *sums, const gn_codec *codec, const void *words, size_t count, bool first)
{
    if (!first) return gn_words_add(codec, words, sums, count);
    memcpy(sums, words, sizeof *sums * count);
    return false;
}

/// As gn_sums_add(), for formats that are compressed. By value, so that others need not have the packet in memory.
gn_added gn_sums_add_stream(int32_t *sums, gn_agg_packet packet, const gn_codec *codec, bool first);

/// Adds (or, with `first`, writes) `packet`'s values. GN_ADD_FORMAT, GN_ADD_STREAM: the sums are as they were. GN_ADDED_POISON: they
/// are not to be used.
GN_INLINE gn_added gn_sums_add(int32_t *sums, const gn_agg_packet *packet, gn_agg_format format, const gn_codec *codec,
                               bool first)
{
    if (packet->shimmed != (format != GN_AGG_INT32)) return GN_ADD_FORMAT;
    if (packet->shimmed) return gn_sums_add_stream(sums, *packet, codec, first);
    return gn_sums_put(sums, codec, packet->payload, packet->values, first) ? GN_ADDED_POISON : GN_ADDED;
}

/// Whether values and exponent of a contribution are those of the others.
GN_INLINE bool gn_copy_fits(const gn_copy *copy, const gn_agg_packet *packet, gn_agg_format format)
{
    if (packet->values != copy->values) {
        const bool says_nothing = packet->flags & GN_AGG_POISON, nothing_said = copy->poison && !copy->values;
        if (!says_nothing && !nothing_said) return false;
    }
    return format == GN_AGG_INT32 ? packet->exponent == copy->exponent : true;
}

/// A contribution of one or several who are not in copy->seen, or (`first`) a new chunk's first, whatever the copy was before. Nothing is
/// changed unless it is GN_ADDED or GN_ADDED_POISON.
GN_INLINE gn_added gn_copy_add(gn_copy *copy, int32_t *sums, const gn_agg_packet *packet, gn_agg_format format,
                               const gn_codec *codec, uint64_t now_ns, bool first)
{
    const bool poison = packet->flags & GN_AGG_POISON, plain = !packet->shimmed && format == GN_AGG_INT32;
    if (!first && !gn_copy_fits(copy, packet, format)) return GN_ADD_FORMAT;
    const bool counts = !poison && packet->values && (first || !copy->poison);
    gn_added added = poison ? GN_ADDED_POISON : GN_ADDED;
    // A stream first, for it may be broken; plain integers last, when nothing has to be kept for afterwards.
    if (counts && !plain) {
        added = gn_sums_add(sums, packet, format, codec, first);
        if (added == GN_ADD_FORMAT || added == GN_ADD_STREAM) return added;
    }
    if (first)
        *copy = (gn_copy){.seen = 0,  // every field: clearing the whole first would take longer than the fields do
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
    if (!copy->values) copy->values = packet->values;  // the first had only said that it is poisoned
    if (packet->next > copy->next) copy->next = packet->next;
    if (counts && plain) added = gn_sums_add(sums, packet, format, codec, first);
    if (added == GN_ADDED_POISON) copy->poison = true;
    return added;
}

/// Two copies for each slot: whether this one may be given to chunk `psn`. It is the job's first there, or the next after one (in the `other` copy)
/// that everyone has the result of.
GN_INLINE bool gn_copy_may_open(const gn_copy *copy, const gn_copy *other, uint32_t slots, uint32_t psn)
{
    const bool empty = copy->state == GN_COPY_EMPTY;
    if (empty && psn < slots) return true;
    const bool has_before = other->state == GN_COPY_DONE && other->psn + slots == psn;
    return has_before && (empty ? psn < 2 * slots : copy->state == GN_COPY_DONE);
}

#endif
