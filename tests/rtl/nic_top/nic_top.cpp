// SPDX-License-Identifier: Apache-2.0
// gn_nic_top with its wire looped back, set up through its registers: what leaves for the wire is
// what gn_tx_packet_head() makes, what comes back to the host is what gn_rx_packet() makes of that,
// and the counters read back are the models'. Rules change between frames, either direction may
// pass all, frames may be bad on either side.
#include <deque>
#include <map>

#include "Vnic_loop.h"

#include "tests/rtl/common/axil.h"
#include "tests/rtl/common/axis.h"
#include "tests/rtl/common/wire.h"

using bench::Bytes;
using bench::fail;
using bench::Traffic;

namespace
{

enum {
    RULES = 4,
    LONGEST = 32 * 1024,
    CONTROL = 0x00c,
    SNAPSHOT = 0x010,
    COMMIT = 0x014,
    MTU = 0x018,
    MAX_RESTORED = 0x01c,
    RULE = 0x100,
    TX = 0x400,
    TX_RULE = 0x500,
    RX = 0x800
};

class Bench
{
  public:
    explicit Bench(const bench::Options &o)
        : stream_(o, [this](bench::Frame &f) { host(f); }), axil_(stream_.top(), o.seed), random_{o.seed ^ 0x10}
    {
        stream_.user_in_last = true;
        stream_.user_mask = 15;
        stream_.before = [this](Vnic_loop &top) {
            axil_.drive();
            top.wire_hold = random_.percent(hold);
            top.wire_bad = !wire_.empty() && wire_.front().bad;
        };
        stream_.every = [this](Vnic_loop &top) {
            axil_.sample();
            if (top.wire_taken) on_wire(top);
        };
        const gn_tx_config tx{};
        const gn_rx_config rx{};
        if (gn_tx_new(&tx_, &tx) != GN_OK || gn_rx_new(&rx_, &rx) != GN_OK) fail("no model");
        reset();
    }
    ~Bench() { gn_tx_free(tx_), gn_rx_free(rx_); }

    unsigned hold = 0;  // percent of cycles in which the wire stands still

    // As after a reset: the default rule.
    void reset()
    {
        axil_.reset();
        stream_.reset(3);
        const gn_rule rule = gn_rule_default();
        gn_tx_set_rules(tx_, &rule, 1);
        gn_rx_set_tos(rx_, &rule.tos, 1);
        gn_tx_set_bypass(tx_, false), gn_rx_set_bypass(rx_, false);
        gn_tx_set_wire_mtu(tx_, 1500), gn_rx_set_max_restored(rx_, 9000);
        number_ = {0};
        want_.clear();
        wire_.clear(), host_.clear();
        wire_current_.clear();
        if (read(0) != 0x474e4943 || read(4) != 0x00010002 || read(8) != (10 << 16 | RULES << 8 | 7))
            fail("this is another NIC");
    }
    void gaps(unsigned idle, unsigned stall) { stream_.gaps = {idle, stall}, axil_.idle = idle, axil_.stall = stall; }

    // Any rules. Those that are written but not committed change nothing.
    void configure(Traffic &traffic, bool tx_bypass, bool rx_bypass)
    {
        std::vector<gn_rule> rules;
        std::vector<uint8_t> tos;
        number_.clear();
        for (unsigned i = 0; i < RULES; i++) {
            gn_rule r = gn_rule_default();
            static const uint8_t marks[] = {0x28, 0x28, 0x48, 0x04};
            r.tos = marks[random_.below(4)];
            if (random_.percent(30)) r.protocol = random_.percent(50) ? 6 : 17;
            if (random_.percent(20)) r.port_low = 4000, r.port_high = static_cast<uint16_t>(4900 + random_.below(200));
            if (random_.percent(40)) r.head = static_cast<uint8_t>(random_.below(20));
            const bench::Setting s = bench::any_setting(traffic.random_);
            gn_codec_init(&r.codec, s.profile, s.k);
            const bool enabled = random_.percent(80);
            write(RULE + 16 * i,
                  r.tos | r.protocol << 8 | static_cast<uint32_t>(s.profile) << 16 | (enabled ? 1u << 31 : 0));
            write(RULE + 16 * i + 4, r.port_low | static_cast<uint32_t>(r.port_high) << 16);
            write(RULE + 16 * i + 8, (s.k & 0xff) | static_cast<uint32_t>(r.head) << 8);
            if (!enabled) continue;
            rules.push_back(r), tos.push_back(r.tos), number_.push_back(i);
        }
        write(CONTROL, tx_bypass | rx_bypass << 1);
        write(COMMIT, 1);
        for (unsigned i = 0; i < RULES; i++) write(RULE + 16 * i, static_cast<uint32_t>(random_.next()));
        if (gn_tx_set_rules(tx_, rules.data(), rules.size()) != GN_OK ||
            gn_rx_set_tos(rx_, tos.data(), tos.size()) != GN_OK)
            fail("the models do not take the rules");
        gn_tx_set_bypass(tx_, tx_bypass), gn_rx_set_bypass(rx_, rx_bypass);
    }

