// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_FORMAT_H
#define GRADNIC_SWITCH_FORMAT_H
/// What switches, workers and parameter servers have in common: numbers of slots, bitmaps, codecs.

#include <gradnic/aggregate.h>

/// The way of every packet is inline: with 64 values in a packet, calls take longer than the
/// addition. Always inline, for two reasons. What is known about the usual packet (usual.h) saves
/// half of the way, and a packet stays in registers.
#define GN_INLINE static inline __attribute__((always_inline))

/// Whether a job can have so many slots: a power of two.
static inline bool gn_slots_possible(uint32_t slots)
{
    return slots && slots <= GN_AGG_SLOTS_MAX && !(slots & (slots - 1));
}

/// A bit for each of 1 to 64 children.
static inline uint64_t gn_everyone(unsigned children)
{
    return ~0ull >> (GN_AGG_WORKERS_MAX - children);
}

/// Whether slot and version are those of the psn.
GN_INLINE bool gn_psn_fits(const gn_agg_packet *packet, uint32_t slots)
{
    return packet->slot == (packet->psn & (slots - 1)) && packet->version == ((packet->psn & slots) != 0);
}

/// The codec of a format. Block floating point has one for its kernel alone.
static inline gn_status gn_format_codec(gn_agg_format format, int bound_exp, gn_codec *codec)
{
    const gn_profile profile = format == GN_AGG_LATTICE ? GN_LATTICE : GN_DENSE;
    return gn_codec_init(codec, profile, gn_agg_in_blocks(format) ? 0 : bound_exp);
}

/// The codec of partial sums on their way to the parameter server: dense for every format, because
/// its streams can hold every int32.
static inline gn_status gn_exact_codec(gn_agg_format format, int bound_exp, gn_codec *codec)
{
    return gn_codec_init(codec, GN_DENSE, gn_agg_in_blocks(format) ? 0 : bound_exp);
}

#endif
