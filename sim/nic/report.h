// SPDX-License-Identifier: Apache-2.0
// The results of a simulation: figures of one direction, and the report as a table or as JSON.
#pragma once

#include "system.h"
#include "tools.h"

namespace sim
{

// Figures of one direction. Goodput and rates are in bit/s, and shares are from 0 to 1.
struct Figures {
    double seconds;        // first beat offered to last beat delivered, or lost
    double goodput;        // L4 payload that arrived
    double plain_goodput;  // of the same frames on the link alone, untouched: the most without a NIC
    double link_rate;      // on the link, with all that Ethernet adds
    double link_busy;      // share of the time from the link's first frame to its last
    double link_ratio;     // the frames' time on the link: untouched over compressed
    double latency_ns[4];  // least, median, 99th percentile, most; NAN when nothing arrived
    // Beats per cycle in and out, while there were any.
    double transmit_rate[2], receive_rate[2];
    // Shares of the cycles in which a beat was offered and not taken.
    double transmit_stalls, receive_stalls;
    double behind;  // share of the time by which the host fell behind its pace; NAN without a pace
    double compressor_busy, decompressor_busy;
    double fifo_mean[2];
    const char *bottleneck;  // what held up the rest: host, compressor, link, decompressor
};

Figures figures_of(const Direction &direction, const gn_sim_nic_options &options);

// The table and the JSON, as the options say. Throws std::runtime_error when it cannot be written.
void print_report(const Outcome &outcome, const gn_sim_nic_options &options, size_t directions, gn_result_file &file);

}  // namespace sim
