// SPDX-License-Identifier: Apache-2.0
// What is simulated: links, a switch, jobs. It is read from a file of JSON (docs/sim-net.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gradnic/switch.h>
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

// How the switch shares its slots. Each has a name in the file.
struct Mode {
    const char *name;
    gn_memory_mode memory;
    gn_results results;
    gn_preempting preempting;
};

// A part of a gradient, which is summed as one vector.
struct Tensor {
    uint64_t values;
    uint64_t compute_ns;  // until it is there, after the one before
    uint64_t layer;       // that needs its sum in the next forward pass; 0: none of `forward_ns`
};

struct JobSetup {
    std::string name;
    uint64_t workers;
    uint64_t slots;         // chunks under way
    uint64_t first_window;  // chunks under way at first; 0: as many as slots
    bool auto_priority;     // as DSA says, from the job's times
    uint64_t priority;
    uint64_t start_ns;
    uint64_t straggle_ns;  // at most so much more compute time, for each worker and tensor
    uint64_t iterations;
    std::vector<Tensor> tensors;       // in the order in which they are computed and sent
    std::vector<uint64_t> forward_ns;  // of each layer, the first one first

    uint64_t values() const;  // of all tensors
};

struct Scenario {
    LinkSetup link;
    Mode mode;
    uint64_t switch_slots, packet_values;
    gn_agg_format format;  // GN_AGG_INT32, or GN_AGG_HALF: all values travel in 16 bits
    uint64_t rto_min_ns;   // 0: 1 ms
    double limit_s;        // of simulated time
    uint64_t sample_ns;    // how often slots and progress are looked at; 0: never
    std::vector<JobSetup> jobs;

    uint64_t value_bytes() const { return format == GN_AGG_HALF ? 2 : 4; }
};

// Reads what `root` says. An error names the field; `file` stands before it.
Scenario read_scenario(json_t *root, const std::string &file);

}  // namespace sim_net
