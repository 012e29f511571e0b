// SPDX-License-Identifier: Apache-2.0
// nic_lanes, one direction at a time: every frame as the model says, in order, with its side-band
// and length, and a word for each that is dropped; lanes that finish far apart; long stalls; floods
// of short frames; and the rate, in cycles. GN_RTL_FROM_WIRE: from the wire to the host. With --all
// it prints the rates of all lengths and payloads as a table, tab-separated.
#include <deque>

#include "Vlanes_way.h"

#include "tests/rtl/common/axil.h"
#include "tests/rtl/common/axis.h"
#include "tests/rtl/common/tokens.h"
#include "tests/rtl/common/wire.h"

using bench::Bytes;
using bench::fail;

namespace
{

enum { LONGEST = 32 << 10, MTU = 0x018, MAX_RESTORED = 0x01c };
constexpr bool FROM_WIRE = GN_RTL_FROM_WIRE;

// At 250 MHz a link of 100 Gbit/s carries 50 bytes a cycle. It adds 24 to a frame without check
// sequence.
constexpr double LINK_BYTES = 50, LINK_ADDS = 24;

class Bench
{
  public:
    explicit Bench(const bench::Options &o)
        : stream_(o, [this](bench::Frame &f) { check(f); }), axil_(stream_.top(), o.seed), random_{o.seed ^ 0x1a}
    {
        stream_.user_in_last = true;
        stream_.user_mask = 15;
        stream_.dropped = [this](uint64_t side) { tokens_.dropped(side); };
        stream_.before = [this](Vlanes_way &top) {
            axil_.drive();
            if (hold_ ? hold_-- : 0) top.m_axis_tready = 0, top.drop_ready = 0;
            if (long_stalls && !hold_ && random_.below(500) == 0) hold_ = random_.below(2000);
        };
        stream_.every = [this](Vlanes_way &) { axil_.sample(); };
        gn_tx_config tx{};
        const gn_rule rule = gn_rule_default();
        tx.rules = &rule, tx.rule_count = 1, tx.wire_mtu = 65535;
        const gn_rx_config rx{};
        if (gn_tx_new(&tx_, &tx) != GN_OK || gn_rx_new(&rx_, &rx) != GN_OK) fail("no model");
        gn_rx_set_tos(rx_, &rule.tos, 1);
        gn_rx_set_max_restored(rx_, 65535);
        setup();
    }
    ~Bench() { gn_tx_free(tx_), gn_rx_free(rx_); }

    bool long_stalls = false;

    void send(const Bytes &frame, bool bad = false)
    {
        bool leaves = false;
        Bytes out;
        if (!bad && frame.size() <= LONGEST) leaves = FROM_WIRE ? receive(frame, out) : transmit(frame, out);
        bytes_in += frame.size(), frames_in++;
        if (leaves) bytes_out += out.size(), expected_.push_back(std::move(out));
        // of TCP, that where the values begin is not known
        tokens_.sent(stream_.send(frame, (FROM_WIRE ? 0u : 4u) | (bad ? 8u : 0u)), leaves);
    }
    void send_empty_end(const Bytes &frame)
    {
        stream_.send_empty_end(frame, 0);
        tokens_.sent(stream_.last_side(), false);
    }
    void run(unsigned idle, unsigned stall)
    {
        stream_.gaps = {idle, stall};
        for (uint64_t quiet = 0, moved = 0; !tokens_.empty(); quiet++) {
            if (moved != stream_.beats_in() + stream_.beats_out() + tokens_.drops)
                moved = stream_.beats_in() + stream_.beats_out() + tokens_.drops, quiet = 0;
            if (quiet > 30000) fail("cycle %llu: nothing moves", cycle());
            stream_.step();
        }
        stream_.drain();
        if (!expected_.empty()) fail("a frame is missing");
    }
    // Cycles from the first beat in to the last beat out, of what was sent since the last run.
    uint64_t cycles()
    {
        const uint64_t begin = stream_.cycle();
        run(0, 0);
        return last_out_ - begin + 1;
    }
    void forget() { bytes_in = bytes_out = frames_in = 0; }
    void cut(unsigned steps)
    {
        for (unsigned i = 0; i < steps; i++) stream_.step();
        axil_.reset();
        stream_.reset(3);
        expected_.clear(), tokens_.clear();
        hold_ = 0;
        stream_.drain(300);
        setup();
    }
    uint64_t bytes_in = 0, bytes_out = 0, frames_in = 0, frames = 0;
    uint64_t drops() const { return tokens_.drops; }

  private:
    unsigned long long cycle() const { return stream_.cycle(); }

