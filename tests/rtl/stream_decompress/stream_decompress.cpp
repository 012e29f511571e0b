// SPDX-License-Identifier: Apache-2.0
// gn_stream_decompress against the C model: values bit for bit, bad streams refused exactly when
// the model refuses them, every length, gaps and back-pressure, changes of profile, reset in
// mid-frame, hard mixes, real gradients; and its latency and rate.
#include "Vgn_stream_decompress.h"

#include "tests/rtl/common/damage.h"
#include "tests/rtl/common/engine.h"

using bench::fail;
using bench::Setting;

namespace
{

constexpr unsigned COUNT_SHIFT = 10;  // place of the count in tuser

class Bench : public bench::Engine<Vgn_stream_decompress>
{
  public:
    using Engine::Engine;

    // A stream, said to be of `count` values: what the model makes of it.
    void add_stream(const Setting &s, std::vector<uint8_t> bytes, size_t count)
    {
        const gn_codec c = bench::codec(s.profile, s.k);
        std::vector<float> values(count);
        const bool refused =
            count == 0 || gn_stream_decode(&c, bytes.data(), bytes.size(), values.data(), count, nullptr) != GN_OK;
        bad += refused, good += !refused;
        stream.send(bytes, s.user() | static_cast<uint64_t>(count) << COUNT_SHIFT);
        expect({s, count, std::move(values), std::move(bytes), refused});
    }
    void add(const Setting &s, std::vector<float> values) override
    {
        add_stream(s, bench::stream_of(s, values), values.size());
    }

    // A stream of a profile that is built, said to be of another.
    void add_other(const Setting &s, size_t count) override
    {
        const Setting built = bench::any_setting(random);
        std::vector<uint8_t> bytes = bench::stream_of(built, some(count, built));
        stream.send(bytes, s.user() | static_cast<uint64_t>(count) << COUNT_SHIFT);
        expect({s, count, {}, std::move(bytes), false, true});
    }

    size_t good = 0, bad = 0;

  private:
    void check(size_t number, const bench::Job &job, const bench::Frame &f) override
    {
        if (!job.nonsense && static_cast<bool>(f.user) != job.bad) {
            for (uint8_t b : job.stream) fprintf(stderr, "%02x", b);
            fprintf(stderr, "\n");
            fail("stream_decompress, frame %zu, profile %s, k = %d, %zu values, %zu bytes: says %s, the model says %s",
                 number, gn_profile_name(job.setting.profile), job.setting.k, job.count, job.stream.size(),
                 f.user ? "bad" : "good", job.bad ? "bad" : "good");
        }
        if (!job.bad && !job.nonsense)
            bench::compare("stream_decompress", number, job.setting, f.bytes, bench::bytes_of(job.values), job.values);
        if (f.beats > std::max<size_t>(1, (job.count + 7) / 8))
            fail("frame %zu has more beats than its count says", number);
    }
};

// A stream with something wrong, or nothing after all.
void add_damaged(Bench &b)
{
    const Setting s = bench::any_setting(b.random);
    size_t count = 1 + b.random.below(b.random.percent(50) ? 40 : 400);
    std::vector<uint8_t> bytes = bench::stream_of(s, b.some(count, s));
    bench::damage(bytes, count, b.random);
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

// The last record of a frame begins at its last byte, a beat's: the rest of its tags is missing,
// whatever the next frame begins with.
void cut_tags(Bench &b)
{
    for (const gn_profile p : bench::profiles()) {
        if (p == GN_DENSE) continue;
        for (unsigned n = 0; n < 2000; n++) {
            const Setting cut{p, 10}, next = bench::any_setting(b.random);
            b.stream.gaps = {b.random.below(3) * 30, b.random.below(3) * 30};
            // two bytes a record, one of them three: a byte more than there are
            const size_t records = 16 * (1 + b.random.below(3)),
                         odd = b.random.below(static_cast<uint32_t>(records - 1));
            std::vector<uint8_t> bytes(2 * records, 0);
            bytes.at(2 * odd + (b.random.next() & 1)) = static_cast<uint8_t>(1 << 2 * b.random.below(4));
            b.add_stream(cut, std::move(bytes), 8 * records - b.random.below(8));
            // what often begins with a byte of zeros
            b.add(next, std::vector<float>(1 + b.random.below(40), b.random.percent(70) ? 0.0f : 1.0f));
            if (n % 20 == 19) b.run();
        }
        b.run();
    }
}

}  // namespace

int main(int argc, char **argv)
{
    Bench b(bench::options(argc, argv));
    for (gn_profile p : bench::profiles())
        for (size_t count : {8, 800}) b.latency({p, 10}, count, 10);
    b.lengths();
    b.crowd();
    b.hard_mixes();
    bad_streams(b);
    cut_tags(b);
    b.not_built();
    b.resets([&b] { add_damaged(b); });
    b.rate(80);
    b.gradients(60);
    printf("%llu cycles\n", (unsigned long long)b.stream.cycle());
    return 0;
}
