// SPDX-License-Identifier: Apache-2.0
// What the benches of the engines feed: real gradients, and mixes that are hard on the paths of
// bytes.
#pragma once

#include <cmath>
#include <vector>

#include <zlib.h>

#include "bench.h"

namespace bench
{

// Profiles that the block under test was built with, as its parameter PROFILES.
#ifndef GN_RTL_PROFILES
#define GN_RTL_PROFILES 7
#endif

inline std::vector<gn_profile> profiles()
{
    std::vector<gn_profile> list;
    for (int p = GN_PAPER; p < GN_PROFILE_COUNT; p++)
        if (GN_RTL_PROFILES >> p & 1) list.push_back(static_cast<gn_profile>(p));
    return list;
}

struct Setting {
    gn_profile profile;
    int k;
    // tuser of a frame's first beat
    uint64_t user() const { return static_cast<uint64_t>(profile) | static_cast<uint64_t>(k & 0xff) << 2; }
};

inline Setting any_setting(Random &random)
{
    const gn_profile profile = profiles()[random.below(static_cast<uint32_t>(profiles().size()))];
    static const int ks[] = {6, 8, 10, 12, 15};
    return {profile, random.percent(80)    ? ks[random.below(5)]
                     : profile == GN_PAPER ? 1 + static_cast<int>(random.below(126))
                                           : static_cast<int>(random.below(63)) - 31};
}

inline float from_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

// A value that takes so many bits at this setting: 0, up to 16, or 32 (any bits that stay raw).
inline float value_of_bits(const Setting &s, unsigned bits, Random &random)
{
    if (bits == 0) return random.percent(50) ? 0.0f : -0.0f;
    const uint32_t r = static_cast<uint32_t>(random.next());
    if (bits == 32) return from_bits(r | 0x7f000000);  // huge, infinite, NaN
    const float sign = r & 1 ? -1.0f : 1.0f;
    if (s.profile == GN_PAPER)
        return sign * std::ldexp(0.5f + static_cast<float>(r >> 9) * 0x1p-24f, -static_cast<int>(r >> 1 & 15));
    const uint32_t q = (1u << (bits - 1)) - 1 - (r >> 8) % (1u << (bits - 1)) / 2;
    return sign * std::ldexp(static_cast<float>(q), 1 - s.k);
}

enum Mix { RANDOM_BITS, RAW, ZEROS, MIXED, SPARSE, RUNS, RAW_AND_ZEROS, MIX_COUNT };

inline std::vector<float> values_of(Mix mix, const Setting &s, size_t count, Random &random)
{
    std::vector<float> values(count);
    static const unsigned bits[] = {0, 1, 2, 3, 4, 7, 8, 10, 12, 16, 32};
    for (size_t i = 0; i < count;) {
        // a stretch of one kind
        const size_t stretch = mix == RUNS ? 1 + random.below(12000) : mix == RAW_AND_ZEROS ? 8 : 1 + random.below(40);
        const unsigned pick = mix == RAW             ? 32
                              : mix == ZEROS         ? 0
                              : mix == SPARSE        ? (random.percent(90) ? 0 : bits[random.below(11)])
                              : mix == RAW_AND_ZEROS ? (random.percent(50) ? 32 : 0)
                              : mix == RUNS          ? (random.percent(60) ? 0 : 3)
                                                     : bits[random.below(11)];
        const bool each = mix == MIXED && random.percent(30);
        for (size_t n = 0; n < stretch && i < count; n++, i++)
            values[i] = mix == RANDOM_BITS ? from_bits(static_cast<uint32_t>(random.next()))
                                           : value_of_bits(s, each ? bits[random.below(11)] : pick, random);
    }
    return values;
}

inline std::vector<uint8_t> stream_of(const Setting &s, const std::vector<float> &values)
{
    const gn_codec c = codec(s.profile, s.k);
    std::vector<uint8_t> stream(gn_stream_bound(s.profile, values.size()));
    size_t bytes;
    if (gn_stream_encode(&c, values.data(), values.size(), stream.data(), stream.size(), &bytes))
        fail("the model does not encode");
    stream.resize(bytes);
    return stream;
}

inline std::vector<uint8_t> bytes_of(const std::vector<float> &values)
{
    std::vector<uint8_t> bytes(values.size() * 4);
    memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

// All values of a gzipped .npy of binary32.
inline std::vector<float> gradient(const std::string &name)
{
    const std::string path = std::string(GN_TEST_DATA) + "/gradients/" + name + ".npy.gz";
    gzFile file = gzopen(path.c_str(), "rb");
    uint8_t start[10];
    if (!file || gzread(file, start, sizeof start) != sizeof start ||
        gzseek(file, start[8] | start[9] << 8, SEEK_CUR) < 0)
        fail("%s: cannot read", path.c_str());
    std::vector<float> values(1 << 18);
    const int got = gzread(file, values.data(), static_cast<unsigned>(values.size() * sizeof(float)));
    gzclose(file);
    if (got <= 0) fail("%s: no values", path.c_str());
    values.resize(static_cast<size_t>(got) / sizeof(float));
    return values;
}

// Where two frames differ, or fails with more than that.
inline void compare(const char *what, size_t number, const Setting &s, const std::vector<uint8_t> &got,
                    const std::vector<uint8_t> &want, const std::vector<float> &values)
{
    if (got == want) return;
    size_t at = 0;
    while (at < got.size() && at < want.size() && got[at] == want[at]) at++;
    fprintf(stderr, "first values:");
    for (size_t i = 0; i < values.size() && i < 32; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], 4);
        fprintf(stderr, " %08x", bits);
    }
    fprintf(stderr, "\n");
    fail("%s, frame %zu, profile %s, k = %d, %zu values: byte %zu is %02x, the model says %02x (%zu bytes, the model "
         "%zu)",
         what, number, gn_profile_name(s.profile), s.k, values.size(), at, at < got.size() ? got[at] : 0,
         at < want.size() ? want[at] : 0, got.size(), want.size());
}

}  // namespace bench
