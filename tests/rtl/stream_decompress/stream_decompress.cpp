// SPDX-License-Identifier: Apache-2.0
// stream_decompress against the C model: values bit for bit, bad streams refused exactly when the model refuses them, every length, gaps and
// back-pressure, changes of profile, reset in mid-frame, hard mixes, real gradients; and its latency and rate.
#include <algorithm>

#include "Vstream_decompress.h"

#include "tests/rtl/common/axis.h"
#include "tests/rtl/common/values.h"

using bench::fail;
using bench::Setting;

namespace
{

constexpr unsigned COUNT_SHIFT = 10;  // place of the count in tuser

struct Job {
    Setting setting;
    std::vector<float> values;  // what the model decodes; for a bad stream nothing
    bool bad;
    size_t count;
    std::vector<uint8_t> stream;
};

class Bench
{
  public:
    explicit Bench(const bench::Options &o) : random{o.seed}, stream(o, [this](bench::Frame &f) { check(f); }) {}

    // A stream, said to be of `count` values: what the model makes of it.
    void add_stream(const Setting &s, std::vector<uint8_t> bytes, size_t count)
    {
        const gn_codec c = bench::codec(s.profile, s.k);
        Job job{s, std::vector<float>(count), false, count, bytes};
        job.bad =
            count == 0 || gn_stream_decode(&c, bytes.data(), bytes.size(), job.values.data(), count, nullptr) != GN_OK;
        bad += job.bad, good += !job.bad;
        in_beats += (bytes.size() + 31) / 32;
        groups += (count + 7) / 8;
        jobs_.push_back(std::move(job));
        stream.send(std::move(bytes), s.user() | static_cast<uint64_t>(count) << COUNT_SHIFT);
    }
    void add(const Setting &s, const std::vector<float> &values)
    {
        add_stream(s, bench::stream_of(s, values), values.size());
    }
    void run() { stream.run(jobs_.size()); }
    void reset()
    {
        stream.reset(1 + random.below(3));
        jobs_.clear();
    }

    double run_counted(const char *what, uint64_t slack)
    {
        const uint64_t in = in_beats, out = groups, start = stream.cycle();
        run();
        const uint64_t took = stream.cycle() - start, least = std::max(in, out);
        if (took > least + slack)
            fail("%s: %llu cycles for %llu beats in and %llu out", what, (unsigned long long)took,
                 (unsigned long long)in, (unsigned long long)out);
        in_beats = groups = 0;
        return static_cast<double>(out) / static_cast<double>(took);
    }

    bench::Random random;
    bench::Stream<Vstream_decompress> stream;
    uint64_t in_beats = 0, groups = 0;  // of what was added
    uint64_t latency = 0;               // of the last frame: from its first beat in to its first beat out
    size_t good = 0, bad = 0;

