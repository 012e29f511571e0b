// SPDX-License-Identifier: Apache-2.0
// gn_result_store: frames in, never refused; what fits its reservation and is not bad is found
// there until it is freed, with its length and sum; of others nothing stays. Reservations wait for
// room and never for more than that. Built with a ring of 16 beats.
#include <deque>
#include <vector>

#include <gradnic/packet.h>

#include "Vgn_result_store.h"

#include "tests/rtl/common/bench.h"

using bench::fail;

namespace
{

enum { RING = 16, BEAT = 32, LATENCY = 2 };
using Bytes = std::vector<uint8_t>;

struct Result {
    Bytes bytes;
    unsigned limit;
    bool bad;
    bool kept() const { return !bad && bytes.size() <= limit; }
};

class Bench
{
  public:
    explicit Bench(const bench::Options &o) : model_(o), random_{o.seed} { reset(); }

    void run(unsigned cycles, unsigned idle, unsigned take)
    {
        for (unsigned n = 0; n < cycles; n++) step(idle, take, true);
    }
    void finish()
    {
        unsigned limit = 5000;
        while (!waiting_.empty() || !ended_.empty() || reading_ || reserving_) {
            step(0, 100, false);
            if (!limit--) fail("cycle %llu: frames stay inside", cycle());
        }
        for (unsigned i = 0; i < 10; i++) step(0, 100, false);
        // all room is back: one frame may have it all
        model_->reserve_bytes = RING * BEAT, model_->reserve_valid = 1;
        for (limit = 0; !model_->reserve_ready; limit++) {
            if (limit > 10) fail("cycle %llu: not all room came back", cycle());
            model_.rise();
        }
        model_.rise();
        reset();
    }
    void reset()
    {
        model_->rst = 1;
        for (unsigned i = 1 + random_.below(3); i; i--)
            model_->s_valid = random_.next() & 1, model_->s_last = 0, model_.rise();
        model_->rst = 0, model_->s_valid = 0, model_->m_ready = 0, model_->free_beats = 0, model_->reserve_valid = 0;
        waiting_.clear(), ended_.clear(), asked_.clear();
        reserving_ = reading_ = false, sent_ = 0, to_free_ = 0, used_ = 0;
    }
    size_t kept = 0, not_kept = 0;

  private:
    unsigned long long cycle() const { return model_.cycle(); }

