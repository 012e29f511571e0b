// SPDX-License-Identifier: Apache-2.0
#include "schedule.h"

#include <algorithm>

#include <gradnic/worker.h>

#include "link.h"

namespace sim_net
{

Schedule::Schedule(const JobSetup &job, const LinkSetup &link, uint64_t packet_bytes, uint64_t packet_values,
                   uint64_t seed)
    : job_(job), random_(seed), ready_ns_(job.tensors.size()), done_ns_(job.tensors.size())
{
    const double packets = static_cast<double>(job.values()) / static_cast<double>(packet_values);
    communication_ns_ = packets * static_cast<double>(packet_bytes) * 8e9 / static_cast<double>(link.rate);
    computation_ns_ = 0;
    for (const Tensor &tensor : job.tensors)
        computation_ns_ += static_cast<double>(tensor.compute_ns) + static_cast<double>(job.straggle_ns) / 2;
    for (const uint64_t ns : job.forward_ns) computation_ns_ += static_cast<double>(ns);
    begin(job.start_ns);
}

void Schedule::begin(uint64_t now_ns)
{
    for (size_t i = 0; i < ready_ns_.size(); i++) {
        const double straggles = uniform(random_) * static_cast<double>(job_.straggle_ns);
        now_ns += job_.tensors[i].compute_ns + static_cast<uint64_t>(straggles);
        ready_ns_[i] = now_ns;
    }
    tensor_ = 0;
    next_ns_ = ready_ns_[0];
}

// A layer's pass begins when those before it are over and its own sums are there.
uint64_t Schedule::forward() const
{
    uint64_t now_ns = 0;
    if (job_.forward_ns.empty()) return done_ns_.back();
    for (size_t layer = 0; layer < job_.forward_ns.size(); layer++) {
        for (size_t i = 0; i < done_ns_.size(); i++)
            if (job_.tensors[i].layer == layer + 1) now_ns = std::max(now_ns, done_ns_[i]);
        now_ns += job_.forward_ns[layer];
    }
    return now_ns;
}

void Schedule::done(uint64_t now_ns)
{
    done_ns_[tensor_++] = now_ns;
    if (tensor_ < ready_ns_.size()) {
        next_ns_ = std::max(now_ns, ready_ns_[tensor_]);
        return;
    }
    end_ns_ = forward();
    if (++iteration_ < job_.iterations) begin(end_ns_);
}

// The paper's P, with T in milliseconds: what the whole job would still take if it had the links
// alone, and at least 50 us.
uint16_t Schedule::priority(uint64_t now_ns) const
{
    if (!job_.auto_priority) return static_cast<uint16_t>(job_.priority);
    const double whole = static_cast<double>(job_.iterations) * (communication_ns_ + computation_ns_);
    const double left_ms = std::max((whole - static_cast<double>(now_ns - job_.start_ns)) * 1e-6, 0.05);
    const unsigned layers = std::max<unsigned>(static_cast<unsigned>(job_.forward_ns.size()), 1);
    const unsigned layer = std::max<unsigned>(static_cast<unsigned>(job_.tensors[tensor_].layer), 1);
    return gn_priority(left_ms, layers, layer, communication_ns_, computation_ns_);
}

}  // namespace sim_net
