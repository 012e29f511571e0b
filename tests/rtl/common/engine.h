// SPDX-License-Identifier: Apache-2.0
// What the benches of both engines do: frames of values on one side and streams on the other, with
// every length, gaps and back-pressure, crowds of short frames, changes of profile, resets, hard
// mixes and real gradients; and cycles counted.
#pragma once

#include <algorithm>

#include "axis.h"
#include "values.h"

namespace bench
{

// A frame that is on its way.
struct Job {
    Setting setting;
    size_t count;                 // of values; a stream may be said to have another
    std::vector<float> values;    // compress: what goes in; decompress: what the model makes
    std::vector<uint8_t> stream;  // compress: what the model makes; decompress: what goes in
    bool bad;                     // decompress: the model refuses the stream
    bool nonsense = false;        // its profile was not built: some frame comes out
};

template <class Top> class Engine
{
  public:
    explicit Engine(const Options &o) : random{o.seed}, stream(o, [this](Frame &f) { given(f); }) {}
    virtual ~Engine() = default;

    // These values, or their stream, go in.
    virtual void add(const Setting &s, std::vector<float> values) = 0;
    // Something of so many values that says it is of a profile that is not built.
    virtual void add_other(const Setting &s, size_t count) = 0;

    void run() { stream.run(jobs_.size()); }
    void reset()
    {
        stream.reset(1 + random.below(3));
        jobs_.clear();
        uncount();
    }

    // All that has been added since uncount(), without gaps. Fails when it takes more cycles than
    // the wider side has beats, and `slack`. Returns beats of values a cycle.
    double run_counted(const char *what, uint64_t slack)
    {
        const uint64_t start = stream.cycle();
        run();
        const uint64_t took = stream.cycle() - start, groups = groups_, bytes = stream_beats_;
        if (took > std::max(groups, bytes) + slack)
            fail("%s: %llu cycles for %llu beats of values and %llu of stream", what, (unsigned long long)took,
                 (unsigned long long)groups, (unsigned long long)bytes);
        uncount();
        return static_cast<double>(groups) / static_cast<double>(took);
    }
    void uncount() { groups_ = stream_beats_ = 0; }

    std::vector<float> some(size_t count, const Setting &s)
    {
        return values_of(static_cast<Mix>(random.below(MIX_COUNT)), s, count, random);
    }

    // As many short frames as fit wait inside, until the sink takes them.
    void crowd()
    {
        for (gn_profile p : profiles()) {
            for (unsigned most = 1; most <= 64; most *= 2) {
                const Setting s{p, 10};
                for (unsigned n = 0; n < 100; n++) add(s, some(1 + random.below(most), s));
                stream.gaps = {0, 100};
                for (unsigned i = 0; i < 400; i++) stream.step();
                stream.gaps = {};
                run();
                stream.drain();
            }
        }
    }

    // One frame alone, just out of reset: from its first beat in to its first beat out.
    void latency(const Setting &s, size_t count, uint64_t want)
    {
        reset();
        add(s, values_of(RAW, s, count, random));
        run();
        printf("latency, %s, %zu values: %llu cycles\n", gn_profile_name(s.profile), count,
               (unsigned long long)latency_);
        if (latency_ != want) fail("that should be %llu", (unsigned long long)want);
    }

    // Every length, all profiles and changes between them, with and without gaps.
    void lengths()
    {
        for (const Gaps gaps : {Gaps{0, 0}, {60, 0}, {0, 60}, {40, 40}, {0, 95}, {95, 0}}) {
            stream.gaps = gaps;
            for (size_t count = 1; count <= 300; count++) {
                const Setting s = any_setting(random);
                add(s, some(count, s));
            }
            run();
            stream.drain();
        }
    }

    void hard_mixes()
    {
        for (const Gaps gaps : {Gaps{0, 0}, {30, 30}, {0, 70}}) {
            stream.gaps = gaps;
            for (gn_profile p : profiles()) {
                for (int mix = 0; mix < MIX_COUNT; mix++) {
                    for (unsigned n = 0; n < 8; n++) {
                        const Setting s{p, 10};
                        const size_t count = 1 + random.below(mix == RUNS || mix == ZEROS ? 40000 : 3000);
                        add(s, values_of(static_cast<Mix>(mix), s, count, random));
                    }
                }
            }
            run();
            stream.drain();
        }
    }

    // In mid-frame: nothing of what was inside comes out, and what follows is whole.
    void resets(const std::function<void()> &add_more)
    {
        for (unsigned n = 0; n < 150; n++) {
            stream.gaps = {random.below(2) * 40, random.below(2) * 40};
            for (unsigned f = 0; f < 6; f++) {
                const Setting s = any_setting(random);
                add(s, some(1 + random.below(400), s));
                add_more();
            }
            for (uint32_t cycles = random.below(120); cycles > 0; cycles--) stream.step();
            reset();
            stream.drain(40);
        }
    }

    // Frames of profiles that were not built, or that there are not, among others: nobody promises
    // what is in them, but none gets lost, or in the way of others.
    void not_built()
    {
        std::vector<gn_profile> others;
        for (int p = GN_PAPER; p <= 3; p++)  // as many as tuser can say
            if (!(GN_RTL_PROFILES >> p & 1)) others.push_back(static_cast<gn_profile>(p));
        for (unsigned n = 0; n < 60; n++) {
            stream.gaps = {random.below(2) * 40, random.below(2) * 40};
            for (unsigned f = 0; f < 12; f++) {
                const Setting other{others[random.below(static_cast<uint32_t>(others.size()))],
                                    static_cast<int>(random.below(256))};
                add_other(other, 1 + random.below(f % 4 ? 60 : 3000));
                const Setting s = any_setting(random);
                add(s, some(1 + random.below(400), s));
            }
            run();
            stream.drain();
        }
    }

    // A long frame of each mix, then packets of it back to back.
    void rate(uint64_t slack)
    {
        stream.gaps = {};
        uncount();
        for (gn_profile p : profiles()) {
            const Setting s{p, 10};
            for (int mix = 0; mix < MIX_COUNT; mix++) {
                add(s, values_of(static_cast<Mix>(mix), s, 40000, random));
                const double whole = run_counted("a frame of a mix", slack);
                for (unsigned n = 0; n < 200; n++) add(s, values_of(static_cast<Mix>(mix), s, 365, random));
                const double packets = run_counted("packets of a mix", slack);
                printf("rate, %s, mix %d: %.3f beats of values a cycle, %.3f in packets of 1460 bytes\n",
                       gn_profile_name(p), mix, whole, packets);
            }
        }
    }

    // Real gradients: whole, then in packets of up to 64 KiB, many small.
    void gradients(uint64_t slack)
    {
        stream.gaps = {};
        uncount();
        for (const char *name : {"cnn-it30-w0", "cnn-it100-w1", "mlp-it1000-w2"}) {
            const std::vector<float> values = gradient(name);
            for (gn_profile p : profiles()) {
                const Setting s{p, 10};
                add(s, values);
                const double whole = run_counted(name, slack);
                for (size_t at = 0, n; at < values.size(); at += n) {
                    n = std::min<size_t>(values.size() - at, random.percent(80) ? 365 : 1 + random.below(16000));
                    add(s, std::vector<float>(values.begin() + static_cast<long>(at),
                                              values.begin() + static_cast<long>(at + n)));
                }
                const double packets = run_counted(name, slack);
                printf("%s, %s: %.3f beats of values a cycle, %.3f in packets\n", name, gn_profile_name(p), whole,
                       packets);
            }
        }
    }

    Random random;
    Stream<Top> stream;

  protected:
    void expect(Job job)
    {
        groups_ += (job.count + 7) / 8;
        stream_beats_ += (job.stream.size() + BEAT - 1) / BEAT;
        jobs_.push_back(std::move(job));
    }

    // Fails where a frame that came out is not what the model makes.
    virtual void check(size_t number, const Job &job, const Frame &f) = 0;

  private:
    void given(Frame &f)
    {
        if (jobs_.empty()) fail("a frame comes out that nobody sent");
        check(number_++, jobs_.front(), f);
        latency_ = f.first_cycle - stream.starts.front();
        stream.starts.pop_front();
        jobs_.pop_front();
    }

    std::deque<Job> jobs_;
    size_t number_ = 0;
    uint64_t groups_ = 0, stream_beats_ = 0;  // of what was added
    uint64_t latency_ = 0;                    // of the last frame
};

}  // namespace bench
