// SPDX-License-Identifier: Apache-2.0
// gn_counter_bank against an array of uint64_t: additions in every cycle, to one counter again and
// again or to any, past 2^32; snapshots at any time, read in between, while the counters go on;
// resets.
#include <array>
#include <deque>

#include "Vgn_counter_bank.h"

#include "tests/rtl/common/bench.h"

using bench::fail;

namespace
{

enum { COUNT = 16 };

class Bench
{
  public:
    explicit Bench(const bench::Options &o) : model_(o), random_{o.seed ^ 0xcb} { reset(); }

    void reset()
    {
        model_->rst = 1, model_->add_valid = 0, model_->snapshot = 0, model_->read_address = 0;
        model_.rise(), model_.rise();
        model_->rst = 0;
        now_.fill(0), taken_.fill(0), asked_.clear();
        for (unsigned n = 0; n < COUNT; n++, model_.rise())
            if (model_->ready) fail("ready before all counters can be 0");
        if (!model_->ready) fail("not ready %u cycles after reset", COUNT);
    }
    // busy: percent of cycles with an addition; few: to how many counters; often: one snapshot in
    // so many cycles
    void run(unsigned cycles, unsigned busy, unsigned few, unsigned often)
    {
        for (unsigned n = 0; n < cycles; n++) {
            const unsigned address = random_.below(few), amount = random_.below(1 << 17) | 0x10000;
            model_->add_valid = random_.percent(busy), model_->add_address = static_cast<uint8_t>(address);
            model_->add_amount = amount;
            model_->snapshot = random_.below(often) == 0;
            model_->read_address = static_cast<uint8_t>(random_.below(few));
            // a read is of the snapshot that stands in its cycle
            asked_.push_back(taken_.at(model_->read_address));
            if (model_->add_valid) now_.at(address) += amount, beyond += now_.at(address) >> 32 != 0;
            if (model_->snapshot) taken_ = now_, snapshots++;
            model_.rise();
            if (asked_.size() == 2) {
                if (model_->read_data != asked_.front())
                    fail("cycle %llu: a counter of the snapshot reads %llx, should be %llx",
                         (unsigned long long)model_.cycle(), (unsigned long long)model_->read_data,
                         (unsigned long long)asked_.front());
                asked_.pop_front();
            }
        }
    }
    uint64_t beyond = 0, snapshots = 0;

  private:
    bench::Model<Vgn_counter_bank> model_;
    bench::Random random_;
    std::array<uint64_t, COUNT> now_{}, taken_{};
    std::deque<uint64_t> asked_;
};

}  // namespace

int main(int argc, char **argv)
{
    Bench b(bench::options(argc, argv));
    b.run(1000, 0, COUNT, 10);
    b.run(200000, 100, 1, 7);
    b.run(200000, 100, 2, 30);
    b.run(200000, 50, COUNT, 3);
    b.reset();
    b.run(1000000, 100, COUNT, 50);
    printf("%llu additions above 2^32, %llu snapshots\n", (unsigned long long)b.beyond,
           (unsigned long long)b.snapshots);
    if (b.beyond < 100000) fail("too few additions above 2^32");
    return 0;
}
