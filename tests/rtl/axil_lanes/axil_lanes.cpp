// SPDX-License-Identifier: Apache-2.0
// gn_axil_lanes in front of registers that answer when they like: writes reach all of them once,
// what is read of a counter is their sum, with what the low words carry, and other registers are
// the first one's. An answer that is an error comes through. A read waits for a write. Built with
// four.
#include <array>

#include "Vgn_axil_lanes.h"

#include "tests/rtl/common/axil.h"

using bench::fail;

namespace
{

enum { LANES = 4, COUNTERS = 0x400, NOTHING = 0xffc };

// Registers of one NIC: 64-bit counters from 0x400 on, words below, and nothing at 0xffc.
struct Nic {
    std::array<uint32_t, 1024> words{};
    bool aw = false, w = false, ar = false;
    uint32_t aw_addr = 0, w_data = 0, ar_addr = 0;
    unsigned b_in = 0, r_in = 0;  // cycles until the answer
    unsigned writes = 0;
};

class Bench
{
  public:
    explicit Bench(const bench::Options &o) : model_(o), random_{o.seed ^ 0xa4}, axil_(*model_.operator->(), o.seed)
    {
        for (Nic &nic : nics_)
            for (uint32_t &word : nic.words) word = static_cast<uint32_t>(random_.next());
        model_->rst = 1;
        for (int i = 0; i < 3; i++) model_.rise();
        model_->rst = 0;
    }
    void gaps(unsigned idle, unsigned stall) { axil_.idle = idle, axil_.stall = stall, slow_ = idle; }
    void write(uint32_t address, uint32_t data)
    {
        axil_.write(address, data, 15, [address](unsigned answer) {
            if (answer != (address == NOTHING ? bench::AXIL_SLVERR : bench::AXIL_OKAY))
                fail("a write to %03x is answered %u", address, answer);
        });
        finish();
        for (const Nic &nic : nics_)
            if (nic.writes != 1 || (address != NOTHING && nic.words[address / 4] != data))
                fail("a write to %03x arrives %u times", address, nic.writes);
        for (Nic &nic : nics_) nic.writes = 0;
    }
    void read(uint32_t address)
    {
        uint64_t want = nics_[0].words[address / 4];
        if (address >= COUNTERS) {
            want = 0;
            for (const Nic &nic : nics_)
                want += nic.words[address / 8 * 2] | static_cast<uint64_t>(nic.words[address / 8 * 2 + 1]) << 32;
            want = address & 4 ? want >> 32 : want & 0xffffffff;
        }
        axil_.read(address, [address, want](uint32_t data, unsigned answer) {
            if (address == NOTHING ? answer != bench::AXIL_SLVERR : answer != bench::AXIL_OKAY || data != want)
                fail("a read of %03x gives %08x, %u; should be %08llx", address, data, answer,
                     (unsigned long long)want);
        });
        finish();
    }
    // Both at once: the read, which is asked for when the write is, sees what was written.
    void write_and_read(uint32_t address, uint32_t data)
    {
        axil_.idle = 0;
        axil_.write(address, data, 15, {});
        for (int i = 0; i < 3; i++) step();
        axil_.read(address, [address, data](uint32_t got, unsigned) {
            if (got != data) fail("a read of %03x overtakes a write", address);
        });
        finish();
        for (Nic &nic : nics_) nic.writes = 0;
    }
    // In the middle of accesses. What they wrote, or not, is where the lanes have it.
    void restart()
    {
        const uint32_t address = random_.below(COUNTERS / 4) * 4;
        axil_.write(address, 0, 15, {});
        axil_.read(address, {});
        for (unsigned n = random_.below(30); n; n--) step();
        axil_.reset();
        model_->rst = 1;
        for (unsigned n = 1 + random_.below(3); n; n--) model_.rise();
        model_->rst = 0;
        for (Nic &nic : nics_) nic.aw = nic.w = nic.ar = false, nic.writes = 0, nic.words[address / 4] = 0;
        reading_ = false;
    }
    void finish()
    {
        for (unsigned n = 0; axil_.busy(); n++) {
            if (n > 5000) fail("no answer");
            step();
        }
    }

