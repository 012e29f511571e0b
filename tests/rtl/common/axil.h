// SPDX-License-Identifier: Apache-2.0
// Drives a port s_axil_* (AXI4-Lite, 32 bits): a queue of writes and a queue of reads, every
// channel with random gaps of its own, the protocol's rules watched in every cycle.
#pragma once

#include <deque>
#include <functional>

#include "bench.h"

namespace bench
{

enum { AXIL_OKAY = 0, AXIL_SLVERR = 2 };

template <class Top> class Axil
{
  public:
    Axil(Top &model, uint64_t seed) : model_(model), random_{seed ^ 0xa11} { reset(); }

    unsigned idle = 0;   // percent of cycles in which a channel of the master's has nothing
    unsigned stall = 0;  // percent of cycles in which an answer is not taken

    void write(uint32_t address, uint32_t data, unsigned strobes, std::function<void(unsigned)> done)
    {
        addresses_.push_back(address), data_.push_back({data, strobes}), writes_.push_back(std::move(done));
    }
    void read(uint32_t address, std::function<void(uint32_t, unsigned)> done)
    {
        asked_.push_back(address), reads_.push_back(std::move(done));
    }
    bool busy() const { return !writes_.empty() || !reads_.empty(); }

    // At a reset of the block, all that was under way is forgotten.
    void reset()
    {
        addresses_.clear(), data_.clear(), writes_.clear(), asked_.clear(), reads_.clear();
        aw_ = w_ = ar_ = b_held_ = r_held_ = false;
        drive();
    }

    // Before a cycle's eval(): what the master says.
    void drive()
    {
        aw_ = aw_ || (!addresses_.empty() && !random_.percent(idle));
        w_ = w_ || (!data_.empty() && !random_.percent(idle));
        ar_ = ar_ || (!asked_.empty() && !random_.percent(idle));
        model_.s_axil_awvalid = aw_, model_.s_axil_wvalid = w_, model_.s_axil_arvalid = ar_;
        const uint32_t noise = static_cast<uint32_t>(random_.next());
        model_.s_axil_awaddr = static_cast<uint16_t>((aw_ ? addresses_.front() : noise) & 0xfff);
        model_.s_axil_wdata = w_ ? data_.front().first : noise;
        model_.s_axil_wstrb = static_cast<uint8_t>((w_ ? data_.front().second : noise) & 0xf);
        model_.s_axil_araddr = static_cast<uint16_t>((ar_ ? asked_.front() : noise) & 0xfff);
        model_.s_axil_bready = !random_.percent(stall), model_.s_axil_rready = !random_.percent(stall);
    }
    // After it: what has been handed over.
    void sample()
    {
        if (aw_ && model_.s_axil_awready) addresses_.pop_front(), aw_ = false;
        if (w_ && model_.s_axil_wready) data_.pop_front(), w_ = false;
        if (ar_ && model_.s_axil_arready) asked_.pop_front(), ar_ = false;
        const uint32_t b = model_.s_axil_bresp;
        const uint64_t r = static_cast<uint64_t>(model_.s_axil_rresp) << 32 | model_.s_axil_rdata;
        if (b_held_ && (!model_.s_axil_bvalid || b != b_)) fail("a write's answer changes before it is taken");
        if (r_held_ && (!model_.s_axil_rvalid || r != r_)) fail("a read's answer changes before it is taken");
        b_held_ = model_.s_axil_bvalid && !model_.s_axil_bready,
        r_held_ = model_.s_axil_rvalid && !model_.s_axil_rready;
        b_ = b, r_ = r;
        if (model_.s_axil_bvalid && model_.s_axil_bready) {
            if (writes_.size() <= std::max(addresses_.size(), data_.size()))
                fail("an answer to a write that is not whole");
            const auto done = std::move(writes_.front());
            writes_.pop_front();
            if (done) done(b);
        }
        if (model_.s_axil_rvalid && model_.s_axil_rready) {
            if (reads_.size() <= asked_.size()) fail("an answer that nobody asked for");
            const auto done = std::move(reads_.front());
            reads_.pop_front();
            if (done) done(model_.s_axil_rdata, model_.s_axil_rresp);
        }
    }

  private:
    Top &model_;
    Random random_;
    std::deque<uint32_t> addresses_, asked_;
    std::deque<std::pair<uint32_t, unsigned>> data_;
    std::deque<std::function<void(unsigned)>> writes_;
    std::deque<std::function<void(uint32_t, unsigned)>> reads_;
    bool aw_ = false, w_ = false, ar_ = false, b_held_ = false, r_held_ = false;
    uint32_t b_ = 0;
    uint64_t r_ = 0;
};

}  // namespace bench
