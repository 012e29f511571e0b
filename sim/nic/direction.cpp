// SPDX-License-Identifier: Apache-2.0
#include "direction.h"

#include <algorithm>
#include <cstdio>

namespace sim
{

Passage Direction::arrived(std::deque<Passage> &passages, const std::string &nic, const Bytes &frame) const
{
    if (passages.empty())
        throw std::runtime_error(nic + ": a frame of " + std::to_string(frame.size()) + " bytes that nobody sent");
    Passage passage = std::move(passages.front());
    passages.pop_front();
    if (frame == passage.expected) return passage;
    const Bytes &want = passage.expected;
    const std::string which = nic + ": frame " + std::to_string(passage.number);
    if (frame.size() != want.size())
        throw std::runtime_error(which + " has " + std::to_string(frame.size()) + " bytes, in the C model " +
                                 std::to_string(want.size()));
    const auto at = std::mismatch(frame.begin(), frame.end(), want.begin());
    char bytes[64];
    snprintf(bytes, sizeof bytes, " is 0x%02x, the C model has 0x%02x", *at.first, *at.second);
    throw std::runtime_error(which + ", byte " + std::to_string(at.first - frame.begin()) + bytes);
}

}  // namespace sim