    // The longest IP packets: to the wire with a shim, and restored.
    void limits(uint32_t mtu, uint32_t max_restored)
    {
        write(MTU, mtu), write(MAX_RESTORED, max_restored);
        gn_tx_set_wire_mtu(tx_, mtu), gn_rx_set_max_restored(rx_, max_restored);
    }
    // hint: as s_axis_host_tuser[2:0]
    void send(Bytes frame, unsigned hint, bool bad, bool bad_on_wire)
    {
        if (bad)
            want_[TX + 14 * 8]++;
        else if (frame.size() > LONGEST)
            want_[TX + 15 * 8]++;
        else {
            Bytes on_wire = transmit(frame, hint);
            if (bad_on_wire)
                want_[RX + 18 * 8]++;
            else if (on_wire.size() > LONGEST)
                want_[RX + 19 * 8]++;
            else
                receive(on_wire);
            wire_.push_back({std::move(on_wire), bad_on_wire});
        }
        stream_.send(std::move(frame), hint | bad << 3);
    }
    // Whole beats of it and one without a byte: bad, though nobody says so.
    void send_empty_end(Bytes frame)
    {
        want_[TX + 14 * 8]++;
        stream_.send_empty_end(std::move(frame), 0);
    }
    void run()
    {
        stream_.run(host_.size(), 20000);  // a frame of 32 KiB may be stored four times on its way
        for (unsigned quiet = 0; quiet < 20000 && (stream_.pending() || !wire_.empty()); quiet++) stream_.step();
        if (stream_.pending() || !wire_.empty()) fail("%zu frames do not reach the wire", wire_.size());
        stream_.drain(1000);
        compare();
    }
    // In the middle of it all.
    void cut(unsigned cycles)
    {
        for (unsigned i = 0; i < cycles; i++) stream_.step();
        reset();
        stream_.drain(300);
        compare();  // all 0
    }
    uint64_t frames = 0, restored = 0, malformed = 0, too_big = 0, too_large = 0;

  private:
    struct Sent {
        Bytes bytes;
        bool bad;
    };

    void settle()
    {
        for (unsigned n = 0; axil_.busy(); n++) {
            if (n > 10000) fail("no answer from the registers");
            stream_.step();
        }
    }
    uint32_t read(uint32_t address)
    {
        uint32_t value = 0;
        axil_.read(address, [&](uint32_t data, unsigned answer) {
            if (answer != bench::AXIL_OKAY) fail("register %03x is not there", address);
            value = data;
        });
        settle();
        return value;
    }
    void write(uint32_t address, uint32_t data)
    {
        axil_.write(address, data, 15, [address](unsigned answer) {
            if (answer != bench::AXIL_OKAY) fail("register %03x cannot be written", address);
        });
        settle();
    }

