// SPDX-License-Identifier: Apache-2.0
// Streams with something wrong, or with nothing wrong after all.
#pragma once

#include <algorithm>
#include <vector>

#include "bench.h"

namespace bench
{

// Cuts, lengthens or changes a stream of `count` values, or what is said of its count.
inline void damage(std::vector<uint8_t> &bytes, size_t &count, Random &random)
{
    const uint32_t size = static_cast<uint32_t>(bytes.size());
    switch (random.below(7)) {
    case 0:
        bytes.resize(1 + random.below(size));
        break;
    case 1:
        bytes.resize(size + 1 + random.below(random.percent(50) ? 3 : 100));
        break;
    case 2:
        count = random.below(static_cast<uint32_t>(count) + 1);
        break;
    case 3:
        count += 1 + random.below(random.percent(50) ? 8 : 300);
        break;
    case 4:
        bytes[random.below(size)] ^= static_cast<uint8_t>(1u << random.below(8));
        break;
    case 5:
        for (uint8_t &byte : bytes) byte = random.percent(60) ? 0 : static_cast<uint8_t>(random.next());
        break;
    default:  // a padding lane, a missing group, a run too long: hit the first or last bytes
        bytes[random.percent(50) ? random.below(std::min<uint32_t>(3, size)) : size - 1] ^=
            static_cast<uint8_t>(1 + random.below(255));
    }
}

}  // namespace bench
