// SPDX-License-Identifier: Apache-2.0
// The time line of a job, or of one of its slots: each packet on each link, as CSV.
#pragma once

#include "scenario.h"
#include "tools.h"
#include "watcher.h"

namespace sim_net
{

class Timeline : public Watcher
{
  public:
    // Of the job and slot that the options name, and of what is sent in their span.
    Timeline(const Scenario &scenario, const gn_sim_net_options &options);
    void see(const Ends &ends, const Hop &hop, const Datagram &datagram) override;
    // A header, then a row a packet and link, in the order in which packets were sent.
    const std::string &csv() const { return csv_; }

  private:
    uint16_t job_ = 0;  // its number in packets
    const int64_t slot_;
    const uint64_t from_ns_, until_ns_;
    size_t rows_ = 0;
    std::string csv_;
};

}  // namespace sim_net
