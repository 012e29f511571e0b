// SPDX-License-Identifier: Apache-2.0
// Integers for streams of profile dense, and streams of them that no encoder makes and all decoders
// take: runs cut in pieces, classes larger than need be, quads of zeros that are written out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/rtl/common/bench.h"

extern "C" {
#include "cmodel/dense.h"
}

namespace streams
{

// Of up to so many bits, many of them 0: with 15 as a worker sends them, with more only a switch.
// `zeros`: of 100 groups so many have nothing, besides those that have nothing by chance.
inline std::vector<int32_t> integers(bench::Random &random, unsigned count, unsigned most, unsigned zeros)
{
    std::vector<int32_t> values(count);
    for (unsigned i = 0, bits = 0; i < count; i++) {
        if (i % 8 == 0) bits = random.percent(zeros) ? 0 : 1 + random.below(most);
        values[i] = bits ? static_cast<int32_t>(random.next()) >> (32 - bits) : 0;
        if (most > 16 && bits && bits < 16 && random.percent(10)) values[i] = INT16_MIN;  // just too wide
    }
    return values;
}

inline size_t groups(const std::vector<int32_t> &values)
{
    return (values.size() + 7) / 8;
}

// Whether a group has a value other than 0.
inline bool some(const std::vector<int32_t> &values, size_t group)
{
    for (size_t i = 8 * group; i < 8 * group + 8 && i < values.size(); i++)
        if (values[i]) return true;
    return false;
}

// A class that the group may have, and its payload.
inline unsigned loose_group(bench::Random &random, const int32_t *values, size_t count, std::vector<uint8_t> &payload)
{
    for (;;) {
        const unsigned c = random.below(16), w = std::min<unsigned>(32, gn_class_bytes[c]);
        bool fits = true;
        for (size_t i = 0; i < count; i++) {
            const int64_t q = values[i], half = w ? 1ll << (w - 1) : 0;
            fits = fits && (c == 0 ? q == 0 : c >= 9 && c <= 11 ? q >= 0 && q < 2 * half : q >= -half && q < half);
        }
        if (!fits) continue;
        for (unsigned p = 0; p < w; p++) {
            uint8_t plane = 0;
            for (size_t i = 0; i < count; i++) plane |= static_cast<uint8_t>((values[i] >> p & 1) << i);
            payload.push_back(plane);
        }
        if (c == 15) payload.push_back(0);
        return c;
    }
}

inline std::vector<uint8_t> loose(bench::Random &random, const std::vector<int32_t> &values)
{
    std::vector<uint8_t> bytes;
    const bool cut = random.percent(50);
    unsigned run = 0;  // zero quads that are not written yet
    const auto flush = [&] {
        if (run) bytes.insert(bytes.end(), {0, 0, static_cast<uint8_t>(run - 1)});
        run = 0;
    };
    for (size_t quad = 0; 32 * quad < values.size(); quad++) {
        unsigned header = 0;
        std::vector<uint8_t> payload;
        for (unsigned g = 0; g < 4; g++) {
            const size_t at = 32 * quad + 8 * g;
            if (at < values.size())
                header |= loose_group(random, &values[at], std::min<size_t>(8, values.size() - at), payload) << 4 * g;
        }
        if (!header) {
            run++;
            if (cut || run == 256) flush();
            continue;
        }
        flush();
        bytes.insert(bytes.end(), {static_cast<uint8_t>(header), static_cast<uint8_t>(header >> 8)});
        bytes.insert(bytes.end(), payload.begin(), payload.end());
    }
    flush();
    return bytes;
}

}  // namespace streams
