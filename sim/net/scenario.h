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

// Who sums a job's vectors. Each has a name in the file.
enum class Exchange { SWITCH, RING, GROUP_RING, DIRECT, AGGREGATOR, SERVERS };

constexpr uint64_t SEGMENT = 1448;  // bytes of values in a packet of TCP, with an MTU of 1500
constexpr uint64_t TCP_MORE = 24;   // bytes that its header, with a time stamp, is longer than that of UDP

// How ranks send values to each other, where no switch adds them.
struct PeerSetup {
    uint64_t group;            // ranks of a group (GROUP_RING)
    uint64_t payload_bytes;    // of values that travel as one packet
    uint64_t window_bytes;     // of values that a connection may have under way
    double ratio, ratio_back;  // by which NICs compress values, and their sums
    uint64_t engine_rate;      // of values that a NIC compresses, bit/s; 0: as fast as need be
    bool gather_first;         // an owner sends sums when it has all of its block
};

struct JobSetup {
    std::string name;
    uint64_t workers;
    Exchange exchange;
    PeerSetup peer;
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
    LinkSetup link, uplink;  // of hosts, between switches
    Mode mode;
    std::vector<uint64_t> tree;  // most children of a job at a switch: of a leaf, of a switch above, ... the root
    uint64_t own_levels;         // so many levels of switches, from the leaves on, have slots of a job's own
    uint64_t switch_slots, packet_values;
    gn_agg_format format;  // GN_AGG_INT32, or GN_AGG_HALF: all values travel in 16 bits
    uint64_t rto_min_ns;   // 0: 1 ms
    double limit_s;        // of simulated time
    uint64_t sample_ns;    // how often slots and progress are looked at; 0: never
    std::vector<JobSetup> jobs;

    // How the switches of a level share their slots.
    gn_memory_mode memory(size_t level) const { return level < own_levels ? GN_PARTITIONED : mode.memory; }
    // Whether a datagram may be lost.
    bool loses() const { return link.loss > 0 || uplink.loss > 0 || link.queue_bytes || uplink.queue_bytes; }
    // A worker's packet: its values, and what it takes of a link.
    uint64_t values_of_packet(const JobSetup &job) const;
    uint64_t packet_bytes(const JobSetup &job) const;
    uint64_t total_values() const;  // of all workers
    uint64_t value_bytes() const { return format == GN_AGG_HALF ? 2 : 4; }
};

// Reads what `root` says. An error names the field; `file` stands before it.
Scenario read_scenario(json_t *root, const std::string &file);

}  // namespace sim_net
