// SPDX-License-Identifier: Apache-2.0
#include "occupation.h"

#include <algorithm>

namespace sim_net
{

void Occupation::look(const std::vector<const gn_switch *> &switches, size_t jobs, uint64_t now_ns)
{
    looks_++;
    held_.assign(jobs, 0);
    for (size_t number = 0; number < switches.size(); number++) {
        const gn_switch &sw = *switches[number];
        for (unsigned index = 0; const gn_switch_job *job = gn_switch_job_at(&sw, index); index++) {
            gn_slot_status status;
            for (int at = 0; (at = gn_switch_waiting(&sw, index, static_cast<unsigned>(at), &status)) >= 0; at++) {
                holding_[{number, job->job, status.psn}] = {status.since_ns, looks_};
                held_[job->job - 1u]++;
                total_++;
            }
        }
    }
    for (auto i = holding_.begin(); i != holding_.end();) {
        if (i->second.look == looks_) {
            ++i;
            continue;
        }
        const uint64_t ended_ns = (last_ns_ + now_ns) / 2;  // between the looks
        times_ns_.push_back(ended_ns > i->second.since_ns ? ended_ns - i->second.since_ns : 0);
        i = holding_.erase(i);
    }
    last_ns_ = now_ns;
}

double Occupation::mean_held() const
{
    return looks_ ? static_cast<double>(total_) / static_cast<double>(looks_) : 0;
}

const std::vector<uint64_t> &Occupation::times_ns()
{
    std::sort(times_ns_.begin(), times_ns_.end());
    return times_ns_;
}

}  // namespace sim_net
