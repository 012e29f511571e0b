// SPDX-License-Identifier: Apache-2.0
// checksum against gn_checksum_add(): any bytes kept, ranges at any offset, any length, frames back
// to back, resets within them.
#include <deque>
#include <vector>

#include <gradnic/packet.h>

#include "Vgn_checksum.h"

#include "tests/rtl/common/bench.h"

using bench::fail;

namespace
{

constexpr unsigned BEAT = 32, LATENCY = 5;

class Bench
{
  public:
    explicit Bench(const bench::Options &o) : model_(o), random_{o.seed} { reset(); }

    // The bytes [from, to) of a frame that is as long as it need be, and some of those left out.
    void frame(size_t from, size_t to, unsigned holes, unsigned idle, bool ones)
    {
        std::vector<uint8_t> bytes((to + BEAT - 1) / BEAT * BEAT + (to ? 0 : BEAT)), kept(bytes.size());
        for (uint8_t &b : bytes) b = ones ? 0xff : static_cast<uint8_t>(random_.next());
        if (!ones && random_.percent(3)) std::fill(bytes.begin(), bytes.end(), 0);
        const uint16_t more = ones ? 0xffff : random_.percent(30) ? 0 : static_cast<uint16_t>(random_.next());
        for (size_t at = 0; at < bytes.size(); at += BEAT) {
            while (random_.percent(idle)) step(false);
            uint32_t keep = 0;
            for (size_t i = at; i < at + BEAT; i++) {
                if (i < from || i >= to || random_.percent(holes)) continue;
                keep |= 1u << (i - at);
                kept[i] = bytes[i];
            }
            memcpy(&model_->s_data[0], &bytes[at], BEAT);
            model_->s_keep = keep;
            model_->s_last = at + BEAT == bytes.size();
            // only the last beat's count
            model_->s_odd = model_->s_last ? from & 1 : random_.next() & 1;
            model_->s_more = model_->s_last ? more : static_cast<uint16_t>(random_.next());
            if (model_->s_last)
                expected_.push_back({gn_checksum_add(more, kept.data() + from, to - from), model_.cycle() + LATENCY});
            step(true);
        }
    }
    void drain()
    {
        for (unsigned i = 0; i < 20; i++) step(false);
        if (!expected_.empty()) fail("cycle %llu: a sum does not come", (unsigned long long)model_.cycle());
    }
    void reset()
    {
        model_->rst = 1;
        for (unsigned i = 1 + random_.below(3); i; i--) model_->s_valid = random_.next() & 1, model_.rise();
        model_->rst = 0, model_->s_valid = 0;
        expected_.clear();
    }
    // A beat of a frame that a reset ends.
    void beat()
    {
        model_->s_keep = ~0u, model_->s_last = 0;
        step(true);
    }
    size_t sums = 0;

  private:
    struct Sum {
        uint32_t sum;
        uint64_t cycle;
    };

    void step(bool valid)
    {
        model_->s_valid = valid;
        if (model_->m_valid) {
            if (expected_.empty()) fail("cycle %llu: a sum that nobody asked for", (unsigned long long)model_.cycle());
            const Sum e = expected_.front();
            expected_.pop_front();
            if (model_->m_sum != e.sum || model_.cycle() != e.cycle)
                fail("sum %zu is %04x in cycle %llu, should be %04x in cycle %llu", sums, model_->m_sum,
                     (unsigned long long)model_.cycle(), e.sum, (unsigned long long)e.cycle);
            sums++;
        }
        model_.rise();
    }

    bench::Model<Vgn_checksum> model_;
    bench::Random random_;
    std::deque<Sum> expected_;
};

}  // namespace

int main(int argc, char **argv)
{
    const bench::Options o = bench::options(argc, argv);
    bench::Random random{o.seed ^ 0xc5};
    Bench b(o);
    // every range of two beats; then random ones, with bytes left out, with pauses
    for (unsigned from = 0; from < 2 * BEAT; from++)
        for (unsigned to = from; to <= 2 * BEAT; to++) b.frame(from, to, 0, 0, false);
    for (unsigned n = 0; n < 4000; n++) {
        const unsigned from = random.below(100);
        b.frame(from, from + random.below(n % 50 ? 300 : 70000), n % 3 * 40, n % 4 * 20, n % 7 == 0);
        if (n % 100 == 99) {
            b.drain();
            for (unsigned i = n % 9; i; i--) b.beat();
            b.reset();
        }
    }
    b.drain();
    printf("%zu sums\n", b.sums);
    return 0;
}
