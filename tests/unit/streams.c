// SPDX-License-Identifier: Apache-2.0
#include "streams.h"

#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <zlib.h>

#include "net/splitmix.h"

enum { FENCE = 64, FENCE_BYTE = 0xa5 };

uint64_t stream_random(uint64_t *state)
{
    return splitmix64(state);
}

float stream_value(const gn_codec *codec, unsigned tag, uint64_t *state)
{
    for (;;) {
        // exponents around the codec's classes, now and then any
        uint32_t r = (uint32_t)stream_random(state), exponent = (uint32_t)(stream_random(state) % 44);
        uint32_t bits = (r & 0x807fffff) | ((uint32_t)(127 - codec->bound_exp) + exponent - 12) % 256 << 23;
        if (stream_random(state) % 8 == 0) bits = (uint32_t)stream_random(state);
        if (gn_lane_encode(codec, bits).tag != tag) continue;
        float value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
}

void stream_mixed(const gn_codec *codec, unsigned classes, float *values, size_t count, uint64_t *state)
{
    for (size_t i = 0; i < count;) {
        unsigned tag = stream_random(state) & 3;
        if (classes >> tag & 1) values[i++] = stream_value(codec, tag, state);
    }
}

void stream_lanes(const gn_codec *codec, const float *values, size_t count, dense_lane *lanes)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        gn_code code = gn_lane_encode(codec, bits);
        lanes[i].raw = code.tag == 3;
        lanes[i].word = code.payload;  // of tags 1 and 2: two's complement, to be extended
        if (code.tag == 1) lanes[i].word = (uint32_t)(int8_t)code.payload;
        if (code.tag == 2) lanes[i].word = (uint32_t)(int16_t)code.payload;
    }
}

static size_t dense_reference(const gn_codec *codec, const float *values, size_t count, uint8_t *stream, size_t *ends)
{
    dense_lane *lanes = calloc(count + 1, sizeof *lanes);
    ck_assert_ptr_nonnull(lanes);
    stream_lanes(codec, values, count, lanes);
    size_t bytes = dense_write(lanes, count, stream, ends);
    free(lanes);
    return bytes;
}

size_t stream_reference(const gn_codec *codec, const float *values, size_t count, uint8_t *stream, size_t *ends)
{
    if (codec->profile == GN_DENSE) return dense_reference(codec, values, count, stream, ends);
    uint8_t *out = stream;
    for (size_t i = 0; i < count; i += 8) {
        uint8_t *tags = out;
        out += 2;
        tags[0] = tags[1] = 0;
        for (size_t lane = 0; lane < 8 && i + lane < count; lane++) {
            uint32_t bits;
            memcpy(&bits, &values[i + lane], sizeof bits);
            gn_code code = gn_lane_encode(codec, bits);
            tags[lane / 4] = (uint8_t)(tags[lane / 4] | code.tag << 2 * (lane % 4));
            for (unsigned n = 0; n < (code.tag == 3 ? 4 : code.tag); n++) *out++ = (uint8_t)(code.payload >> 8 * n);
        }
        if (ends) *ends++ = (size_t)(out - stream);
    }
    return (size_t)(out - stream);
}

void stream_seen(const gn_codec *codec, const float *values, size_t count, uint32_t *seen)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        seen[i] = gn_lane_decode(codec, gn_lane_encode(codec, bits));
    }
}

fence fence_new(size_t size, size_t shift)
{
    fence f = {.size = size, .block_size = (size + shift + 2 * FENCE + 63) & ~(size_t)63};
    f.block = aligned_alloc(64, f.block_size);
    ck_assert_ptr_nonnull(f.block);
    memset(f.block, FENCE_BYTE, f.block_size);
    f.at = f.block + FENCE + shift;
    return f;
}

bool fence_intact(const fence *f)
{
    for (const uint8_t *p = f->block; p < f->block + f->block_size; p++)
        if ((p < f->at || p >= f->at + f->size) && *p != FENCE_BYTE) return false;
    return true;
}

void fence_free(fence *f)
{
    free(f->block);
    f->block = f->at = NULL;
}

void stream_each_kernel_of(gn_profile profile, int k, void (*check)(const gn_codec *codec))
{
    for (unsigned n = 0; gn_kernel_name(n); n++) {
        gn_codec codec;
        ck_assert_int_eq(gn_codec_init_kernel(&codec, profile, k, gn_kernel_name(n)), GN_OK);
        ck_assert_str_eq(gn_codec_kernel_name(&codec), gn_kernel_name(n));
        check(&codec);
    }
}

void stream_each_kernel(int k, void (*check)(const gn_codec *codec))
{
    for (gn_profile profile = 0; profile < GN_PROFILE_COUNT; profile++) stream_each_kernel_of(profile, k, check);
}

float *stream_load_npy(const char *path, size_t *count)
{
    gzFile file = gzopen(path, "rb");
    ck_assert_msg(file != NULL, "%s: cannot open", path);
    uint8_t start[10];  // magic, version 1.0, header length
    ck_assert_int_eq(gzread(file, start, sizeof start), sizeof start);
    ck_assert_mem_eq(start, "\x93NUMPY\x01\x00", 8);
    ck_assert_int_ge(gzseek(file, start[8] | start[9] << 8, SEEK_CUR), 0);
    const size_t most = 1 << 20;
    float *values = malloc(most * sizeof *values);
    ck_assert_ptr_nonnull(values);
    int got = gzread(file, values, (unsigned)(most * sizeof *values));
    ck_assert_msg(got > 0 && gzeof(file), "%s: unreadable or longer than %zu values", path, most);
    gzclose(file);
    *count = (size_t)got / sizeof *values;
    return values;
}
