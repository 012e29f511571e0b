// SPDX-License-Identifier: Apache-2.0
// A part of a vector, on its way from one rank to another. There are no values, only their place.
// Each rank has a weight instead of values, and a sum has the sum of the weights.
#pragma once

#include <cstdint>

namespace sim_net
{

struct Piece {
    uint64_t vector = 0;             // of the job, from 1 on
    uint64_t offset = 0, bytes = 0;  // in the vector
    uint64_t weight = 0;
    uint32_t from = 0;   // the member that sends it
    uint32_t stage = 0;  // of the exchange
    uint32_t hop = 0;    // how often it was passed on in this stage
    bool back = false;   // it is a sum
    // TCP over links that lose packets.
    bool last = false;          // nothing more is to be sent there now
    bool acknowledges = false;  // the packet of this number, and all below in_order
    uint64_t number = 0, in_order = 0;
};

}  // namespace sim_net
