// SPDX-License-Identifier: Apache-2.0
// gn_frame_store: what goes in is found there by both readers, in order, until it is freed; of bad
// and too long frames only that they came, in their turn; a full ring waits; a beat a cycle;
// resets. Built with a ring of 16 beats.
#include <array>
#include <deque>
#include <vector>

#include "Vgn_frame_store.h"

#include "tests/rtl/common/bench.h"

using bench::fail;

namespace
{

enum { RING = 16, LATENCY = 2 };
using Beat = std::array<uint32_t, 8>;

struct Sent {
    std::vector<Beat> beats;
    uint32_t info;
    bool bad, gone;
};

class Bench
{
  public:
    explicit Bench(const bench::Options &o) : model_(o), random_{o.seed} { reset(); }

    // `take`: percent of cycles in which the reader goes on; 0: it never frees anything
    void run(unsigned cycles, unsigned idle, unsigned take, unsigned longest)
    {
        for (unsigned n = 0; n < cycles; n++) step(idle, take, longest);
    }
    // No cycle is lost while there is room.
    void full_rate()
    {
        finish();
        const uint64_t before = beats_in;
        run(RING - 1, 0, 0, 3);
        if (beats_in - before != RING - 1)
            fail("%llu beats in %d cycles", (unsigned long long)(beats_in - before), RING - 1);
        finish();
    }
    void finish()
    {
        unsigned limit = 20000;
        while (!inside_.empty() || !open_.beats.empty() || reading_ != Reading::NONE) {
            step(open_.beats.empty() ? 100 : 0, 100, 1);
            if (!limit--) fail("cycle %llu: frames stay inside", cycle());
        }
        for (unsigned i = 0; i < 20; i++) step(100, 100, 1);
        if (bad_pulses != bad || long_pulses != too_long)
            fail("%zu bad and %zu long frames dropped, should be %zu and %zu", bad_pulses, long_pulses, bad, too_long);
    }
    void reset()
    {
        model_->rst = 1;
        for (unsigned i = 1 + random_.below(3); i; i--) {  // a frame may end in it, well or badly
            model_->s_axis_tvalid = random_.next() & 1, model_->s_axis_tlast = random_.next() & 1;
            model_->s_bad = random_.next() & 1, model_->m_ready = random_.next() & 1;
            model_.rise();
        }
        model_->rst = 0, model_->s_axis_tvalid = 0, model_->m_ready = 0, model_->free_beats = 0;
        inside_.clear(), open_ = {}, sent_ = 0, offered_ = false, reading_ = Reading::NONE, to_free_ = 0;
        bad_pulses = bad, long_pulses = too_long;
    }
    uint64_t beats_in = 0;
    size_t frames = 0, bad = 0, too_long = 0, bad_pulses = 0, long_pulses = 0;

  private:
    enum class Reading { NONE, BEATS };

    unsigned long long cycle() const { return model_.cycle(); }

    void step(unsigned idle, unsigned take, unsigned longest)
    {
        offer(idle, longest);
        read(take);
        model_.settle();
        bad_pulses += model_->dropped_bad, long_pulses += model_->dropped_long;
        if (model_->s_axis_tvalid && model_->s_axis_tready) accepted();
        if (model_->m_valid && model_->m_ready) begin();
        model_.rise();
    }

    void offer(unsigned idle, unsigned longest)
    {
        if (!offered_ && !random_.percent(idle)) {
            if (open_.beats.empty()) {
                open_.beats.resize(1 + random_.below(longest));
                for (Beat &b : open_.beats)
                    for (uint32_t &w : b) w = static_cast<uint32_t>(random_.next());
                open_.info = static_cast<uint32_t>(random_.next());
                open_.bad = random_.percent(20);
                sent_ = 0;
            }
            memcpy(&model_->s_axis_tdata[0], open_.beats[sent_].data(), sizeof(Beat));
            model_->s_axis_tlast = sent_ + 1 == open_.beats.size();
            model_->s_bad = model_->s_axis_tlast ? open_.bad : random_.next() & 1;
            model_->s_info = model_->s_axis_tlast ? open_.info : static_cast<uint32_t>(random_.next());
            offered_ = true;
        }
        model_->s_axis_tvalid = offered_;
    }
    void accepted()
    {
        offered_ = false, beats_in++;
        if (++sent_ < open_.beats.size()) return;
        const bool long_one = open_.beats.size() > RING;
        bad += open_.bad, too_long += long_one && !open_.bad;
        open_.gone = open_.bad || long_one;
        inside_.push_back(open_);
        open_ = {};
    }

