// SPDX-License-Identifier: Apache-2.0
// Groups of eight lanes, for the benches of the blocks inside the engines: a value of a given tag,
// a group of a given class, and what the model writes for a quad.
#pragma once

#include <array>
#include <vector>

#include "values.h"

extern "C" {
#include "cmodel/dense.h"
#include "cmodel/record.h"
}

namespace bench
{

inline uint32_t bits_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

// A random value that the model gives this tag; paper or lattice.
inline uint32_t value_of_tag(const Setting &s, const gn_codec &c, unsigned tag, Random &random)
{
    for (unsigned tries = 0; tries < 1000; tries++) {
        const uint32_t bits = bits_of(value_of_bits(s, tag ? 4u << tag : 0, random));
        if (gn_lane_encode(&c, bits).tag == tag) return bits;
    }
    fail("no value of tag %u at %s, k = %d", tag, gn_profile_name(s.profile), s.k);
}

// A group of q (or raw words) that the model gives this class. A quantiser's: |q| <= 32767 where
// not raw.
inline gn_dense_group group_of_class(unsigned class_, Random &random)
{
    gn_dense_group group = {};
    if (class_ == GN_CLASS_WORDS) {
        group.raw = 1 + random.below(255);
        for (unsigned lane = 0; lane < GN_GROUP; lane++)
            group.word[lane] = group.raw >> lane & 1
                                   ? static_cast<uint32_t>(random.next())
                                   : static_cast<uint32_t>(static_cast<int32_t>(random.below(65535)) - 32767);
        return group;
    }
    if (!class_) return group;
    const bool positive = GN_CLASS_UNSIGNED(class_);
    const unsigned planes = GN_CLASS_PLANES(class_), bits = positive ? planes : planes - 1;
    const unsigned least = class_ < 12    ? bits
                           : class_ == 12 ? 8
                           : class_ == 13 ? 10
                                          : 12;  // bits of the largest magnitude
    const unsigned length = least + random.below(bits - least + 1);
    for (unsigned lane = 0; lane < GN_GROUP; lane++) {
        const uint32_t magnitude = static_cast<uint32_t>(random.next()) & ((1u << length) - 1);
        group.word[lane] = !positive && random.percent(50) ? ~magnitude : magnitude;
    }
    const unsigned largest = random.below(GN_GROUP), negative = (largest + 1 + random.below(7)) % GN_GROUP;
    if (length) group.word[largest] = 1u << (length - 1) | (group.word[largest] & ((1u << (length - 1)) - 1));
    if (!positive) group.word[negative] |= 1u << 31, group.word[negative] |= ~0u << length;
    for (uint32_t &word : group.word)
        if (word == ~32767u) word++;  // -32768 has no single value
    return group;
}

inline void quad_of_header(unsigned header, gn_dense_quad quad, Random &random)
{
    uint8_t record[GN_QUAD_MAX];
    for (unsigned g = 0; g < GN_QUAD_GROUPS; g++) quad[g] = group_of_class(gn_quad_class(header, g), random);
    if (gn_dense_put(quad, record) && gn_quad_header(record) != header)
        fail("the bench meant header %04x and made %04x", header, gn_quad_header(record));
}

}  // namespace bench
