// SPDX-License-Identifier: Apache-2.0
// Profiles paper and lattice for any machine: lane.c's functions, one value after the other. Every
// other kernel is compared with this one.
#include <math.h>
#include <string.h>

#include "../little_endian.h"
#include "../profile.h"
#include "../record.h"
#include "scalar.h"

// Writes the record of `lanes` values, the rest padding. @return its bytes
static size_t encode_record(const gn_profile_row *profile, int bound_exp, const uint8_t *values, size_t lanes,
                            uint8_t record[GN_RECORD_MAX])
{
    unsigned tags = 0;
    size_t length = GN_TAG_WORD;
    for (size_t i = 0; i < lanes; i++) {
        gn_code code = profile->encode(bound_exp, gn_load32(values + 4 * i));
        tags |= code.tag << (2 * i);
        gn_store32(record + length, code.payload);  // the next payload overwrites surplus bytes
        length += gn_payload_bytes(code.tag);
    }
    record[0] = (uint8_t)tags;
    record[1] = (uint8_t)(tags >> 8);
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

// The code of one lane. `payload` moves behind it.
static gn_code next_code(unsigned tags, unsigned lane, const uint8_t **payload)
{
    const uint8_t *p = *payload;
    gn_code code = {gn_lane_tag(tags, lane), 0};
    if (code.tag == 1)
        code.payload = p[0];
    else if (code.tag == 2)
        code.payload = (uint32_t)p[0] | (uint32_t)p[1] << 8;
    else if (code.tag == 3)
        code.payload = gn_load32(p);
    *payload += gn_payload_bytes(code.tag);
    return code;
}

// Reads one code after the other, from a stream that walk() has passed.
typedef struct reader {
    const uint8_t *payload;
    unsigned tags, lane;
} reader;

static gn_code read_code(reader *r)
{
    if (r->lane == 0) {
        r->tags = gn_read_tags(r->payload);
        r->payload += GN_TAG_WORD;
    }
    gn_code code = next_code(r->tags, r->lane, &r->payload);
    r->lane = (r->lane + 1) % GN_GROUP;
    return code;
}

static bool decode(const gn_codec *codec, const uint8_t *stream, size_t bytes, uint8_t *values, size_t count)
{
    const gn_profile_row *profile = gn_profile_row_of(codec->profile);
    gn_tally tally;
    size_t offset;
    if (gn_record_walk(stream, bytes, count, &tally, &offset)) return false;
    reader r = {.payload = stream};
    for (size_t i = 0; i < count; i++) gn_store32(values + 4 * i, profile->decode(codec->bound_exp, read_code(&r)));
    return true;
}

static void add(const gn_codec *codec, const uint8_t *stream, size_t bytes, float *sums, size_t count)
{
    (void)bytes;
    const gn_profile_row *profile = gn_profile_row_of(codec->profile);
    reader r = {.payload = stream};
    for (size_t i = 0; i < count; i++) gn_scalar_add(sums + i, profile->decode(codec->bound_exp, read_code(&r)));
}

unsigned gn_scalar_add_integers(const gn_codec *codec, const uint8_t *stream, size_t bytes, int32_t *sums, size_t count)
{
    (void)codec, (void)bytes;
    reader r = {.payload = stream};
    unsigned flags = 0;
    for (size_t i = 0; i < count; i++) {
        gn_code code = read_code(&r);
        if (code.tag == 3)
            flags |= GN_SUM_RAW;
        else
            gn_scalar_add_integer(sums + i, gn_lattice_integer(code), &flags);
    }
    return flags;
}

bool gn_scalar_get_integers(const gn_codec *codec, const uint8_t *stream, size_t bytes, int32_t *integers, size_t count,
                            unsigned *flags)
{
    gn_tally tally;
    size_t offset;
    *flags = 0;
    if (gn_record_walk(stream, bytes, count, &tally, &offset)) return false;
    memset(integers, 0, sizeof *integers * count);
    *flags = gn_scalar_add_integers(codec, stream, bytes, integers, count);
    return true;
}

size_t gn_scalar_encode_integers(const gn_codec *codec, const int32_t *integers, size_t count, uint8_t *stream,
                                 size_t capacity, size_t *bytes)
{
    size_t taken = 0, used = 0;
    while (taken < count) {
        uint8_t values[4 * GN_GROUP];
        size_t lanes = count - taken < GN_GROUP ? count - taken : GN_GROUP, length;
        for (size_t i = 0; i < lanes; i++)
            gn_store32(values + 4 * i, gn_lattice_value(codec->bound_exp, integers[taken + i]));
        size_t fitted = encode(codec, values, lanes, stream + used, capacity - used, &length);
        taken += fitted;
        used += length;
        if (fitted < lanes) break;
    }
    *bytes = used;
    return taken;
}

void gn_scalar_quantise(const gn_codec *codec, const float *values, float *quantised, float *residual, size_t count)
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

const gn_kernel_row gn_scalar_paper = {encode, decode, gn_scalar_quantise, add, NULL, NULL, NULL, NULL};
const gn_kernel_row gn_scalar_lattice = {
    encode, decode, gn_scalar_quantise, add, gn_scalar_add_integers, gn_scalar_get_integers, gn_scalar_encode_integers,
    NULL};
