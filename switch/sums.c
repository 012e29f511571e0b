// SPDX-License-Identifier: Apache-2.0
// A packet's values into a slot's sums: integers, or a compressed stream's integers. No floating point: a packet that was left
// uncompressed is quantised by the codec's own integer arithmetic.
#include <string.h>

#include "state.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "values travel little-endian, and are read as they come");

/// Sums of int32, wrapped. @return whether one of them has left int32. Plain enough for a compiler to make vectors of it.
static bool add_words(int32_t *restrict sums, const uint8_t *restrict payload, size_t count)
{
    uint32_t left = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t a = (uint32_t)sums[i], b;
        memcpy(&b, payload + sizeof b * i, sizeof b);
        const uint32_t sum = a + b;
        left |= (sum ^ a) & (sum ^ b);
        sums[i] = (int32_t)sum;
    }
    return left >> 31;
}

static gn_added add_stream(int32_t *sums, const gn_codec *codec, const void *stream, size_t bytes, size_t count,
                           bool first)
{
    unsigned flags = 0;
    if (first) {  // what is there may not be lost to a broken stream
        gn_tally tally = {0};
        if (gn_stream_tally(codec, stream, bytes, count, &tally)) return GN_ADD_STREAM;
        memset(sums, 0, sizeof *sums * count);
    }
    if (gn_stream_add_integers(codec, stream, bytes, sums, count, &flags, NULL)) return GN_ADD_STREAM;
    return flags ? GN_ADDED_POISON : GN_ADDED;
}

/// A NIC that found compression not worth it has left binary32.
static gn_added add_floats(int32_t *sums, const gn_codec *codec, const uint8_t *values, size_t count, bool first)
{
    enum { PIECE = 256 };
    uint8_t stream[PIECE * 4 + PIECE];  // gn_stream_bound() of either format is less
    gn_added all = GN_ADDED;
    for (size_t at = 0; at < count; at += PIECE) {
        const size_t piece = count - at < PIECE ? count - at : PIECE;
        size_t bytes;
        if (gn_stream_encode(codec, values + sizeof(float) * at, piece, stream, sizeof stream, &bytes))
            return GN_ADD_STREAM;
        const gn_added added = add_stream(sums + at, codec, stream, bytes, piece, first);
        if (added != GN_ADDED) all = added;
    }
    return all;
}

gn_added gn_sums_add(int32_t *sums, const gn_agg_packet *p, const gn_switch_job *job, const gn_codec *codec, bool first)
{
    const size_t count = p->values;
    if (job->format == GN_AGG_INT32) {
        if (p->shimmed) return GN_ADD_FORMAT;
        if (!first) return add_words(sums, p->payload, count) ? GN_ADDED_POISON : GN_ADDED;
        memcpy(sums, p->payload, sizeof *sums * count);
        return GN_ADDED;
    }
    if (!p->shimmed) return GN_ADD_FORMAT;
    if (!p->compressed) return add_floats(sums, codec, p->payload, count, first);
    if (p->profile != codec->profile) return GN_ADD_FORMAT;
    return add_stream(sums, codec, p->payload, p->payload_bytes, count, first);
}
