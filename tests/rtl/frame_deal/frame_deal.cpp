// SPDX-License-Identifier: Apache-2.0
// gn_frame_deal and gn_flow_lane: frames of all kinds keep their bytes and their order over four
// lanes. All segments of a TCP connection have one lane, which their addresses and ports say. Other
// frames are shared among all lanes, and a lane that is held up gets no more of them.
#include <array>
#include <deque>

#include "Vdeal_flows.h"

#include "tests/rtl/common/axis.h"
#include "tests/rtl/common/flow_lane.h"
#include "tests/rtl/common/wire.h"

using bench::Bytes;
using bench::fail;

namespace
{

enum { LANES = 4 };

// The lane of a TCP segment, or -1 of what no table of flows is asked about.
int lane_of(const Bytes &frame)
{
    const size_t at = gn_frame_ethernet_offset(frame.data(), frame.size());
    return at ? flow_lane(frame.data() + at, frame.size() - at) : -1;
}

class Bench
{
  public:
    explicit Bench(const bench::Options &o) : stream_(o, [this](bench::Frame &f) { check(f); })
    {
        stream_.user_in_last = true;
        stream_.user_mask = 15;
    }
    void send(Bytes frame)
    {
        const uint64_t user = frame.size() & 15;
        expected_.push_back(frame);
        stream_.send(std::move(frame), user);
    }
    void run(unsigned idle, unsigned stall)
    {
        stream_.gaps = {idle, stall};
        stream_.run(expected_.size());
        stream_.drain();
    }
    void reset_after(unsigned cycles)
    {
        for (unsigned i = 0; i < cycles; i++) stream_.step();
        stream_.reset(2);
        expected_.clear();
        stream_.drain();
    }
    // Input beats a cycle, while each lane is taken from in its turn.
    double rate(const std::vector<Bytes> &frames)
    {
        stream_.gaps = {};
        const uint64_t cycles = stream_.cycle(), beats = stream_.beats_in();
        for (const Bytes &f : frames) send(f);
        stream_.run(frames.size());
        return static_cast<double>(stream_.beats_in() - beats) / static_cast<double>(stream_.cycle() - cycles);
    }
    std::array<unsigned, LANES> fixed{}, dealt{};

  private:
    void check(bench::Frame &f)
    {
        if (expected_.empty() || f.bytes != expected_.front()) fail("not the frame that is due");
        if (f.user >> 4 != (expected_.front().size() & 15)) fail("another frame's tuser");
        const unsigned lane = static_cast<unsigned>(__builtin_ctzll(f.user & 15)), want = f.user & 15;
        if (!want || (want & (want - 1))) fail("not one lane: %x", want);
        const int tcp = lane_of(f.bytes);
        if (tcp >= 0 && static_cast<unsigned>(tcp) != lane)
            fail("a TCP segment has lane %u, should be %d: %s", lane, tcp, bench::describe(f.bytes).c_str());
        (tcp >= 0 ? fixed : dealt)[lane]++;
        expected_.pop_front();
    }

    bench::Stream<Vdeal_flows> stream_;
    std::deque<Bytes> expected_;
};

}  // namespace

int main(int argc, char **argv)
{
    const bench::Options o = bench::options(argc, argv);
    bench::Random random{o.seed ^ 0xdea1};
    bench::Traffic traffic(o.seed, 32768);
    bench::Maker make(o.seed);
    Bench b(o);
    for (unsigned round = 0; round < 40; round++) {
        for (unsigned n = 0; n < 120; n++) {
            packet p{};
            p.version = random.percent(50) ? 4 : 6;
            p.protocol = random.percent(60) ? 6 : 17;
            p.source = static_cast<uint16_t>(random.next()), p.host = static_cast<uint8_t>(1 + random.below(200));
            b.send(random.percent(20) ? traffic.any(300) : make.frame(p, make.noise(1 + random.below(1400))));
        }
        if (round % 10 == 9)
            b.reset_after(random.below(500));
        else
            b.run(round % 3 * 30, round / 2 % 3 * 30);
    }
    for (unsigned lane = 0; lane < LANES; lane++)
        if (b.fixed[lane] < 100 || b.dealt[lane] < 100) fail("lane %u has too few frames", lane);
    std::vector<Bytes> frames;
    for (unsigned n = 0; n < 300; n++) frames.push_back(Bytes(n % 2 ? 60 : 1514, 1));
    const double rate = b.rate(frames);
    printf("%.3f beats a cycle\n", rate);
    if (rate < 0.98) fail("that should be 0.98");
    return 0;
}