    void setup()
    {
        for (uint32_t address : {uint32_t{MTU}, uint32_t{MAX_RESTORED}})
            axil_.write(address, 65535, 15, [](unsigned answer) {
                if (answer != bench::AXIL_OKAY) fail("a limit cannot be written");
            });
        for (unsigned n = 0; axil_.busy(); n++) {
            if (n > 10000) fail("no answer from the registers");
            stream_.step();
        }
    }
    bool transmit(const Bytes &frame, Bytes &out)
    {
        const size_t at = gn_frame_ethernet_offset(frame.data(), frame.size());
        out.resize(frame.size() + 64);
        size_t bytes = 0;
        if (!at || gn_tx_packet_head(tx_, frame.data() + at, frame.size() - at, static_cast<int>(GN_HEAD_STORED),
                                     out.data() + at, out.size() - at, &bytes) == GN_VERDICT_PASS)
            out = frame;
        else
            std::copy_n(frame.begin(), at, out.begin()), out.resize(at + bytes);
        return true;
    }
    bool receive(const Bytes &frame, Bytes &out)
    {
        const size_t at = gn_frame_ethernet_offset(frame.data(), frame.size());
        out.resize(at + GN_PACKET_MAX);
        size_t bytes = 0;
        const gn_verdict verdict =
            at ? gn_rx_packet(rx_, frame.data() + at, frame.size() - at, out.data() + at, LONGEST - at, &bytes)
               : GN_VERDICT_PASS;
        if (verdict == GN_VERDICT_PASS)
            out = frame;
        else
            std::copy_n(frame.begin(), at, out.begin()), out.resize(at + bytes);
        return verdict != GN_VERDICT_DROP;
    }
    void check(bench::Frame &f)
    {
        if (expected_.empty()) fail("a frame that nobody sent");
        tokens_.left(f);
        if (f.bytes != expected_.front())
            fail("frame %llu: %s\n  should be: %s", (unsigned long long)frames,
                 bench::difference(f.bytes, expected_.front()).c_str(), bench::describe(expected_.front()).c_str());
        // once it begins it has no gap but the receiver's: a MAC may be behind it
        if (!stream_.gaps.stall && !long_stalls && f.bytes.size() < LONGEST &&
            f.last_cycle - f.first_cycle + 1 != f.beats)
            fail("a frame of %llu beats takes %llu cycles", (unsigned long long)f.beats,
                 (unsigned long long)(f.last_cycle - f.first_cycle + 1));
        last_out_ = f.last_cycle;
        expected_.pop_front(), frames++;
    }

