// SPDX-License-Identifier: Apache-2.0
// The blocks of rtl/lib: order, nothing lost or made, a word stays until it is taken, full rate,
// reset, and places counted right.
#include <deque>

#include "Vlib.h"

#include "tests/rtl/common/bench.h"

using bench::fail;

namespace
{

// One path through a block: what has gone in and must come out.
struct Path {
    const char *name;
    std::deque<uint32_t> inside;
    bool held = false;
    uint32_t held_data = 0;
    uint64_t in = 0, out = 0;

    void check(bool valid, bool ready, uint32_t data, uint64_t cycle)
    {
        if (held && (!valid || data != held_data))
            fail("%s, cycle %llu: a word changes before it is taken", name, (unsigned long long)cycle);
        held = valid && !ready, held_data = data;
        if (!valid || !ready) return;
        if (inside.empty() || inside.front() != data)
            fail("%s, cycle %llu: word %llu is %08x, should be %08x%s", name, (unsigned long long)cycle,
                 (unsigned long long)out, data, inside.empty() ? 0 : inside.front(), inside.empty() ? " (none)" : "");
        inside.pop_front();
        out++;
    }
    void put(uint32_t data) { inside.push_back(data), in++; }
    void reset() { inside.clear(), held = false; }
};

class Bench
{
  public:
    explicit Bench(const bench::Options &o) : model_(o), random_{o.seed} { reset(); }

    void run(unsigned cycles, unsigned idle, unsigned stall)
    {
        for (unsigned n = 0; n < cycles; n++) step(idle, stall);
    }
    // At full rate no cycle may be lost.
    void full_rate()
    {
        const uint64_t before[] = {skid_.out, one_.out, two_.out};
        run(1000, 0, 0);
        const uint64_t now[] = {skid_.out, one_.out, two_.out};
        for (int i = 0; i < 3; i++)
            if (now[i] - before[i] < 990)
                fail("path %d gives %llu words in 1000 cycles", i, (unsigned long long)(now[i] - before[i]));
    }
    void empty()
    {
        run(60, 100, 0);
        if (!skid_.inside.empty() || !one_.inside.empty() || !two_.inside.empty()) fail("words stay inside for ever");
        if (!model_->one_idle || !model_->two_idle) fail("an empty FIFO has places taken");
    }
    // With nothing taken, a FIFO fills up to its places and no more; that for two words counts
    // late, and keeps two places more in reserve.
    void fill()
    {
        run(100, 0, 100);
        if (one_.inside.size() != 17 || two_.inside.size() < 14 || two_.inside.size() > 17)
            fail("17 places hold %zu and %zu words", one_.inside.size(), two_.inside.size());
    }
    void reset()
    {
        model_->rst = 1;
        model_->skid_s_valid = model_->one_s_valid = 0;
        model_->two_s_count = 0;
        model_->skid_m_ready = model_->one_m_ready = model_->two_m_ready = 1;
        model_.rise();
        // what came then would be lost if the reset went on
        if (model_->skid_s_ready || model_->one_s_ready || model_->two_s_ready)
            fail("something is ready in the cycle behind a reset");
        model_->rst = 0;
        skid_.reset(), one_.reset(), two_.reset();
        skid_offered_ = one_offered_ = false;
        model_.rise();
        model_.rise();
    }
    void keeps()
    {
        for (unsigned n = 0; n <= 32; n++) {
            model_->keep = n == 32 ? ~0u : (1u << n) - 1;
            model_.rise();
            if (model_->keep_bytes != n) fail("gn_keep_count: %08x is %u bytes", model_->keep, model_->keep_bytes);
        }
    }

  private:
    uint32_t word() { return static_cast<uint32_t>(random_.next()); }

    void step(unsigned idle, unsigned stall)
    {
        if (!skid_offered_ && !random_.percent(idle)) model_->skid_s_data = word(), skid_offered_ = true;
        if (!one_offered_ && !random_.percent(idle)) model_->one_s_data = word(), one_offered_ = true;
        model_->skid_s_valid = skid_offered_, model_->one_s_valid = one_offered_;
        model_->two_s_count =
            random_.percent(idle) ? 0 : static_cast<unsigned char>(idle ? random_.below(3) : 1 + random_.below(2));
        model_->two_s_first = word(), model_->two_s_second = word();
        model_->skid_m_ready = !random_.percent(stall), model_->one_m_ready = !random_.percent(stall),
        model_->two_m_ready = !random_.percent(stall);
        model_.settle();

        skid_.check(model_->skid_m_valid, model_->skid_m_ready, model_->skid_m_data, model_.cycle());
        one_.check(model_->one_m_valid, model_->one_m_ready, model_->one_m_data, model_.cycle());
        two_.check(model_->two_m_valid, model_->two_m_ready, model_->two_m_data, model_.cycle());
        if (skid_offered_ && model_->skid_s_ready) skid_.put(model_->skid_s_data), skid_offered_ = false;
        if (one_offered_ && model_->one_s_ready) one_.put(model_->one_s_data), one_offered_ = false;
        for (unsigned i = 0; model_->two_s_ready && i < model_->two_s_count; i++)
            two_.put(i ? model_->two_s_second : model_->two_s_first);
        model_.rise();
    }

    bench::Model<Vlib> model_;
    bench::Random random_;
    Path skid_{"gn_skid_buffer"}, one_{"gn_credit_fifo"}, two_{"gn_pair_fifo"};
    bool skid_offered_ = false, one_offered_ = false;
};

}  // namespace

int main(int argc, char **argv)
{
    Bench b(bench::options(argc, argv));
    b.keeps();
    for (unsigned round = 0; round < 20; round++) {
        b.full_rate();
        b.empty();
        b.fill();
        b.empty();
        for (unsigned idle : {0, 30, 80})
            for (unsigned stall : {0, 30, 80}) b.run(1000, idle, stall);
        b.reset();
        b.run(round, 20, 50);
        b.reset();
        b.empty();
    }
    return 0;
}
