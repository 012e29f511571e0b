// SPDX-License-Identifier: Apache-2.0
// Values to compress.
#include <string.h>

#include "codec.h"
#include "net/splitmix.h"

enum { POOL = 1024 };  // different values per class; a power of two

const char *gn_bench_data_name(gn_bench_data data)
{
    static const char *const names[] = {"zero", "tiny", "mixed", "raw", "16bit", "32bit", "files"};
    return names[data];
}

// Values of one class, with exponents around the bound. A class can be empty: paper with a bound
// of 2^-1 has no tag 2. Then the value after many tries is taken.
static void fill_pool(const gn_codec *codec, unsigned tag, float pool[POOL], uint64_t *state)
{
    for (unsigned i = 0; i < POOL; i++) {
        for (unsigned tries = 0; tries < 10000; tries++) {
            uint64_t r = splitmix64(state);
            uint32_t exponent = (uint32_t)(127 - codec->bound_exp - 6 + (int)(r >> 40) % 26) & 0xff;
            uint32_t bits = ((uint32_t)r & 0x807fffff) | exponent << 23;
            memcpy(&pool[i], &bits, sizeof bits);
            if (gn_lane_encode(codec, bits).tag == tag) break;
        }
    }
}

void gn_bench_fill(gn_bench_data data, const gn_codec *codec, const float *file, size_t file_count, float *values,
                   size_t count)
{
    if (data == GN_BENCH_ZERO) {
        memset(values, 0, count * sizeof *values);
        return;
    }
    if (data == GN_BENCH_FILES) {
        for (size_t i = 0; i < count; i += file_count)
            memcpy(values + i, file, (count - i < file_count ? count - i : file_count) * sizeof *values);
        return;
    }
    static const struct {
        unsigned count, tags[4];
    } classes[] = {[GN_BENCH_TINY] = {1, {0}},
                   [GN_BENCH_MIXED] = {3, {0, 1, 2}},
                   [GN_BENCH_RAW] = {4, {0, 1, 2, 3}},
                   [GN_BENCH_16BIT] = {1, {2}},
                   [GN_BENCH_32BIT] = {1, {3}}};
    float pool[4][POOL];
    uint64_t state = 1;
    for (unsigned i = 0; i < classes[data].count; i++) fill_pool(codec, classes[data].tags[i], pool[i], &state);
    for (size_t i = 0; i < count; i++) {
        uint64_t r = splitmix64(&state);
        // ZERO and FILES, which have no classes, have returned.
        // NOLINTNEXTLINE(clang-analyzer-core.DivideZero)
        values[i] = pool[(r >> 32) % classes[data].count][r % POOL];
    }
}