    Bytes transmit(const Bytes &frame, unsigned hint)
    {
        const size_t at = gn_frame_ethernet_offset(frame.data(), frame.size());
        const gn_tx_counters a = *gn_tx_get_counters(tx_);
        Bytes out(frame.size() + 64);
        size_t bytes = 0;
        const int head = hint & 4 ? static_cast<int>(GN_HEAD_STORED) : static_cast<int>(hint & 3);
        // not an IP packet: the model is not shown it
        const gn_verdict verdict = gn_tx_packet_head(tx_, frame.data() + at, at ? frame.size() - at : 0, head,
                                                     out.data() + at, out.size() - at, &bytes);
        const gn_tx_counters &b = *gn_tx_get_counters(tx_);
        const uint64_t more[] = {1,
                                 frame.size(),
                                 b.passed - a.passed,
                                 b.pass_bypass - a.pass_bypass,
                                 b.pass_no_rule - a.pass_no_rule,
                                 b.pass_not_ip - a.pass_not_ip,
                                 b.pass_fragment - a.pass_fragment,
                                 b.pass_extension - a.pass_extension,
                                 b.pass_protocol - a.pass_protocol,
                                 b.pass_empty - a.pass_empty,
                                 b.pass_too_big - a.pass_too_big,
                                 b.stored_no_gain - a.stored_no_gain,
                                 b.stored_no_syn - a.stored_no_syn,
                                 b.stored_syn - a.stored_syn};
        for (uint32_t i = 0; i < 14; i++) want_[TX + 8 * i] += more[i];
        too_big += more[10];
        for (size_t i = 0; i < number_.size(); i++) {
            const gn_tx_rule_counters &ra = a.rule[i], &rb = b.rule[i];
            const uint64_t of_rule[] = {rb.compressed - ra.compressed, rb.stored - ra.stored, rb.values - ra.values,
                                        rb.payload_bytes - ra.payload_bytes, rb.wire_bytes - ra.wire_bytes};
            for (uint32_t n = 0; n < 5; n++) want_[TX_RULE + 0x40 * number_[i] + 8 * n] += of_rule[n];
        }
        if (verdict == GN_VERDICT_PASS) return frame;
        std::copy_n(frame.begin(), at, out.begin());
        out.resize(at + bytes);
        return out;
    }
    void receive(const Bytes &frame)
    {
        const size_t at = gn_frame_ethernet_offset(frame.data(), frame.size());
        const gn_rx_counters a = *gn_rx_get_counters(rx_);
        Bytes out(at + GN_PACKET_MAX);
        size_t bytes = 0;
        const gn_verdict verdict =
            gn_rx_packet(rx_, frame.data() + at, at ? frame.size() - at : 0, out.data() + at, LONGEST - at, &bytes);
        const gn_rx_counters &b = *gn_rx_get_counters(rx_);
        const uint64_t more[] = {1,
                                 frame.size(),
                                 b.passed - a.passed,
                                 b.foreign - a.foreign,
                                 b.restored[0] - a.restored[0],
                                 b.restored[1] - a.restored[1],
                                 b.restored[2] - a.restored[2],
                                 b.restored[3] - a.restored[3],
                                 b.wire_bytes - a.wire_bytes,
                                 b.payload_bytes - a.payload_bytes,
                                 b.malformed - a.malformed,
                                 b.bad_version - a.bad_version,
                                 b.bad_kind - a.bad_kind,
                                 b.bad_bound - a.bad_bound,
                                 b.bad_head - a.bad_head,
                                 b.bad_length - a.bad_length,
                                 b.bad_stream - a.bad_stream,
                                 b.bad_checksum - a.bad_checksum};
        for (uint32_t i = 0; i < 18; i++) want_[RX + 8 * i] += more[i];
        want_[RX + 8 * 20] += b.too_large - a.too_large, too_large += b.too_large - a.too_large;
        restored += verdict == GN_VERDICT_WRITE, malformed += verdict == GN_VERDICT_DROP;
        if (verdict == GN_VERDICT_DROP) return;
        if (verdict == GN_VERDICT_PASS)
            out = frame;
        else
            std::copy_n(frame.begin(), at, out.begin()), out.resize(at + bytes);
        host_.push_back(std::move(out));
    }

