// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_SUMS_H
#define GRADNIC_SWITCH_SUMS_H
/// Adding a packet's values to sums of int32.

#include <string.h>

#include <gradnic/words.h>

#include "format.h"

/// What came of adding a packet's values.
typedef enum gn_added {
    GN_ADDED,
    GN_ADDED_POISON,  ///< a sum has left int32: the sums are not to be used
    GN_ADD_FORMAT,    ///< not the job's format: the sums are as they were
    GN_ADD_STREAM     ///< a corrupt stream: the sums are as they were
} gn_added;

/// Adds `count` integers in the host's order. `first`: writes them. @return whether a sum has left
/// int32
GN_INLINE bool gn_sums_put(int32_t *sums, const gn_codec *codec, const void *words, size_t count, bool first)
{
    if (!first) return gn_words_add(codec, words, sums, count);
    memcpy(sums, words, sizeof *sums * count);
    return false;
}

/// As gn_sums_put(), for halves. @return also when a half has no integer
GN_INLINE bool gn_sums_put_halves(int32_t *sums, const gn_codec *codec, const void *halves, size_t count, bool first)
{
    if (first) memset(sums, 0, sizeof *sums * count);
    return gn_words_add_halves(codec, halves, sums, count);
}

/// As gn_sums_add(), for formats that are compressed. The packet comes by value, so that other
/// formats need not have it in memory.
gn_added gn_sums_add_stream(int32_t *sums, gn_agg_packet packet, const gn_codec *codec, bool first);

/// Adds the packet's values. `first`: writes them.
GN_INLINE gn_added gn_sums_add(int32_t *sums, const gn_agg_packet *packet, gn_agg_format format, const gn_codec *codec,
                               bool first)
{
    if (packet->shimmed != !gn_agg_in_blocks(format)) return GN_ADD_FORMAT;
    if (packet->halves && format != GN_AGG_HALF) return GN_ADD_FORMAT;
    if (packet->shimmed) return gn_sums_add_stream(sums, *packet, codec, first);
    if (packet->halves)
        return gn_sums_put_halves(sums, codec, packet->payload, packet->values, first) ? GN_ADDED_POISON : GN_ADDED;
    return gn_sums_put(sums, codec, packet->payload, packet->values, first) ? GN_ADDED_POISON : GN_ADDED;
}

#endif
