// SPDX-License-Identifier: Apache-2.0
// stream_compress against the C model, byte for byte: every length, gaps and back-pressure, changes of profile, reset in mid-frame,
// hard mixes, real gradients; and its latency and rate.
#include <algorithm>

#include "Vstream_compress.h"

#include "tests/rtl/common/axis.h"
#include "tests/rtl/common/values.h"

using bench::fail;
using bench::Setting;

namespace
{

struct Job {
    Setting setting;
    std::vector<float> values;
    std::vector<uint8_t> stream;
};

class Bench
{
  public:
    explicit Bench(const bench::Options &o) : random{o.seed}, stream(o, [this](bench::Frame &f) { check(f); })
    {
        stream.user_mask = 0x3ff;
    }

    void add(const Setting &s, std::vector<float> values)
    {
        jobs_.push_back({s, std::move(values), {}});
        Job &job = jobs_.back();
        job.stream = bench::stream_of(s, job.values);
        stream.send(bench::bytes_of(job.values), s.user());
        groups += (job.values.size() + 7) / 8;
        out_beats += (job.stream.size() + 31) / 32;
    }
    void run() { stream.run(jobs_.size()); }
    void reset()
    {
        stream.reset(1 + random.below(3));
        jobs_.clear();
    }

    // All that is queued, without gaps. Fails when it takes more cycles than the wider side has beats, and `slack`.
    double run_counted(const char *what, uint64_t slack)
    {
        const uint64_t in = groups, out = out_beats, start = stream.cycle();
        run();
        const uint64_t took = stream.cycle() - start, least = std::max(in, out);
        if (took > least + slack)
            fail("%s: %llu cycles for %llu beats in and %llu out", what, (unsigned long long)took,
                 (unsigned long long)in, (unsigned long long)out);
        groups = out_beats = 0;
        return static_cast<double>(in) / static_cast<double>(took);
    }

    bench::Random random;
    bench::Stream<Vstream_compress> stream;
    uint64_t groups = 0, out_beats = 0;  // of what was added
    uint64_t latency = 0;                // of the last frame: from its first beat in to its first beat out

  private:
    void check(bench::Frame &f)
    {
        if (jobs_.empty()) fail("a frame comes out that nobody sent");
        Job &job = jobs_.front();
        bench::compare("stream_compress", number_++, job.setting, f.bytes, job.stream, job.values);
        if (f.user != job.values.size())
            fail("stream_compress says %llu values, not %zu", (unsigned long long)f.user, job.values.size());
        latency = f.first_cycle - stream.starts.front();
        stream.starts.pop_front();
        jobs_.pop_front();
    }

    std::deque<Job> jobs_;
    size_t number_ = 0;
};

void latency(Bench &b)
{
    for (gn_profile p : bench::profiles()) {
        const Setting s{p, 10};
        for (size_t count : {8, 32}) {
            b.add(s, bench::values_of(bench::RAW, s, count, b.random));
            b.run();
            const uint64_t most = p != GN_DENSE ? 8 : count == 8 ? 11 : 14;
            printf("latency, %s, %zu values: %llu cycles\n", gn_profile_name(s.profile), count,
                   (unsigned long long)b.latency);
            if (b.latency != most) fail("that should be %llu", (unsigned long long)most);
        }
    }
}

// Every length, all profiles and changes between them, with and without gaps.
void lengths(Bench &b)
{
    for (const bench::Gaps gaps : {bench::Gaps{0, 0}, {60, 0}, {0, 60}, {40, 40}, {0, 95}}) {
        b.stream.gaps = gaps;
        for (size_t count = 1; count <= 300; count++) {
            const Setting s = bench::any_setting(b.random);
            b.add(s, bench::values_of(static_cast<bench::Mix>(b.random.below(bench::MIX_COUNT)), s, count, b.random));
        }
        b.run();
        b.stream.drain();
    }
}

void hard_mixes(Bench &b)
{
    for (const bench::Gaps gaps : {bench::Gaps{0, 0}, {30, 30}, {0, 70}}) {
        b.stream.gaps = gaps;
        for (gn_profile p : bench::profiles()) {
            for (int mix = 0; mix < bench::MIX_COUNT; mix++) {
                for (unsigned n = 0; n < 8; n++) {
                    const Setting s{p, 10};
                    const size_t count = mix == bench::RUNS || mix == bench::ZEROS ? 1 + b.random.below(40000)
                                                                                   : 1 + b.random.below(3000);
                    b.add(s, bench::values_of(static_cast<bench::Mix>(mix), s, count, b.random));
                }
            }
        }
        b.run();
        b.stream.drain();
    }
}

void resets(Bench &b)
{
    for (unsigned n = 0; n < 150; n++) {
        b.stream.gaps = {b.random.below(2) * 40, b.random.below(2) * 40};
        for (unsigned f = 0; f < 6; f++) {
            const Setting s = bench::any_setting(b.random);
            b.add(s, bench::values_of(bench::MIXED, s, 1 + b.random.below(400), b.random));
        }
        for (uint32_t cycles = b.random.below(80); cycles > 0; cycles--) b.stream.step();
        b.reset();
        b.stream.drain(40);
    }
}

// No more cycles than the wider side has beats. A record of three beats, which only ends a frame, may cost one.
void rate(Bench &b)
{
    b.stream.gaps = {};
    for (gn_profile p : bench::profiles()) {
        const Setting s{p, 10};
        for (int mix = 0; mix < bench::MIX_COUNT; mix++) {
            b.groups = b.out_beats = 0;
            b.add(s, bench::values_of(static_cast<bench::Mix>(mix), s, 40000, b.random));
            const double whole = b.run_counted("a frame of a mix", 60);
            for (unsigned n = 0; n < 200; n++)
                b.add(s, bench::values_of(static_cast<bench::Mix>(mix), s, 365, b.random));
            const double packets = b.run_counted("packets of a mix", 60);
            printf("rate, %s, mix %d: %.3f input beats a cycle, %.3f in packets of 1460 bytes\n",
                   gn_profile_name(s.profile), mix, whole, packets);
        }
    }
}

void gradients(Bench &b)
{
    b.stream.gaps = {};
    for (const char *name : {"cnn-it30-w0", "cnn-it100-w1", "mlp-it1000-w2"}) {
        const std::vector<float> values = bench::gradient(name);
        for (gn_profile p : bench::profiles()) {
            const Setting s{p, 10};
            b.groups = b.out_beats = 0;
            b.add(s, values);
            const double whole = b.run_counted(name, 60);
            for (size_t at = 0, n; at < values.size(); at += n) {  // packets of up to 64 KiB, many small
                n = std::min<size_t>(values.size() - at, b.random.percent(80) ? 365 : 1 + b.random.below(16000));
                b.add(s, std::vector<float>(values.begin() + static_cast<long>(at),
                                            values.begin() + static_cast<long>(at + n)));
            }
            const double packets = b.run_counted(name, 60);
            printf("%s, %s: %.3f input beats a cycle, %.3f in packets\n", name, gn_profile_name(s.profile), whole,
                   packets);
        }
    }
}

}  // namespace

int main(int argc, char **argv)
{
    Bench b(bench::options(argc, argv));
    latency(b);
    lengths(b);
    hard_mixes(b);
    resets(b);
    rate(b);
    gradients(b);
    printf("%llu cycles\n", (unsigned long long)b.stream.cycle());
    return 0;
}
