// SPDX-License-Identifier: Apache-2.0
// The frames that a host sends: made of gradients, or those of a capture.
#pragma once

#include "ethernet.h"
#include "tools.h"

namespace sim
{

struct Traffic {
    struct Frame {
        Bytes bytes;
        uint64_t stamp_ps;  // in a capture, after its first frame
    };
    std::vector<Frame> frames;
    bool capture = false;
};

// Throws std::runtime_error with a message that names the file, and the frame if there is one.
Traffic load_traffic(const gn_sim_nic_options &options);
// The traffic of the other host: gradients with the addresses exchanged, or the same capture.
Traffic turned(const Traffic &traffic);

}  // namespace sim