    bench::Stream<Vlanes_way> stream_;
    bench::Axil<Vlanes_way> axil_;
    bench::Random random_;
    gn_tx *tx_ = nullptr;
    gn_rx *rx_ = nullptr;
    std::deque<Bytes> expected_;
    bench::Tokens tokens_;
    uint64_t last_out_ = 0;
    unsigned hold_ = 0;
};

// ---- payloads, by how much of them is left

enum Content { UNTOUCHED, NOISE, HALF, MIXED, GRADIENT, ZEROS, CONTENTS };
const char *const NAMES[CONTENTS] = {"untouched", "random words", "half zeros", "mixed", "gradients", "zeros"};

// A frame of so many bytes before it is compressed, UDP.
Bytes frame_of(Content content, size_t bytes, bench::Random &random)
{
    static const std::vector<float> gradients = bench::gradient("cnn-it100-w1");
    const bench::Setting s{GN_DENSE, 10};
    const size_t headers = 14 + 28, count = (bytes - headers) / 4 + 1;
    std::vector<float> values;
    if (content == GRADIENT) {
        const size_t at = random.below(static_cast<uint32_t>(gradients.size()));
        for (size_t i = 0; i < count; i++) values.push_back(gradients[(at + i) % gradients.size()]);
    } else {
        values = bench::values_of(content == ZEROS   ? bench::ZEROS
                                  : content == HALF  ? bench::RAW_AND_ZEROS
                                  : content == MIXED ? bench::MIXED
                                                     : bench::RANDOM_BITS,
                                  s, count, random);
    }
    Bytes body = bench::bytes_of(values), ip(bytes + 120), f(12, 0x02);
    body.resize(bytes - headers);
    packet p{};
    p.protocol = 17, p.tos = content == UNTOUCHED ? NO_TOS : 0x28;
    ip.resize(packet_build(&p, body.data(), body.size(), ip.data()));
    f.push_back(8), f.push_back(0);
    f.insert(f.end(), ip.begin(), ip.end());
    return f;
}

// The same as it comes by on the wire: the model sends it.
Bytes on_the_wire(const Bytes &frame)
{
    static gn_tx *tx = nullptr;
    const gn_rule rule = gn_rule_default();
    gn_tx_config config{};
    config.rules = &rule, config.rule_count = 1, config.wire_mtu = 65535;
    if (!tx && gn_tx_new(&tx, &config) != GN_OK) fail("no model of the sender");
    Bytes out(frame.size() + 64);
    size_t bytes = 0;
    if (gn_tx_packet(tx, frame.data() + 14, frame.size() - 14, out.data() + 14, out.size() - 14, &bytes) ==
        GN_VERDICT_PASS)
        return frame;
    std::copy_n(frame.begin(), 14, out.begin());
    out.resize(14 + bytes);
    return out;
}

struct Rate {
    double frame_cycles, of_line;  // cycles a frame; of 100 Gbit/s, on the wider side
    double in, out;                // bytes of a frame
};

// Frames of one kind, one behind the other, with nothing in the way.
Rate rate(Bench &b, Content content, size_t bytes, bench::Random &random)
{
    const unsigned count = static_cast<unsigned>(bytes < 300 ? 4000 : 1200000 / bytes);
    b.forget();
    for (unsigned n = 0; n < count; n++) {
        const Bytes f = frame_of(content, bytes, random);
        b.send(FROM_WIRE ? on_the_wire(f) : f);
    }
    const double cycles = static_cast<double>(b.cycles());
    const double wider = static_cast<double>(std::max(b.bytes_in, b.bytes_out)) + LINK_ADDS * count;
    return {cycles / count, wider / LINK_BYTES / cycles, static_cast<double>(b.bytes_in) / count,
            static_cast<double>(b.bytes_out) / count};
}

void rates(Bench &b, bench::Random &random, bool all)
{
    static const std::vector<size_t> every = {60, 64, 128, 256, 512, 1024, 1514, 4114, 9014},
                                     some = {60, 128, 1514, 9014};
    for (int content = 0; content < CONTENTS; content++)
        for (size_t bytes : all ? every : some) {
            const Rate r = rate(b, static_cast<Content>(content), bytes, random);
            printf("%s\t%zu\t%.1f\t%.1f\t%.2f\t%.3f\n", NAMES[content], bytes, r.in, r.out, r.frame_cycles, r.of_line);
            // What is promised: the line's rate, but for the shortest frames
            if (r.of_line < 1 && bytes >= (content == UNTOUCHED ? 60u : 256u))
                fail("%s, %zu bytes: %.3f of the line's rate", NAMES[content], bytes, r.of_line);
            if (r.of_line < 0.4) fail("%s, %zu bytes: %.3f of the line's rate", NAMES[content], bytes, r.of_line);
        }
}

// Frames of all kinds and lengths, so that lanes are done far apart.
void any_frames(Bench &b, bench::Traffic &traffic, bench::Random &random)
{
    for (unsigned round = 0; round < 24; round++) {
        b.long_stalls = round % 4 == 3;
        for (unsigned n = 0; n < 120; n++) {
            const unsigned what = random.below(40);
            const size_t longest = round % 2 ? 200 : 1460;
            if (what == 0)
                b.send(Bytes(LONGEST + 1 + random.below(9000), 3));
            else if (what == 1)
                b.send_empty_end(traffic.host(100));
            else if (what < 6) {
                const Bytes f =
                    frame_of(static_cast<Content>(random.below(CONTENTS)), 3000 + random.below(6000), random);
                b.send(FROM_WIRE ? on_the_wire(f) : f);
            } else
                b.send(FROM_WIRE ? traffic.any(longest)
                                 : traffic.host(1 + random.below(static_cast<uint32_t>(longest))),
                       random.percent(5));
        }
        if (round % 6 == 5)
            b.cut(random.below(3000));
        else
            b.run(round % 3 * random.below(40), round / 2 % 3 * random.below(40));
    }
    b.long_stalls = false;
}

// Short frames behind one that takes long, more of them than there are places for tokens, with and
// without a word from the receiver.
void floods(Bench &b, bench::Random &random)
{
    for (bool stalls : {false, true})
        for (int content : {UNTOUCHED, NOISE, ZEROS}) {
            b.long_stalls = stalls;
            for (unsigned n = 0; n < 8; n++) {
                const Bytes f = frame_of(MIXED, 9014, random);
                b.send(FROM_WIRE ? on_the_wire(f) : f);
                for (unsigned i = 0; i < 700; i++) {
                    const Bytes g = frame_of(static_cast<Content>(content), 60, random);
                    b.send(FROM_WIRE ? on_the_wire(g) : g, i % 50 == 49);
                }
            }
            b.run(0, 0);
        }
    b.long_stalls = false;
    // as long as the store at most, and nothing else
    for (unsigned n = 0; n < 6; n++) b.send(Bytes(LONGEST - n, 9));
    b.run(0, 0);
}

}  // namespace

int main(int argc, char **argv)
{
    const bench::Options o = bench::options(argc, argv, true);
    bench::Random random{o.seed ^ 0x77};
    bench::Traffic traffic(o.seed, LONGEST);
    Bench b(o);
    rates(b, random, o.all);
    if (o.all) return 0;
    any_frames(b, traffic, random);
    floods(b, random);
    printf("%llu frames, %llu dropped\n", (unsigned long long)b.frames, (unsigned long long)b.drops());
    if (b.drops() < 200) fail("too few were dropped");
    return 0;
}
