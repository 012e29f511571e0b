// SPDX-License-Identifier: Apache-2.0
// Values of compressed formats: the integers of a stream, or binary32 that a NIC left uncompressed.
// No floating point: the codec quantises with integer arithmetic of its own.
#include "sums.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "values travel little-endian, and are read as they come");

/// Decodes beside the sums first: only at its end is a stream known to be whole, and a corrupt one
/// must not leave a trace in them.
static gn_added add_stream(int32_t *sums, const gn_codec *codec, const void *stream, size_t bytes, size_t count,
                           bool first)
{
    int32_t integers[GN_AGG_VALUES_MAX];
    unsigned flags;
    if (gn_stream_get_integers(codec, stream, bytes, integers, count, &flags, NULL)) return GN_ADD_STREAM;
    const bool overflow = gn_sums_put(sums, codec, integers, count, first);
    return flags || overflow ? GN_ADDED_POISON : GN_ADDED;
}

/// Values in binary32, from a NIC that found compression not worth it.
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

gn_added gn_sums_add_stream(int32_t *sums, gn_agg_packet p, const gn_codec *codec, bool first)
{
    if (!p.compressed) return add_floats(sums, codec, p.payload, p.values, first);
    if (p.profile != codec->profile) return GN_ADD_FORMAT;
    return add_stream(sums, codec, p.payload, p.payload_bytes, p.values, first);
}
