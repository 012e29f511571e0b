// SPDX-License-Identifier: Apache-2.0
// The one place where packets of aggregation are read and written.
#include <gradnic/aggregate.h>
#include <gradnic/shim.h>

#include <libdeflate.h>
#include <string.h>

#include "cmodel/bytes.h"

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

static int8_t as_signed(uint8_t byte)
{
    return (int8_t)(byte < 128 ? byte : byte - 256);
}

/// libdeflate's, because zlib's takes six times as long for so few bytes: more than all the rest of a small packet.
static uint32_t check(const uint8_t *header)
{
    return libdeflate_crc32(0, header, AT_CRC);
}

/// Fields that no sender may set so, whatever the job.
static bool possible(const gn_agg_packet *p)
{
    if (p->flags & ~GN_AGG_FLAGS || !p->fanin || p->fanin > GN_AGG_WORKERS_MAX) return false;
    if (p->fanin < 64 && p->bitmap >> p->fanin) return false;
    if ((p->flags & GN_AGG_POISON) && p->values) return false;
    return p->type != GN_AGG_GRADIENT || p->bitmap;
}

static gn_agg_fault read_header(const uint8_t *in, gn_agg_packet *p)
{
    if (in[AT_TYPE] >> 4 != GN_AGG_VERSION || (in[AT_TYPE] & 15) >= GN_AGG_TYPES) return GN_AGG_FOREIGN;
    if (gn_get32(in + AT_CRC) != check(in)) return GN_AGG_BROKEN;
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
    p->exponent = as_signed(in[AT_EXPONENT]);
    p->next = as_signed(in[AT_NEXT]);
    p->values = gn_get16(in + AT_VALUES);
    return possible(p) ? GN_AGG_FINE : GN_AGG_FIELD;
}

gn_agg_fault gn_agg_parse(const void *datagram, size_t bytes, gn_agg_packet *p)
{
    *p = (gn_agg_packet){0};
    const uint8_t *in = datagram;
    gn_shim shim = {0};
    if (bytes < GN_AGG_HEADER) return GN_AGG_SHORT;
    if (gn_get16(in) == GN_SHIM_MAGIC) {
        if (!gn_shim_read(in, &shim) || shim.version != GN_SHIM_VERSION || shim.kind > GN_PROFILE_COUNT)
            return GN_AGG_FOREIGN;
        if (bytes < GN_SHIM_BYTES + GN_AGG_HEADER) return GN_AGG_SHORT;
        in += GN_SHIM_BYTES;
        bytes -= GN_SHIM_BYTES;
        p->shimmed = true;
    }
    gn_agg_fault fault = read_header(in, p);
    if (fault) return fault;
    p->payload = in + GN_AGG_HEADER;
    p->payload_bytes = bytes - GN_AGG_HEADER;
    const size_t whole = GN_AGG_HEADER + sizeof(uint32_t) * p->values;
    if (p->shimmed && shim.length != whole) return GN_AGG_LENGTH;
    if (p->shimmed && shim.kind != GN_KIND_STORED) {
        if (shim.head != GN_AGG_HEADER || shim.bound_exp != p->next || !p->values || p->flags & GN_AGG_FLOAT)
            return GN_AGG_FIELD;
        p->compressed = true;
        p->profile = (gn_profile)(shim.kind - 1);
        return GN_AGG_FINE;
    }
    // Behind a packet that is padded to the shortest that Ethernet carries, nothing: UDP's length says where it ends.
    return bytes == whole ? GN_AGG_FINE : GN_AGG_LENGTH;
}

const char *gn_agg_fault_string(gn_agg_fault fault)
{
    switch (fault) {
    case GN_AGG_FINE:
        return "nothing is wrong";
    case GN_AGG_SHORT:
        return "shorter than a header";
    case GN_AGG_FOREIGN:
        return "not a packet of this protocol and version";
    case GN_AGG_BROKEN:
        return "the header's CRC is wrong";
    case GN_AGG_FIELD:
        return "a field of the header has an impossible value";
    case GN_AGG_LENGTH:
        return "not as long as the header says";
    }
    return "unknown fault";
}

