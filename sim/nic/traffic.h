// SPDX-License-Identifier: Apache-2.0
// What a host sends: frames made of gradients, or those of a capture.
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

// Throws std::runtime_error with a message that names the file, and the frame where there is one.
Traffic load_traffic(const gn_sim_nic_options &options);
// The other host's answer in kind: gradients with the addresses exchanged; a capture as it is.
Traffic turned(const Traffic &traffic);

}  // namespace sim
