// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_FORMAT_H
#define GRADNIC_SWITCH_FORMAT_H
/// What switches, workers and parameter servers have to say in the same way: numbers of slots, bitmaps, codecs.

#include <gradnic/aggregate.h>

/// What every packet goes through is inline: with 64 values in a packet, calls would take longer than the addition. Always, because what is known where
/// the usual packet goes through it (usual.c) saves half of it, and because only so is a packet in registers and not in memory.
#define GN_INLINE static inline __attribute__((always_inline))

static inline bool gn_slots_possible(uint32_t slots)
{
    return slots && slots <= GN_AGG_SLOTS_MAX && !(slots & (slots - 1));
}

/// One bit for each of `children`, 1 to 64.
static inline uint64_t gn_everyone(unsigned children)
{
    return ~0ull >> (GN_AGG_WORKERS_MAX - children);
}

/// Whether slot and version are those of the psn.
GN_INLINE bool gn_psn_fits(const gn_agg_packet *packet, uint32_t slots)
{
    return packet->slot == (packet->psn & (slots - 1)) && packet->version == ((packet->psn & slots) != 0);
}

/// A format's codec; of GN_AGG_INT32: for its kernel alone.
static inline gn_status gn_format_codec(gn_agg_format format, int bound_exp, gn_codec *codec)
{
    const gn_profile profile = format == GN_AGG_LATTICE ? GN_LATTICE : GN_DENSE;
    return gn_codec_init(codec, profile, format == GN_AGG_INT32 ? 0 : bound_exp);
}

/// The codec in which partial sums travel to the parameter server: dense whatever the format, because its streams have every int32.
static inline gn_status gn_exact_codec(gn_agg_format format, int bound_exp, gn_codec *codec)
{
    return gn_codec_init(codec, GN_DENSE, format == GN_AGG_INT32 ? 0 : bound_exp);
}

#endif