void gn_agg_write_header(const gn_agg_packet *p, uint8_t *out)
{
    out[AT_TYPE] = (uint8_t)(GN_AGG_VERSION << 4 | p->type);
    out[AT_FLAGS] = p->flags;
    gn_put16(out + AT_JOB, p->job);
    gn_put16(out + AT_GEN, p->gen);
    gn_put16(out + AT_SLOT, (uint16_t)(p->slot | (p->version ? VERSION_BIT : 0)));
    gn_put32(out + AT_PSN, p->psn);
    gn_put32(out + AT_BITMAP, (uint32_t)(p->bitmap >> 32));
    gn_put32(out + AT_BITMAP + 4, (uint32_t)p->bitmap);
    gn_put16(out + AT_FANIN, (uint16_t)(p->level << LEVEL_SHIFT | p->fanin));
    gn_put16(out + AT_PRIORITY, p->priority);
    out[AT_EXPONENT] = (uint8_t)p->exponent;
    out[AT_NEXT] = (uint8_t)p->next;
    gn_put16(out + AT_VALUES, p->values);
    gn_put32(out + AT_CRC, check(out));
}

size_t gn_agg_write_words(const gn_agg_packet *p, const void *words, void *out, size_t capacity)
{
    const size_t payload = sizeof(uint32_t) * p->values;
    if (capacity < GN_AGG_HEADER + payload) return 0;
    gn_agg_write_header(p, out);
    if (payload) memcpy((uint8_t *)out + GN_AGG_HEADER, words, payload);
    return GN_AGG_HEADER + payload;
}

size_t gn_agg_write_stream(const gn_agg_packet *p, const gn_codec *codec, const int32_t *sums, const float *floats,
                           void *datagram, size_t capacity)
{
    enum { AHEAD = GN_SHIM_BYTES + GN_AGG_HEADER };
    uint8_t *out = datagram;
    if (capacity < AHEAD) return 0;
    size_t bytes;
    const gn_status status =
        floats ? gn_stream_encode(codec, floats, p->values, out + AHEAD, capacity - AHEAD, &bytes)
               : gn_stream_encode_integers(codec, sums, p->values, out + AHEAD, capacity - AHEAD, &bytes);
    if (status) return 0;
    gn_shim_write(&(gn_shim){.version = GN_SHIM_VERSION,
                             .kind = (uint8_t)(codec->profile + 1),
                             .bound_exp = (int8_t)codec->bound_exp,
                             .length = (uint16_t)(GN_AGG_HEADER + sizeof(uint32_t) * p->values),
                             .head = GN_AGG_HEADER},
                  out);
    gn_agg_write_header(p, out + GN_SHIM_BYTES);
    return AHEAD + bytes;
}

size_t gn_agg_write_again(const gn_agg_packet *p, void *datagram, size_t capacity)
{
    uint8_t *out = datagram;
    const size_t ahead = p->shimmed ? GN_SHIM_BYTES : 0;
    if (capacity < ahead + GN_AGG_HEADER + p->payload_bytes) return 0;
    if (p->shimmed) {
        const bool stored = !p->compressed;
        gn_shim_write(&(gn_shim){.version = GN_SHIM_VERSION,
                                 .kind = (uint8_t)(stored ? GN_KIND_STORED : p->profile + 1),
                                 .bound_exp = stored ? 0 : p->next,
                                 .length = (uint16_t)(GN_AGG_HEADER + sizeof(uint32_t) * p->values),
                                 .head = stored ? 0 : GN_AGG_HEADER},
                      out);
    }
    gn_agg_write_header(p, out + ahead);
    if (p->payload_bytes) memcpy(out + ahead + GN_AGG_HEADER, p->payload, p->payload_bytes);
    return ahead + GN_AGG_HEADER + p->payload_bytes;
}

size_t gn_agg_bound(size_t values)
{
    const size_t lattice = gn_stream_bound(GN_LATTICE, values), dense = gn_stream_bound(GN_DENSE, values);
    const size_t stream = lattice > dense ? lattice : dense;
    return GN_SHIM_BYTES + GN_AGG_HEADER + (stream > sizeof(uint32_t) * values ? stream : sizeof(uint32_t) * values);
}
