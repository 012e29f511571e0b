// SPDX-License-Identifier: Apache-2.0
// gn_byte_realign: every range of three beats and longer ones, back to back and with pauses, as
// many beats as the bytes need, resets within.
#include <deque>
#include <vector>

#include "Vgn_byte_realign.h"

#include "tests/rtl/common/bench.h"

using bench::fail;

namespace
{

constexpr unsigned BEAT = 32;

class Bench
{
  public:
    explicit Bench(const bench::Options &o) : model_(o), random_{o.seed} { reset(); }

    // The bytes [from, to) of some beats; from lies in the first, to - 1 in the last.
    void range(unsigned from, unsigned to, unsigned idle)
    {
        const unsigned beats = (to + BEAT - 1) / BEAT;
        std::vector<uint8_t> bytes(beats * BEAT);
        for (uint8_t &b : bytes) b = static_cast<uint8_t>(random_.next());
        expected_.emplace_back(bytes.begin() + from, bytes.begin() + to);
        for (unsigned n = 0; n < beats; n++) {
            while (random_.percent(idle)) step(false);
            memcpy(&model_->s_data[0], &bytes[n * BEAT], BEAT);
            model_->s_from = from;
            model_->s_first = n == 0, model_->s_last = n + 1 == beats;
            // only the last beat's counts
            model_->s_to = n + 1 == beats ? to - n * BEAT : random_.below(64);
            step(true);
        }
    }
    void drain()
    {
        for (unsigned i = 0; i < 10; i++) step(false);
        if (!expected_.empty()) fail("cycle %llu: a range does not come out", (unsigned long long)model_.cycle());
    }
    // A range that has begun, and a reset.
    void cut(unsigned beats)
    {
        for (unsigned n = 0; n < beats; n++) {
            model_->s_from = 5, model_->s_to = 32, model_->s_first = n == 0, model_->s_last = 0;
            model_->s_valid = 1;
            model_.rise();
        }
        reset();
        drain();
    }
    size_t ranges = 0;

  private:
    void reset()
    {
        model_->rst = 1;
        for (unsigned i = 1 + random_.below(3); i; i--) model_->s_valid = random_.next() & 1, model_.rise();
        model_->rst = 0, model_->s_valid = 0;
        expected_.clear(), got_.clear();
    }
    void step(bool valid)
    {
        model_->s_valid = valid;
        if (model_->m_valid) {
            const uint8_t *data = reinterpret_cast<const uint8_t *>(&model_->m_data[0]);
            const unsigned bytes = model_->m_bytes;
            if (!bytes || bytes > BEAT || (bytes < BEAT && !model_->m_last)) fail("range %zu: %u bytes", ranges, bytes);
            got_.insert(got_.end(), data, data + bytes);
            if (model_->m_last) {
                if (expected_.empty() || got_ != expected_.front())
                    fail("range %zu of %zu bytes is not what went in", ranges, got_.size());
                expected_.pop_front(), got_.clear(), ranges++;
            }
        }
        model_.rise();
    }

    bench::Model<Vgn_byte_realign> model_;
    bench::Random random_;
    std::deque<std::vector<uint8_t>> expected_;
    std::vector<uint8_t> got_;
};

}  // namespace

int main(int argc, char **argv)
{
    const bench::Options o = bench::options(argc, argv);
    bench::Random random{o.seed ^ 0xa1};
    Bench b(o);
    for (unsigned from = 0; from < BEAT; from++)
        for (unsigned to = from + 1; to <= 3 * BEAT; to++) b.range(from, to, 0);
    b.drain();
    for (unsigned n = 0; n < 20000; n++) {
        const unsigned from = random.below(BEAT);
        b.range(from, from + 1 + random.below(n % 5 ? 100 : 1500), n / 1000 % 3 * 30);
        if (n % 500 == 499) b.drain(), b.cut(n / 500 % 6);
    }
    b.drain();
    printf("%zu ranges\n", b.ranges);
    return 0;
}
