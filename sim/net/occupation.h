// SPDX-License-Identifier: Apache-2.0
// How full the switch's memory is, and how long chunks hold their slots. It looks at all slots from
// time to time. So a chunk that comes and goes between two looks is not seen.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include <gradnic/switch.h>

namespace sim_net
{

class Occupation
{
  public:
    // At some switches, where jobs have numbers from 1 on.
    void look(const std::vector<const gn_switch *> &switches, size_t jobs, uint64_t now_ns);
    size_t looks() const { return looks_; }
    // Slots that were held, on average over all looks.
    double mean_held() const;
    const std::vector<uint64_t> &held_now() const { return held_; }  // by job
    // Times that chunks held a slot, the shortest first. Those that still hold one do not count.
    const std::vector<uint64_t> &times_ns();

  private:
    struct Holding {
        uint64_t since_ns, look;  // since when, the last look that saw it
    };
    std::map<std::tuple<size_t, uint16_t, uint32_t>, Holding> holding_;  // by switch, job and psn
    std::vector<uint64_t> held_, times_ns_;
    uint64_t looks_ = 0, total_ = 0, last_ns_ = 0;
};

}  // namespace sim_net
