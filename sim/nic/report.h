// SPDX-License-Identifier: Apache-2.0
// What a simulation showed: figures of one direction, and the report as a table or as JSON.
#pragma once

#include "system.h"
#include "tools.h"

namespace sim
{

// The share of its time in which each part was busy, and which of them held up the rest.
struct Figures {
    double seconds;        // first beat offered to last one delivered, or lost
    double goodput;        // L4 payload that arrived, bit/s
    double plain_goodput;  // ... of the same frames on the link alone, untouched: no NIC without compression has more
    double link_rate;      // bit/s on the link, all that Ethernet adds counted
    double link_busy;      // of the time from its first frame to the last
    double link_ratio;     // bytes of the link's time that the frames would take untouched, and take
    double latency_ns[4];  // least, median, 99th percentile, most; NAN when nothing arrived
    double transmit_rate[2], receive_rate[2];  // beats per cycle in and out, while there were any
    double transmit_stalls, receive_stalls;    // of the cycles: a beat was offered and not taken
    double behind;  // of the time: by so much the host fell behind its pace; NAN when it has none
    double compressor_busy, decompressor_busy;
    double fifo_mean[2];
    const char *bottleneck;  // host, compressor, link or decompressor
};

Figures figures_of(const Direction &direction, const gn_sim_nic_options &options);

// The table and the JSON, as the options say. Throws std::runtime_error when it cannot be written.
void print_report(const Outcome &outcome, const gn_sim_nic_options &options, size_t directions, gn_result_file &file);

}  // namespace sim
