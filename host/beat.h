// SPDX-License-Identifier: Apache-2.0
// One beat of AXI4-Stream, 256 bits wide unless said otherwise, for everything that gives frames to
// simulated hardware or takes frames from it. The benches in tests/rtl do not use it: they judge
// every beat on their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace axis
{

constexpr size_t BEAT = 32;  // bytes

template <size_t BYTES> using Keep = std::conditional_t<(BYTES > 32), uint64_t, uint32_t>;

template <size_t BYTES> struct BeatOf {
    uint32_t words[BYTES / 4];  // byte 0 is the lowest of word 0
    Keep<BYTES> keep;           // bit i: byte i counts
    bool last;
};
using Beat = BeatOf<BEAT>;

// The beat of a frame that begins at byte `at`, which the frame has.
template <size_t BYTES = BEAT> BeatOf<BYTES> cut(const std::vector<uint8_t> &frame, size_t at)
{
    const size_t left = frame.size() - at, bytes = left < BYTES ? left : BYTES;
    const auto all = static_cast<Keep<BYTES>>(~Keep<BYTES>{0});
    BeatOf<BYTES> beat = {{}, bytes < BYTES ? ~(all << bytes) : all, left <= BYTES};
    std::memcpy(beat.words, frame.data() + at, bytes);
    return beat;
}

// Appends the bytes of a beat that are kept: the first ones.
template <size_t BYTES> void append(std::vector<uint8_t> &frame, const BeatOf<BYTES> &beat)
{
    const auto *bytes = reinterpret_cast<const uint8_t *>(beat.words);
    frame.insert(frame.end(), bytes, bytes + __builtin_popcountll(beat.keep));
}

}  // namespace axis