    void step(unsigned idle, unsigned take, bool more)
    {
        reserve(more);
        send(idle);
        read(take);
        model_.settle();
        if (reserving_ && model_->reserve_ready) {
            waiting_.push_back({next_, cycle()});
            used_ += (next_.limit + BEAT - 1) / BEAT;
            if (used_ > RING) fail("cycle %llu: more is reserved than there is", cycle());
            reserving_ = false;
        }
        if (model_->m_valid && model_->m_ready) take_result();
        model_.rise();
    }
    void reserve(bool more)
    {
        if (!reserving_ && more && random_.percent(60)) {
            next_.limit = 1 + random_.below(random_.percent(80) ? 100 : RING * BEAT);
            const unsigned most = next_.limit + (random_.percent(30) ? 70 : 0);
            next_.bytes.resize(random_.percent(20) ? next_.limit + random_.below(2) : 1 + random_.below(most));
            for (uint8_t &b : next_.bytes) b = static_cast<uint8_t>(random_.next());
            next_.bad = random_.percent(10);
            reserving_ = true;
        }
        model_->reserve_valid = reserving_;
        model_->reserve_bytes = next_.limit;
    }
    void send(unsigned idle)
    {
        model_->s_valid = 0;
        if (waiting_.empty() || cycle() < waiting_.front().second + 2 || random_.percent(idle)) return;
        const Result &r = waiting_.front().first;
        const size_t left = r.bytes.size() - sent_;
        uint8_t beat[BEAT];
        for (uint8_t &b : beat) b = static_cast<uint8_t>(random_.next());
        memcpy(beat, r.bytes.data() + sent_, left < BEAT ? left : BEAT);
        memcpy(&model_->s_data[0], beat, BEAT);
        model_->s_keep = left < BEAT ? (1u << left) - 1 : ~0u;
        model_->s_last = left <= BEAT;
        model_->s_bad = model_->s_last ? r.bad : random_.next() & 1;
        model_->s_valid = 1;
        sent_ += BEAT;
        if (!model_->s_last) return;
        used_ -= (r.limit + BEAT - 1) / BEAT - (r.kept() ? beats(r) : 0);
        ended_.push_back(r);
        waiting_.pop_front(), sent_ = 0;
    }
    void take_result()
    {
        if (ended_.empty()) fail("cycle %llu: the end of a frame that nobody sent", cycle());
        const Result &r = ended_.front();
        const unsigned sum = gn_checksum_add(0, r.bytes.data(), r.bytes.size());
        if (model_->m_bytes != r.bytes.size() || model_->m_kept != r.kept() || model_->m_bad != r.bad ||
            model_->m_sum != sum)
            fail("frame of %zu bytes, %u reserved, %s: %u bytes, %skept, sum %04x, should be %04x", r.bytes.size(),
                 r.limit, r.bad ? "bad" : "good", model_->m_bytes, model_->m_kept ? "" : "not ", model_->m_sum, sum);
        r.kept() ? kept++ : not_kept++;
        first_ = model_->m_first, reads_ = 0;
        reading_ = r.kept();
        if (!reading_) ended_.pop_front();
    }
    static unsigned beats(const Result &r) { return static_cast<unsigned>((r.bytes.size() + BEAT - 1) / BEAT); }
    void read(unsigned take)
    {
        model_->free_beats = static_cast<unsigned char>(to_free_);
        used_ -= to_free_, to_free_ = 0;
        if (!asked_.empty() && asked_.front().cycle + LATENCY == cycle()) {
            const Bytes &want = asked_.front().beat;
            if (memcmp(&model_->data[0], want.data(), want.size())) fail("frame %zu: not the beat that went in", kept);
            asked_.pop_front();
        }
        model_->m_ready = 0;
        if (!random_.percent(take)) return;
        if (!reading_) {
            model_->m_ready = 1;
            return;
        }
        const Result &r = ended_.front();
        const size_t at = reads_ * BEAT, end = std::min<size_t>(at + BEAT, r.bytes.size());
        model_->address = (first_ + reads_) % RING;
        asked_.push_back(
            {cycle(), Bytes(r.bytes.begin() + static_cast<long>(at), r.bytes.begin() + static_cast<long>(end))});
        if (++reads_ < beats(r)) return;
        to_free_ = beats(r);
        reading_ = false;
        ended_.pop_front();
    }

    struct Asked {
        uint64_t cycle;
        Bytes beat;
    };
    bench::Model<Vgn_result_store> model_;
    bench::Random random_;
    std::deque<std::pair<Result, uint64_t>> waiting_;  // reserved, with the cycle
    std::deque<Result> ended_;
    std::deque<Asked> asked_;
    Result next_{};
    size_t sent_ = 0;
    unsigned first_ = 0, reads_ = 0, to_free_ = 0, used_ = 0;
    bool reserving_ = false, reading_ = false;
};

}  // namespace

int main(int argc, char **argv)
{
    const bench::Options o = bench::options(argc, argv);
    bench::Random random{o.seed ^ 0x5e};
    Bench b(o);
    for (unsigned round = 0; round < 100; round++) {
        b.run(500, random.below(3) * 40, 100 - random.below(3) * 40);
        b.run(200, 0, 10);
        if (round % 3)
            b.finish();
        else
            b.run(random.below(50), 20, 50), b.reset();
    }
    printf("%zu frames kept, %zu not\n", b.kept, b.not_kept);
    if (b.kept < 1000 || b.not_kept < 1000) fail("not every kind of frame was met");
    return 0;
}
