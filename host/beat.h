// SPDX-License-Identifier: Apache-2.0
// One beat of AXI4-Stream, 256 bits wide, for everything that gives frames to Verilated hardware or
// takes frames from it. The benches in tests/rtl do not use it: they judge every beat on their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace axis
{

constexpr size_t BEAT = 32;  // bytes

struct Beat {
    uint32_t words[BEAT / 4];  // byte 0 is the lowest of word 0
    uint32_t keep;             // bit i: byte i counts
    bool last;
};

// The beat of a frame that begins at byte `at`, which the frame has.
inline Beat cut(const std::vector<uint8_t> &frame, size_t at)
{
    const size_t left = frame.size() - at, bytes = left < BEAT ? left : BEAT;
    Beat beat = {{}, bytes < BEAT ? (1u << bytes) - 1 : ~0u, left <= BEAT};
    std::memcpy(beat.words, frame.data() + at, bytes);
    return beat;
}

// Appends the bytes of a beat that are kept: the first ones.
inline void append(std::vector<uint8_t> &frame, const Beat &beat)
{
    const auto *bytes = reinterpret_cast<const uint8_t *>(beat.words);
    frame.insert(frame.end(), bytes, bytes + __builtin_popcount(beat.keep));
}

}  // namespace axis
