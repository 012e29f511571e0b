// SPDX-License-Identifier: Apache-2.0
// The kernel for any machine: lane.c's functions, one value after the other. Also what every other kernel
// is compared with.
#include <math.h>
#include <string.h>

#include "../profile.h"
#include "../record.h"
#include "kernel.h"

static uint32_t read_le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void write_le(uint8_t *p, uint32_t word, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) p[i] = (uint8_t)(word >> (8 * i));
}

// Writes the record of `lanes` values, the rest padding. Returns its bytes.
static size_t encode_record(const gn_profile_row *profile, int bound_exp, const uint8_t *values, size_t lanes,
                            uint8_t record[GN_RECORD_MAX])
{
    unsigned tags = 0;
    size_t length = GN_TAG_WORD;
    for (size_t i = 0; i < lanes; i++) {
        gn_code code = profile->encode(bound_exp, read_le32(values + 4 * i));
        unsigned bytes = gn_payload_bytes(code.tag);
        tags |= code.tag << (2 * i);
        write_le(record + length, code.payload, bytes);
        length += bytes;
    }
    write_le(record, tags, GN_TAG_WORD);
    return length;
}

static size_t encode(const gn_codec *codec, const uint8_t *values, size_t count, uint8_t *stream, size_t capacity,
                     size_t *bytes)
{
    const gn_profile_row *profile = gn_profile_row_of(codec->profile);
    size_t taken = 0, used = 0;
    while (taken < count) {
        uint8_t record[GN_RECORD_MAX];
        size_t lanes = count - taken < GN_GROUP ? count - taken : GN_GROUP;
        size_t length = encode_record(profile, codec->bound_exp, values + 4 * taken, lanes, record);
        if (length > capacity - used) break;
        memcpy(stream + used, record, length);
        used += length;
        taken += lanes;
    }
    *bytes = used;
    return taken;
}

static void decode_record(const gn_profile_row *profile, int bound_exp, const uint8_t *record, uint8_t *values,
                          size_t lanes)
{
    unsigned tags = gn_read_tags(record);
    const uint8_t *payload = record + GN_TAG_WORD;
    for (unsigned i = 0; i < lanes; i++) {
        gn_code code = {gn_lane_tag(tags, i), 0};
        unsigned bytes = gn_payload_bytes(code.tag);
        for (unsigned b = 0; b < bytes; b++) code.payload |= (uint32_t)payload[b] << (8 * b);
        payload += bytes;
        write_le(values + (size_t)4 * i, profile->decode(bound_exp, code), 4);
    }
}

static bool decode(const gn_codec *codec, const uint8_t *stream, size_t bytes, uint8_t *values, size_t count)
{
    const gn_profile_row *profile = gn_profile_row_of(codec->profile);
    size_t used = 0;
    for (size_t done = 0; done < count; done += GN_GROUP) {
        if (bytes - used < GN_TAG_WORD) return false;
        unsigned tags = gn_read_tags(stream + used);
        size_t length = gn_record_bytes(tags);
        size_t lanes = count - done < GN_GROUP ? count - done : GN_GROUP;
        if (length > bytes - used || (tags & gn_padding_mask(lanes))) return false;
        decode_record(profile, codec->bound_exp, stream + used, values + 4 * done, lanes);
        used += length;
    }
    return used == bytes;
}

static void quantise(const gn_codec *codec, const float *values, float *quantised, float *residual, size_t count)
{
    const gn_profile_row *profile = gn_profile_row_of(codec->profile);
    for (size_t i = 0; i < count; i++) {
        float value = values[i], seen;
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        bits = profile->decode(codec->bound_exp, profile->encode(codec->bound_exp, bits));
        memcpy(&seen, &bits, sizeof seen);
        quantised[i] = seen;
        if (residual) residual[i] = isfinite(value) ? value - seen : 0.0f;
    }
}

static bool runs_here(void)
{
    return true;
}

static const gn_kernel_row row = {encode, decode, quantise};

const gn_kernel gn_kernel_scalar = {
    .name = "scalar",
    .runs_here = runs_here,
    .rows = {[GN_PAPER] = &row, [GN_LATTICE] = &row},
};