    void on_wire(Vnic_loop &top)
    {
        const uint8_t *data = reinterpret_cast<const uint8_t *>(&top.wire_tdata[0]);
        wire_current_.insert(wire_current_.end(), data, data + __builtin_popcountll(top.wire_tkeep));
        if (!top.wire_tlast) return;
        if (wire_.empty()) fail("a frame on the wire that nobody sent");
        same("on the wire", on_wire_++, wire_current_, wire_.front().bytes);
        wire_.pop_front();
        wire_current_.clear();
    }
    void host(bench::Frame &f)
    {
        if (host_.empty()) fail("the host gets a frame that nobody sent");
        same("for the host", frames, f.bytes, host_.front());
        host_.pop_front(), frames++;
    }
    void same(const char *where, uint64_t number, const Bytes &got, const Bytes &want)
    {
        if (got != want)
            fail("cycle %llu: frame %llu %s: %s\n  should be: %s", (unsigned long long)stream_.cycle(),
                 (unsigned long long)number, where, bench::difference(got, want).c_str(),
                 bench::describe(want).c_str());
    }
    void compare()
    {
        write(SNAPSHOT, 1);
        const auto equal = [this](uint32_t address) {
            const uint64_t got = read(address) | static_cast<uint64_t>(read(address + 4)) << 32;
            if (got != want_[address])
                fail("counter %03x is %llu, should be %llu", address, (unsigned long long)got,
                     (unsigned long long)want_[address]);
        };
        for (uint32_t i = 0; i < 16; i++) equal(TX + 8 * i);
        for (uint32_t i = 0; i < RULES * 5; i++) equal(TX_RULE + 0x40 * (i / 5) + 8 * (i % 5));
        for (uint32_t i = 0; i < 21; i++) equal(RX + 8 * i);
    }

    bench::Stream<Vnic_loop> stream_;
    bench::Axil<Vnic_loop> axil_;
    bench::Random random_;
    gn_tx *tx_ = nullptr;
    gn_rx *rx_ = nullptr;
    std::vector<uint32_t> number_;  // of the model's rules in the registers
    std::deque<Sent> wire_;
    std::deque<Bytes> host_;
    Bytes wire_current_;
    uint64_t on_wire_ = 0;  // frames that have come by
    std::map<uint32_t, uint64_t> want_;
};

}  // namespace

int main(int argc, char **argv)
{
    const bench::Options o = bench::options(argc, argv);
    bench::Random random{o.seed ^ 0x70};
    Traffic traffic(o.seed, LONGEST);
    Bench b(o);

    // by the default rule, with nothing written
    for (unsigned n = 0; n < 200; n++) b.send(traffic.host(1 + random.below(1460)), random.below(4), false, false);
    b.run();
    for (unsigned round = 0; round < 60; round++) {
        b.gaps(round % 2 * random.below(60), round / 2 % 2 * random.below(60)),
            b.hold = round / 4 % 2 * random.below(60);
        // what comes by on a wire is shown to the receiver when the sender lets all pass
        const bool tx_bypass = random.percent(35);
        b.configure(traffic, tx_bypass, random.percent(10));
        b.limits(round % 4 == 1   ? 65535
                 : round % 4 == 2 ? 1500
                                  : 60 + random.below(1500),
                 round % 5 == 1   ? 65535
                 : round % 5 == 2 ? 9000
                                  : 60 + random.below(1500));
        for (unsigned n = 0; n < 100; n++) {
            const size_t longest = round % 3 ? 200 : 1460;
            b.send(tx_bypass || random.percent(10) ? traffic.any(longest)
                                                   : traffic.host(1 + random.below(static_cast<uint32_t>(longest))),
                   random.below(random.percent(80) ? 4 : 8), random.percent(4), random.percent(4));
        }
        if (round % 10 == 9)
            b.cut(random.below(1500));
        else
            b.run();
    }
    b.gaps(0, 0), b.hold = 0;
    b.reset();
    // As after a reset: what a router on the way might have to cut passes without a shim.
    for (size_t bytes : {1400, 1450, 1492, 1500, 9000}) b.send(traffic.unsent(bytes), 0, false, false);
    b.run();
    b.limits(65535, 65535);
    for (size_t bytes : {30000, LONGEST - 8, LONGEST - 4, LONGEST + 0, LONGEST + 40, 2 * LONGEST}) {
        b.send(bytes < 65000 ? traffic.unsent(bytes) : Bytes(bytes, 7), 0, false, false);
        b.send(traffic.host(100), 0, false, false);
    }
    b.run();
    // more of them than the store has beats: none is lost with them
    for (unsigned n = 0; n < 1500; n++) b.send_empty_end(traffic.host(100));
    b.send(traffic.host(30000), 0, false, false);
    b.run();

    printf("%llu frames back at the host, %llu restored, %llu malformed, %llu of them too large; %llu too big "
           "for the wire\n",
           (unsigned long long)b.frames, (unsigned long long)b.restored, (unsigned long long)b.malformed,
           (unsigned long long)b.too_large, (unsigned long long)b.too_big);
    if (b.restored < 1000 || b.malformed < 200 || b.too_big < 50 || b.too_large < 50) fail("too few");
    return 0;
}