  private:
    void check(bench::Frame &f)
    {
        if (jobs_.empty()) fail("a frame comes out that nobody sent");
        Job &job = jobs_.front();
        if (static_cast<bool>(f.user) != job.bad) {
            for (uint8_t b : job.stream) fprintf(stderr, "%02x", b);
            fprintf(stderr, "\n");
            fail("stream_decompress, frame %zu, profile %s, k = %d, %zu values, %zu bytes: says %s, the model says %s",
                 number_, gn_profile_name(job.setting.profile), job.setting.k, job.count, job.stream.size(),
                 f.user ? "bad" : "good", job.bad ? "bad" : "good");
        }
        if (!job.bad)
            bench::compare("stream_decompress", number_, job.setting, f.bytes, bench::bytes_of(job.values), job.values);
        if (f.beats > std::max<size_t>(1, (job.count + 7) / 8))
            fail("frame %zu has more beats than its count says", number_);
        number_++;
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
        for (size_t count : {8, 800}) {
            b.reset();  // a window that a frame has just left is a cycle faster
            b.add(s, bench::values_of(bench::RAW, s, count, b.random));
            b.run();
            printf("latency, %s, %zu values: %llu cycles\n", gn_profile_name(s.profile), count,
                   (unsigned long long)b.latency);
            if (b.latency != 10) fail("that should be 10");
        }
    }
}

void lengths(Bench &b)
{
    for (const bench::Gaps gaps : {bench::Gaps{0, 0}, {60, 0}, {0, 60}, {40, 40}, {0, 95}, {95, 0}}) {
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

// A stream with something wrong, or nothing after all.
void add_damaged(Bench &b)
{
    const Setting s = bench::any_setting(b.random);
    size_t count = 1 + b.random.below(b.random.percent(50) ? 40 : 400);
    std::vector<uint8_t> bytes = bench::stream_of(
        s, bench::values_of(static_cast<bench::Mix>(b.random.below(bench::MIX_COUNT)), s, count, b.random));
    switch (b.random.below(7)) {
    case 0:
        bytes.resize(1 + b.random.below(static_cast<uint32_t>(bytes.size())));
        break;
    case 1:
        bytes.resize(bytes.size() + 1 + b.random.below(b.random.percent(50) ? 3 : 100));
        break;
    case 2:
        count = b.random.below(static_cast<uint32_t>(count) + 1);
        break;
    case 3:
        count += 1 + b.random.below(b.random.percent(50) ? 8 : 300);
        break;
    case 4:
        bytes[b.random.below(static_cast<uint32_t>(bytes.size()))] ^= static_cast<uint8_t>(1u << b.random.below(8));
        break;
    case 5:
        for (uint8_t &byte : bytes) byte = b.random.percent(60) ? 0 : static_cast<uint8_t>(b.random.next());
        break;
    default:  // a padding lane, a missing group, a run too long: hit the first or last bytes
        bytes[b.random.percent(50) ? b.random.below(std::min<uint32_t>(3, static_cast<uint32_t>(bytes.size())))
                                   : bytes.size() - 1] ^= static_cast<uint8_t>(1 + b.random.below(255));
    }
    b.add_stream(s, std::move(bytes), count);
}

void bad_streams(Bench &b)
{
    b.good = b.bad = 0;
    for (unsigned n = 0; n < 200; n++) {
        b.stream.gaps = {b.random.below(3) * 30, b.random.below(3) * 30};
        for (unsigned f = 0; f < 100; f++) add_damaged(b);
        const Setting s = bench::any_setting(b.random);
        b.add(s, bench::values_of(bench::MIXED, s, 100, b.random));
        b.run();
        b.stream.drain(30);
    }
    printf("damaged streams: %zu refused, %zu not\n", b.bad, b.good);
    if (b.bad < 5000 || b.good < 500) fail("that is not the mixture that was meant");
}

void resets(Bench &b)
{
    for (unsigned n = 0; n < 150; n++) {
        b.stream.gaps = {b.random.below(2) * 40, b.random.below(2) * 40};
        for (unsigned f = 0; f < 4; f++) {
            const Setting s = bench::any_setting(b.random);
            b.add(s, bench::values_of(static_cast<bench::Mix>(b.random.below(bench::MIX_COUNT)), s,
                                      1 + b.random.below(800), b.random));
            add_damaged(b);
        }
        for (uint32_t cycles = b.random.below(120); cycles > 0; cycles--) b.stream.step();
        b.reset();
        b.stream.drain(40);
    }
}

void rate(Bench &b)
{
    b.stream.gaps = {};
    for (gn_profile p : bench::profiles()) {
        const Setting s{p, 10};
        for (int mix = 0; mix < bench::MIX_COUNT; mix++) {
            b.in_beats = b.groups = 0;
            b.add(s, bench::values_of(static_cast<bench::Mix>(mix), s, 40000, b.random));
            const double whole = b.run_counted("a frame of a mix", 80);
            for (unsigned n = 0; n < 200; n++)
                b.add(s, bench::values_of(static_cast<bench::Mix>(mix), s, 365, b.random));
            const double packets = b.run_counted("packets of a mix", 80);
            printf("rate, %s, mix %d: %.3f output beats a cycle, %.3f in packets of 1460 bytes\n",
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
            b.in_beats = b.groups = 0;
            b.add(s, values);
            const double whole = b.run_counted(name, 60);
            for (size_t at = 0, n; at < values.size(); at += n) {
                n = std::min<size_t>(values.size() - at, b.random.percent(80) ? 365 : 1 + b.random.below(16000));
                b.add(s, std::vector<float>(values.begin() + static_cast<long>(at),
                                            values.begin() + static_cast<long>(at + n)));
            }
            const double packets = b.run_counted(name, 60);
            printf("%s, %s: %.3f output beats a cycle, %.3f in packets\n", name, gn_profile_name(s.profile), whole,
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
    bad_streams(b);
    resets(b);
    rate(b);
    gradients(b);
    printf("%llu cycles\n", (unsigned long long)b.stream.cycle());
    return 0;
}
