// SPDX-License-Identifier: Apache-2.0
// gn_stream_compress against the C model, byte for byte: every length, gaps and back-pressure,
// changes of profile, reset in mid-frame, hard mixes, real gradients; and its latency and rate.
#include "Vgn_stream_compress.h"

#include "tests/rtl/common/engine.h"

using bench::fail;
using bench::Setting;

namespace
{

class Bench : public bench::Engine<Vgn_stream_compress>
{
  public:
    explicit Bench(const bench::Options &o) : Engine(o) { stream.user_mask = 0x3ff; }

    void add(const Setting &s, std::vector<float> values) override
    {
        stream.send(bench::bytes_of(values), s.user());
        expect({s, values.size(), values, bench::stream_of(s, values), false});
    }
    void add_other(const Setting &s, size_t count) override
    {
        std::vector<float> values = bench::values_of(bench::RANDOM_BITS, {bench::profiles()[0], 10}, count, random);
        stream.send(bench::bytes_of(values), s.user());
        expect({s, count, std::move(values), {}, false, true});
    }

  private:
    void check(size_t number, const bench::Job &job, const bench::Frame &f) override
    {
        if (!job.nonsense) bench::compare("stream_compress", number, job.setting, f.bytes, job.stream, job.values);
        if (f.user != job.count)
            fail("stream_compress says %llu values, not %zu", (unsigned long long)f.user, job.count);
    }
};

}  // namespace

int main(int argc, char **argv)
{
    Bench b(bench::options(argc, argv));
    for (gn_profile p : bench::profiles()) {
        b.latency({p, 10}, 8, p == GN_DENSE ? 11 : 8);
        b.latency({p, 10}, 32, p == GN_DENSE ? 14 : 8);
    }
    b.lengths();
    b.crowd();
    b.hard_mixes();
    b.not_built();
    b.resets([] {});
    b.rate(60);  // a record of three beats, which only ends a frame, may cost one
    b.gradients(60);
    printf("%llu cycles\n", (unsigned long long)b.stream.cycle());
    return 0;
}