  private:
    void step()
    {
        axil_.drive();
        Vgn_axil_lanes &top = *model_.operator->();
        uint8_t awready = 0, wready = 0, arready = 0, bvalid = 0, rvalid = 0, bresp = 0, rresp = 0;
        for (unsigned i = 0; i < LANES; i++) {
            Nic &n = nics_[i];
            awready |= static_cast<uint8_t>((!n.aw && !random_.percent(slow_)) << i);
            wready |= static_cast<uint8_t>((!n.w && !random_.percent(slow_)) << i);
            arready |= static_cast<uint8_t>((!n.ar && !random_.percent(slow_)) << i);
            bvalid |= static_cast<uint8_t>((n.aw && n.w && !n.b_in) << i);
            rvalid |= static_cast<uint8_t>((n.ar && !n.r_in) << i);
            bresp |= static_cast<uint8_t>((n.aw_addr == NOTHING ? 2 : 0) << 2 * i);
            const uint32_t ar_addr = n.ar_addr & ~3u;
            rresp |= static_cast<uint8_t>((ar_addr == NOTHING || ar_addr == (NOTHING & ~4u) ? 2 : 0) << 2 * i);
            top.m_axil_rdata[i] = n.words[ar_addr / 4];
            if (n.b_in && n.aw && n.w) n.b_in--;
            if (n.r_in && n.ar) n.r_in--;
        }
        top.m_axil_awready = awready, top.m_axil_wready = wready, top.m_axil_arready = arready;
        top.m_axil_bvalid = bvalid, top.m_axil_rvalid = rvalid, top.m_axil_bresp = bresp, top.m_axil_rresp = rresp;
        model_.settle();
        axil_.sample();
        if (reading_ && top.s_axil_arready) fail("a read is taken before the one ahead of it is answered");
        reading_ =
            top.s_axil_arvalid && top.s_axil_arready ? true : reading_ && !(top.s_axil_rvalid && top.s_axil_rready);
        for (unsigned i = 0; i < LANES; i++) {
            Nic &n = nics_[i];
            if (top.m_axil_awvalid >> i & awready >> i & 1) n.aw = true, n.aw_addr = top.m_axil_awaddr, n.b_in = late();
            if (top.m_axil_wvalid >> i & wready >> i & 1) n.w = true, n.w_data = top.m_axil_wdata;
            if (top.m_axil_arvalid >> i & arready >> i & 1) n.ar = true, n.ar_addr = top.m_axil_araddr, n.r_in = late();
            if (top.m_axil_bready >> i & bvalid >> i & 1) {
                n.aw = n.w = false, n.writes++;
                if (n.aw_addr != NOTHING) n.words[n.aw_addr / 4] = n.w_data;
            }
            if (top.m_axil_rready >> i & rvalid >> i & 1) n.ar = false;
        }
        model_.rise();
    }
    unsigned late() { return random_.below(1 + slow_ / 5); }

    bench::Model<Vgn_axil_lanes> model_;
    bench::Random random_;
    bench::Axil<Vgn_axil_lanes> axil_;
    std::array<Nic, LANES> nics_;
    unsigned slow_ = 0;
    bool reading_ = false;
};

}  // namespace

int main(int argc, char **argv)
{
    const bench::Options o = bench::options(argc, argv);
    bench::Random random{o.seed};
    Bench b(o);
    for (unsigned round = 0; round < 6; round++) {
        b.gaps(round * 12, round % 3 * 30);
        for (unsigned n = 0; n < 400; n++) {
            if (n % 8 == 0) b.restart();
            const uint32_t address = random.below(1022) * 4;
            switch (random.below(8)) {
            case 0:
                b.write(address, static_cast<uint32_t>(random.next()));
                break;
            case 1:
                b.write_and_read(random.below(COUNTERS / 4) * 4, static_cast<uint32_t>(random.next()));
                b.gaps(round * 12, round % 3 * 30);
                break;
            case 2:
                random.percent(50) ? b.read(NOTHING) : b.write(NOTHING, 0);
                break;
            default:
                b.read(address);
            }
        }
    }
    printf("all registers as they should be\n");
    return 0;
}
