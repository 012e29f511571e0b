// SPDX-License-Identifier: Apache-2.0
// Drives a block between a sink s_axis_* and a source m_axis_*, both of 256 or 512 bits: frames in,
// with random gaps; frames out, with random back-pressure; the protocol's rules watched in every
// cycle.
#pragma once

#include <deque>
#include <functional>
#include <type_traits>
#include <vector>

#include "bench.h"

namespace bench
{

constexpr unsigned BEAT = 32;  // bytes, where nothing else is said

struct Frame {
    std::vector<uint8_t> bytes;
    uint64_t user = 0;       // tuser. In: of the beat that counts; out: of the last
    uint64_t side = 0;       // of a block that has such: in, of the last beat; out, of all
    uint64_t length = 0;     // the same, out: what is said beside all beats
    bool empty_end = false;  // in: its last beat has no byte
    // out: cycles in which its first and last beats were taken
    uint64_t first_cycle = 0, last_cycle = 0, beats = 0;
};

struct Gaps {
    unsigned idle = 0;   // percent of cycles in which the source has nothing
    unsigned stall = 0;  // percent of cycles in which the sink takes nothing
};

// Whether a block's source has a tuser.
template <class Top, class = void> struct HasUser : std::false_type {
};
template <class Top> struct HasUser<Top, std::void_t<decltype(std::declval<Top &>().m_axis_tuser)>> : std::true_type {
};

// Whether a side-band goes with a frame, and comes out alone if the frame does not.
template <class Top, class = void> struct HasSide : std::false_type {
};
template <class Top> struct HasSide<Top, std::void_t<decltype(std::declval<Top &>().drop_side)>> : std::true_type {
};

template <class Top> class Stream
{
  public:
    static constexpr unsigned BEAT = 8 * sizeof(std::declval<Top &>().s_axis_tkeep);  // bytes

    // `done` is given every frame that has come out.
    Stream(const Options &o, std::function<void(Frame &)> done)
        : model_(o), random_{o.seed ^ 0x5eed}, done_(std::move(done))
    {
        model_->s_axis_tvalid = 0;
        model_->m_axis_tready = 0;
        reset(3);
    }

    Gaps gaps;
    uint64_t cycle() const { return model_.cycle(); }
    uint64_t beats_in() const { return beats_in_; }
    size_t pending() const { return queue_.size(); }  // frames that have not gone in
    uint64_t beats_out() const { return beats_out_; }
    std::deque<uint64_t> starts;  // cycles in which a frame's first beat was taken

    // Returns its side-band: anything, but not that of its neighbours.
    uint64_t send(std::vector<uint8_t> bytes, uint64_t user)
    {
        if (bytes.empty()) fail("the bench sends an empty frame");
        queue_.push_back({std::move(bytes), user});
        return queue_.back().side = side_ = (side_ + 1 + random_.below(1000)) & SIDE_MASK;
    }
    uint64_t last_side() const { return side_; }  // of the frame that was sent last
    // Whole beats of these bytes, perhaps none, and a last beat without a byte, which AXI4-Stream
    // allows. Returns how many beats.
    uint64_t send_empty_end(std::vector<uint8_t> bytes, uint64_t user)
    {
        bytes.resize(bytes.size() / BEAT * BEAT);
        queue_.push_back({std::move(bytes), user});
        queue_.back().side = side_ = (side_ + 1 + random_.below(1000)) & SIDE_MASK;
        queue_.back().empty_end = true;
        return queue_.back().bytes.size() / BEAT + 1;
    }

    // Runs until `frames` more frames have come out.
    void run(size_t frames, uint64_t quiet_limit = 5000)
    {
        uint64_t quiet = 0, out = beats_out_;
        for (const size_t target = frames_out_ + frames; frames_out_ < target;) {
            step();
            quiet = out == beats_out_ && beats_in_ == last_in_ ? quiet + 1 : 0;
            out = beats_out_, last_in_ = beats_in_;
            if (quiet > quiet_limit)
                fail("cycle %llu: nothing moves: %zu frames to come out, input %s", now(), target - frames_out_,
                     model_->s_axis_tready ? "ready" : "not ready");
        }
    }
    // Nothing may come out that was not expected.
    void drain(unsigned cycles = 60)
    {
        const uint64_t out = beats_out_;
        for (unsigned i = 0; i < cycles; i++) step();
        if (beats_out_ != out || model_->m_axis_tvalid) fail("cycle %llu: something comes out that nobody sent", now());
    }

    // In mid-frame or not: all that is inside is gone.
    void reset(unsigned cycles)
    {
        model_->rst = 1;
        for (unsigned i = 0; i < cycles; i++) {
            model_->s_axis_tvalid = random_.percent(50);
            model_->m_axis_tready = random_.percent(50);
            model_.rise();
        }
        model_->rst = 0;
        model_->s_axis_tvalid = 0;
        queue_.clear();
        starts.clear();
        sent_ = 0;
        offered_ = held_ = false;
        current_ = {};
    }

    void step()
    {
        offer();
        model_->m_axis_tready = !random_.percent(gaps.stall);
        if constexpr (HasSide<Top>::value) model_->drop_ready = !random_.percent(gaps.stall);
        if (before) before(*model_.operator->());
        if (random_.percent(2)) independence();
        model_.settle();
        const bool in = model_->s_axis_tvalid && model_->s_axis_tready,
                   out = model_->m_axis_tvalid && model_->m_axis_tready;
        watch(out);
        if (every) every(*model_.operator->());
        if (in) taken();
        if constexpr (HasSide<Top>::value)
            if (model_->drop_valid && model_->drop_ready && dropped) dropped(model_->drop_side);
        if (out) given();
        model_.rise();
    }

  private:
    unsigned long long now() const { return model_.cycle(); }

    void offer()
    {
        if (!offered_ && !queue_.empty() && !random_.percent(gaps.idle)) {
            const Frame &f = queue_.front();
            const size_t left = f.bytes.size() - sent_;
            const unsigned bytes = left < BEAT ? static_cast<unsigned>(left) : BEAT;
            uint8_t beat[BEAT];
            // bytes that are not kept do not matter
            for (uint8_t &b : beat) b = static_cast<uint8_t>(random_.next());
            if (bytes) memcpy(beat, f.bytes.data() + sent_, bytes);
            memcpy(&model_->s_axis_tdata[0], beat, BEAT);
            model_->s_axis_tkeep = static_cast<Keep>(bytes == BEAT ? ~0ull : (1ull << bytes) - 1);
            model_->s_axis_tlast = f.empty_end ? left == 0 : left <= BEAT;
            set_user(model_->s_axis_tuser, f, user_in_last ? model_->s_axis_tlast : !sent_);
            if constexpr (HasSide<Top>::value)
                model_->s_axis_side = static_cast<uint16_t>(model_->s_axis_tlast ? f.side : random_.next());
            offered_ = true;
        }
        model_->s_axis_tvalid = offered_;
    }

    // In the other beats tuser is anything.
    template <class User> void set_user(User &port, const Frame &f, bool counts)
    {
        port = static_cast<User>(counts ? f.user : random_.next() & user_mask);
    }

    void taken()
    {
        if (!sent_) starts.push_back(now());
        beats_in_++;
        sent_ += BEAT;
        offered_ = false;
        if (model_->s_axis_tlast) queue_.pop_front(), sent_ = 0;
    }

    // Neither side's answer may depend on the other's in the same cycle.
    void independence()
    {
        const auto before = sides();
        const bool valid = model_->s_axis_tvalid, ready = model_->m_axis_tready;
        model_->s_axis_tvalid = !valid, model_->m_axis_tready = !ready;
        model_.settle();
        if (sides() != before) fail("cycle %llu: tready or tvalid depends on the other side in the same cycle", now());
        model_->s_axis_tvalid = valid, model_->m_axis_tready = ready;
    }
    unsigned sides() { return static_cast<unsigned>(model_->s_axis_tready | model_->m_axis_tvalid << 1); }

    void watch(bool out)
    {
        if (held_ && (!model_->m_axis_tvalid || memcmp(held_data_, &model_->m_axis_tdata[0], BEAT) != 0 ||
                      held_keep_ != model_->m_axis_tkeep || held_last_ != model_->m_axis_tlast))
            fail("cycle %llu: a beat changes before it is taken", now());
        held_ = model_->m_axis_tvalid && !out;
        memcpy(held_data_, &model_->m_axis_tdata[0], BEAT);
        held_keep_ = model_->m_axis_tkeep, held_last_ = model_->m_axis_tlast;
    }

    void given()
    {
        const Keep keep = model_->m_axis_tkeep;
        const unsigned bytes = static_cast<unsigned>(__builtin_popcountll(keep));
        if ((!keep && !(empty_ends && model_->m_axis_tlast)) || (keep & (keep + 1)))
            fail("cycle %llu: tkeep %llx is empty or has holes", now(), (unsigned long long)keep);
        if (bytes < BEAT && !model_->m_axis_tlast) fail("cycle %llu: a partial beat within a frame", now());
        const uint8_t *data = reinterpret_cast<const uint8_t *>(&model_->m_axis_tdata[0]);
        if (current_.bytes.empty()) current_.first_cycle = now();
        current_.bytes.insert(current_.bytes.end(), data, data + bytes);
        if constexpr (HasSide<Top>::value) {
            if (!current_.beats) current_.side = model_->m_axis_side, current_.length = model_->m_axis_length;
            if (current_.side != model_->m_axis_side || current_.length != model_->m_axis_length)
                fail("cycle %llu: side-band or length changes within a frame", now());
        }
        current_.beats++, beats_out_++;
        if (!model_->m_axis_tlast) return;
        if constexpr (HasUser<Top>::value) current_.user = model_->m_axis_tuser;
        current_.last_cycle = now();
        frames_out_++;
        done_(current_);
        current_ = {};
    }

  public:
    uint64_t user_mask = ~0ull;             // bits that the sink's tuser has
    std::function<void(Top &)> before;      // called in each cycle: for other inputs
    std::function<void(Top &)> every;       // called in each cycle, before the clock's edge
    std::function<void(uint64_t)> dropped;  // given the side-band of each frame that does not leave
    Top &top() { return *model_.operator->(); }
    bool user_in_last = false;  // a frame's tuser counts in its last beat, not in its first
    bool empty_ends = false;    // what comes out may end with a beat without a byte

  private:
    using Keep = std::decay_t<decltype(std::declval<Top &>().s_axis_tkeep)>;
    static constexpr uint64_t SIDE_MASK = 0xffff;  // blocks that have one are built with 16 bits

    Model<Top> model_;
    Random random_;
    uint64_t side_ = 0;
    std::function<void(Frame &)> done_;
    std::deque<Frame> queue_;
    size_t sent_ = 0, frames_out_ = 0;
    uint64_t beats_in_ = 0, beats_out_ = 0, last_in_ = 0;
    bool offered_ = false, held_ = false, held_last_ = false;
    uint8_t held_data_[BEAT] = {};
    Keep held_keep_ = 0;
    Frame current_;
};

}  // namespace bench
