// SPDX-License-Identifier: Apache-2.0
// The only writer of aggregation packets. packet.h reads them.
#include "packet.h"

#include <string.h>

#include <gradnic/words.h>
#include <libdeflate.h>

#include "check.h"

uint32_t gn_agg_check(const uint8_t *header)
{
#if defined(__x86_64__)
    if (gn_check_has_pclmul()) return gn_check_pclmul(header);
#endif
    return libdeflate_crc32(0, header, AT_CRC);
}

gn_agg_fault gn_agg_read_shimmed(const uint8_t *in, size_t bytes, gn_agg_packet *p)
{
    gn_shim shim;
    if (!gn_shim_read(in, &shim) || shim.version != GN_SHIM_VERSION || shim.kind > GN_PROFILE_COUNT)
        return GN_AGG_FOREIGN;
    if (bytes < GN_SHIM_BYTES + GN_AGG_HEADER) return GN_AGG_SHORT;
    p->shimmed = true;
    const gn_agg_fault fault = gn_agg_read_header(in + GN_SHIM_BYTES, p);
    return fault ? fault : gn_agg_read_payload(in + GN_SHIM_BYTES, bytes - GN_SHIM_BYTES, &shim, p);
}

gn_agg_fault gn_agg_parse(const void *datagram, size_t bytes, gn_agg_packet *p)
{
    return gn_agg_read(datagram, bytes, p);
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
    gn_put32(out + AT_CRC, gn_agg_check(out));
}

size_t gn_agg_write_words(const gn_agg_packet *p, const void *words, void *out, size_t capacity)
{
    const size_t payload = sizeof(uint32_t) * p->values;
    if (capacity < GN_AGG_HEADER + payload) return 0;
    gn_agg_write_header(p, out);
    if (payload) memcpy((uint8_t *)out + GN_AGG_HEADER, words, payload);
    return GN_AGG_HEADER + payload;
}

size_t gn_agg_write_halves(const gn_agg_packet *p, const gn_codec *codec, const int32_t *words, void *out,
                           size_t capacity)
{
    const size_t payload = sizeof(uint16_t) * p->values;
    if (capacity < GN_AGG_HEADER + payload) return 0;
    gn_agg_packet marked = *p;
    marked.flags |= GN_AGG_HALVES;
    gn_agg_write_header(&marked, out);
    gn_words_to_halves(codec, words, p->values, (uint8_t *)out + GN_AGG_HEADER);
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