    // One frame at a time: its beats in any order, twice; then it is freed, in two portions.
    void begin()
    {
        if (inside_.empty()) fail("cycle %llu: a frame that nobody sent", cycle());
        if (model_->m_gone != inside_.front().gone)
            fail("frame %zu: %s, should be otherwise", frames, model_->m_gone ? "gone" : "there");
        if (model_->m_gone) {
            inside_.pop_front();
            return;
        }
        if (model_->m_info != inside_.front().info)
            fail("frame %zu: info %08x, should be %08x", frames, model_->m_info, inside_.front().info);
        first_ = model_->m_first;
        reading_ = Reading::BEATS;
        reads_ = 2 * inside_.front().beats.size();
    }
    void read(unsigned take)
    {
        model_->free_beats = 0;
        if (to_free_) {
            const unsigned n = 1 + random_.below(to_free_);
            model_->free_beats = static_cast<unsigned short>(n), to_free_ -= n;
        }
        for (int port = 0; port < 2; port++) {  // what was asked for two cycles ago
            auto &queue = asked_[port];
            if (queue.empty() || queue.front().cycle + LATENCY != cycle()) continue;
            const uint32_t *data = port ? &model_->b_data[0] : &model_->a_data[0];
            if (memcmp(data, queue.front().beat.data(), sizeof(Beat)))
                fail("frame %zu, reader %d: not the beat that went in", frames, port);
            queue.pop_front();
        }
        model_->m_ready = 0;
        if (!random_.percent(take)) return;
        if (reading_ == Reading::NONE) {
            model_->m_ready = 1;
            return;
        }
        const std::vector<Beat> &beats = inside_.front().beats;
        for (int port = 0; port < 2; port++) {
            const unsigned i = reads_ <= beats.size() ? static_cast<unsigned>(beats.size() - reads_)
                                                      : random_.below(static_cast<uint32_t>(beats.size()));
            (port ? model_->b_address : model_->a_address) = (first_ + i) % RING;
            asked_[port].push_back({cycle(), beats[i]});
        }
        if (take == 100 && reads_ > beats.size()) reads_ = beats.size();  // in a hurry
        if (--reads_) return;
        to_free_ += static_cast<unsigned>(beats.size());
        inside_.pop_front(), frames++;
        reading_ = Reading::NONE;
    }

    struct Asked {
        uint64_t cycle;
        Beat beat;
    };
    bench::Model<Vgn_frame_store> model_;
    bench::Random random_;
    std::deque<Sent> inside_;
    Sent open_{};
    size_t sent_ = 0, reads_ = 0;
    unsigned first_ = 0, to_free_ = 0;
    bool offered_ = false;
    Reading reading_ = Reading::NONE;
    std::deque<Asked> asked_[2];
};

}  // namespace

int main(int argc, char **argv)
{
    const bench::Options o = bench::options(argc, argv);
    bench::Random random{o.seed ^ 0xf5};
    Bench b(o);
    for (unsigned round = 0; round < 60; round++) {
        for (unsigned longest : {1u, 3u, 16u, 17u, 50u}) {
            b.run(300, random.below(3) * 30, 20 + random.below(5) * 20, longest);
            b.run(200, 0, 0, longest);  // until it is full
        }
        b.full_rate();
        b.run(random.below(100), 20, 50, 20);
        b.reset();
    }
    printf("%zu frames, %zu bad, %zu too long\n", b.frames, b.bad, b.too_long);
    if (b.bad < 1000 || b.too_long < 200) fail("not every kind of frame was met");
    return 0;
}
