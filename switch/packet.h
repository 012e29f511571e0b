// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_PACKET_H
#define GRADNIC_SWITCH_PACKET_H
/// The only reader of aggregation packets. It is inline, because a switch reads every packet.
/// packet.c writes them.

#include <string.h>

#include <gradnic/aggregate.h>
#include <gradnic/shim.h>

#include "cmodel/bytes.h"
#include "format.h"

enum {
    AT_TYPE,
    AT_FLAGS,
    AT_JOB,
    AT_GEN = 4,
    AT_SLOT = 6,
    AT_PSN = 8,
    AT_BITMAP = 12,
    AT_FANIN = 20,
    AT_PRIORITY = 22,
    AT_EXPONENT = 24,
    AT_NEXT,
    AT_VALUES,
    AT_CRC = 28
};
enum { VERSION_BIT = 0x8000, LEVEL_SHIFT = 12, FANIN_MASK = 0xfff };

/// CRC-32 of the bytes before AT_CRC.
uint32_t gn_agg_check(const uint8_t *header);

/// A byte in two's complement.
static inline int8_t gn_agg_signed(uint8_t byte)
{
    return (int8_t)(byte < 128 ? byte : byte - 256);
}

/// Whether each field by itself has a value that a sender may set, whatever the job.
static inline bool gn_agg_fields_possible(const gn_agg_packet *p)
{
    return !(p->flags & ~GN_AGG_FLAGS) && p->fanin && p->fanin <= GN_AGG_WORKERS_MAX;
}

/// The same of the fields together, when each is fine by itself.
GN_INLINE bool gn_agg_possible(const gn_agg_packet *p)
{
    if (p->bitmap & ~gn_everyone(p->fanin)) return false;
    if ((p->flags & GN_AGG_POISON) && p->values) return false;
    if ((p->flags & GN_AGG_HALVES) && (p->flags & GN_AGG_FLOAT)) return false;
    return p->type != GN_AGG_GRADIENT || p->bitmap;
}

/// Whether the header's CRC is right.
static inline bool gn_agg_is_whole(const uint8_t *in)
{
    return gn_get32(in + AT_CRC) == gn_agg_check(in);
}

/// Reads the fields of a header without a check.
GN_INLINE void gn_agg_read_fields(const uint8_t *in, gn_agg_packet *p)
{
    p->type = in[AT_TYPE] & 15;
    p->flags = in[AT_FLAGS];
    p->job = gn_get16(in + AT_JOB);
    p->gen = gn_get16(in + AT_GEN);
    p->slot = gn_get16(in + AT_SLOT) & (VERSION_BIT - 1);
    p->version = gn_get16(in + AT_SLOT) & VERSION_BIT;
    p->psn = gn_get32(in + AT_PSN);
    p->bitmap = (uint64_t)gn_get32(in + AT_BITMAP) << 32 | gn_get32(in + AT_BITMAP + 4);
    p->level = (uint8_t)(in[AT_FANIN] >> 4);
    p->fanin = gn_get16(in + AT_FANIN) & FANIN_MASK;
    p->priority = gn_get16(in + AT_PRIORITY);
    p->exponent = gn_agg_signed(in[AT_EXPONENT]);
    p->next = gn_agg_signed(in[AT_NEXT]);
    p->values = gn_get16(in + AT_VALUES);
}

/// Reads and checks a header.
static inline gn_agg_fault gn_agg_read_header(const uint8_t *in, gn_agg_packet *p)
{
    if (in[AT_TYPE] >> 4 != GN_AGG_VERSION || (in[AT_TYPE] & 15) >= GN_AGG_TYPES) return GN_AGG_FOREIGN;
    if (!gn_agg_is_whole(in)) return GN_AGG_BROKEN;
    gn_agg_read_fields(in, p);
    return gn_agg_fields_possible(p) && gn_agg_possible(p) ? GN_AGG_FINE : GN_AGG_FIELD;
}

/// Whether two headers differ in nothing but slot, psn, bitmap, priority, exponents, number of
/// values and CRC.
GN_INLINE bool gn_agg_alike(const uint8_t *a, const uint8_t *b)
{
    return !memcmp(a, b, AT_SLOT) && !memcmp(a + AT_FANIN, b + AT_FANIN, AT_PRIORITY - AT_FANIN);
}

/// Reads what follows the header. `shim`: NULL when there is none ahead.
GN_INLINE gn_agg_fault gn_agg_read_payload(const uint8_t *in, size_t bytes, const gn_shim *shim, gn_agg_packet *p)
{
    p->payload = in + GN_AGG_HEADER;
    p->payload_bytes = bytes - GN_AGG_HEADER;
    const size_t whole = GN_AGG_HEADER + sizeof(uint32_t) * p->values;
    p->halves = false;
    if (shim && shim->length != whole) return GN_AGG_LENGTH;
    if (shim && p->flags & GN_AGG_HALVES) return GN_AGG_FIELD;
    if (shim && shim->kind != GN_KIND_STORED) {
        if (shim->head != GN_AGG_HEADER || shim->bound_exp != p->next || !p->values || p->flags & GN_AGG_FLOAT)
            return GN_AGG_FIELD;
        p->compressed = true;
        p->profile = (gn_profile)(shim->kind - 1);
        return GN_AGG_FINE;
    }
    // Ethernet may have padded a short packet, but UDP's length says where it ends.
    if (bytes == whole) return GN_AGG_FINE;
    // Sums on their way up have halves to come, and the length of words.
    if (!(p->flags & GN_AGG_HALVES) || bytes != GN_AGG_HEADER + sizeof(uint16_t) * p->values) return GN_AGG_LENGTH;
    p->halves = true;
    return GN_AGG_FINE;
}

/// As gn_agg_read(), for a packet with a shim ahead.
gn_agg_fault gn_agg_read_shimmed(const uint8_t *in, size_t bytes, gn_agg_packet *p);

/// As gn_agg_parse(), inline.
static inline gn_agg_fault gn_agg_read(const uint8_t *in, size_t bytes, gn_agg_packet *p)
{
    *p = (gn_agg_packet){0};
    if (bytes < GN_AGG_HEADER) return GN_AGG_SHORT;
    if (gn_get16(in) == GN_SHIM_MAGIC) return gn_agg_read_shimmed(in, bytes, p);
    const gn_agg_fault fault = gn_agg_read_header(in, p);
    return fault ? fault : gn_agg_read_payload(in, bytes, NULL, p);
}

#endif
