// SPDX-License-Identifier: Apache-2.0
// What is simulated: links, a switch, jobs. It is read from a file of JSON (docs/sim-net.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gradnic/aggregate.h>
#include <jansson.h>

namespace sim_net
{

// Every link, in either direction.
struct LinkSetup {
    uint64_t rate;                    // bit/s
    uint64_t delay_ns;                // of a bit
    uint64_t queue_bytes, ecn_bytes;  // 0: no limit, no marks
    uint64_t overhead_bytes;          // of the link's time, for each datagram
    double loss;                      // probability
};

struct JobSetup {
    std::string name;
    uint64_t workers, values, vectors;
    uint64_t slots;  // chunks under way
    uint64_t priority;
    uint64_t start_ns;
    uint64_t compute_ns;   // before each vector
    uint64_t straggle_ns;  // at most so much more, for each worker and vector
};

struct Scenario {
    LinkSetup link;
    gn_memory_mode mode;
    uint64_t switch_slots, packet_values;
    uint64_t rto_min_ns;  // 0: 1 ms
    double limit_s;       // of simulated time
    std::vector<JobSetup> jobs;
};

// Reads what `root` says. An error names the field; `file` stands before it.
Scenario read_scenario(json_t *root, const std::string &file);

const char *mode_name(gn_memory_mode mode);

}  // namespace sim_net
