// SPDX-License-Identifier: Apache-2.0
// gn_nic_lanes, one direction at a time: every frame as the model says, in order, with its
// side-band and length, and a word for each that is dropped; lanes that finish far apart; long
// stalls; floods of short frames; and the rate, in cycles. GN_RTL_FROM_WIRE: from the wire to the
// host. To the wire, each of the GN_RTL_LANES lanes has a table of 2^GN_RTL_FLOWS TCP flows, and so
// has the model. With --all it prints the rates of all lengths and payloads as a table,
// tab-separated.
#include <array>
#include <deque>

#include "Vlanes_way.h"

#include "tests/rtl/common/axil.h"
#include "tests/rtl/common/axis.h"
#include "tests/rtl/common/flow_lane.h"
#include "tests/rtl/common/tokens.h"
#include "tests/rtl/common/wire.h"

using bench::Bytes;
using bench::fail;

namespace
{

enum { LONGEST = 32 << 10, SNAPSHOT = 0x010, MTU = 0x018, MAX_RESTORED = 0x01c, FLOWS = 0x400 + 8 * 16 };
constexpr bool FROM_WIRE = GN_RTL_FROM_WIRE;
constexpr size_t LANES = GN_RTL_LANES;

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
        const gn_rule rule = gn_rule_default();
        const gn_rx_config rx{};
        if (gn_rx_new(&rx_, &rx) != GN_OK) fail("no model");
        gn_rx_set_tos(rx_, &rule.tos, 1);
        gn_rx_set_max_restored(rx_, 65535);
        setup();
    }
    ~Bench()
    {
        for (gn_tx *tx : tx_) gn_tx_free(tx);
        gn_rx_free(rx_);
    }

    bool long_stalls = false;

    void send(const Bytes &frame, bool bad = false)
    {
        bool leaves = false;
        Bytes out;
        if (!bad && frame.size() <= LONGEST) leaves = FROM_WIRE ? receive(frame, out) : transmit(frame, out);
        bytes_in += frame.size(), frames_in++;
        if (leaves) bytes_out += out.size(), expected_.push_back(std::move(out));
        // with a table of flows, what is said of TCP here does not count
        tokens_.sent(stream_.send(frame, (FROM_WIRE ? 0u : random_.below(8)) | (bad ? 8u : 0u)), leaves);
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
        if (!FROM_WIRE) compare_flows();
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
    std::array<uint64_t, LANES> segments{};       // of TCP that leave compressed, by lane
    uint64_t added = 0, evicted = 0, closed = 0;  // TCP flows of all lanes
    uint64_t drops() const { return tokens_.drops; }

  private:
    unsigned long long cycle() const { return stream_.cycle(); }

    // As after a reset, which forgets the flows too.
    void setup()
    {
        const gn_rule rule = gn_rule_default();
        gn_tx_config config{};
        config.rules = &rule, config.rule_count = 1, config.wire_mtu = 65535;
        config.flow_log2 = GN_RTL_FLOWS, config.flow_seed = 0x6e6f7661;
        for (gn_tx *&tx : tx_) {
            gn_tx_free(tx);
            if (gn_tx_new(&tx, &config) != GN_OK) fail("no model of a lane");
        }
        for (uint32_t address : {uint32_t{MTU}, uint32_t{MAX_RESTORED}}) write(address, 65535);
        settle();
    }
    void write(uint32_t address, uint32_t value)
    {
        axil_.write(address, value, 15, [address](unsigned answer) {
            if (answer != bench::AXIL_OKAY) fail("register %03x cannot be written", address);
        });
    }
    void settle()
    {
        for (unsigned n = 0; axil_.busy(); n++) {
            if (n > 10000) fail("no answer from the registers");
            stream_.step();
        }
    }
    // The counters of all tables, as one NIC's.
    void compare_flows()
    {
        std::array<uint64_t, 3> want{}, got{};
        for (gn_tx *tx : tx_) {
            const gn_tx_counters &c = *gn_tx_get_counters(tx);
            want[0] += c.flows_added, want[1] += c.flows_evicted, want[2] += c.flows_closed;
        }
        write(SNAPSHOT, 1);
        settle();
        for (uint32_t i = 0; i < 3; i++)
            axil_.read(FLOWS + 8 * i, [&got, i](uint32_t value, unsigned) { got[i] = value; });
        settle();
        if (got != want)
            fail("TCP flows added, pushed out, closed: %llu %llu %llu, should be %llu %llu %llu",
                 (unsigned long long)got[0], (unsigned long long)got[1], (unsigned long long)got[2],
                 (unsigned long long)want[0], (unsigned long long)want[1], (unsigned long long)want[2]);
        added = std::max(added, got[0]), evicted = std::max(evicted, got[1]), closed = std::max(closed, got[2]);
    }
    bool transmit(const Bytes &frame, Bytes &out)
    {
        const size_t at = gn_frame_ethernet_offset(frame.data(), frame.size());
        out.resize(frame.size() + 64);
        size_t bytes = 0;
        const int tcp = at ? flow_lane(frame.data() + at, frame.size() - at) : -1;
        const size_t lane = static_cast<size_t>(std::max(tcp, 0)) % LANES;
        if (!at || gn_tx_packet(tx_[lane], frame.data() + at, frame.size() - at, out.data() + at, out.size() - at,
                                &bytes) == GN_VERDICT_PASS)
            out = frame;
        else
            std::copy_n(frame.begin(), at, out.begin()), out.resize(at + bytes);
        segments[lane] += tcp >= 0 && out.size() < frame.size();
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
    std::array<gn_tx *, LANES> tx_{};
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

// TCP of more flows than the tables hold: each begins with a SYN, and its segments begin anywhere
// within a value. And what a kernel sent, with and without offloads.
void flows(Bench &b, bench::Traffic &traffic, bench::Random &random)
{
    bench::Maker make(random.next());
    std::array<packet, (2u << GN_RTL_FLOWS) * LANES> flow{};
    for (size_t i = 0; i < flow.size(); i++) {
        flow[i].version = i % 3 ? 4 : 6, flow[i].source = static_cast<uint16_t>(40000 + i);
        flow[i].host = static_cast<uint8_t>(1 + i / 5), flow[i].seq = static_cast<uint32_t>(random.next());
    }
    for (unsigned round = 0; round < 12; round++) {
        for (unsigned n = 0; n < 300; n++) {
            packet &p = flow[random.below(static_cast<uint32_t>(round % 3 == 1 ? 6 * LANES : flow.size()))];
            p.flags = random.percent(12) ? 2 : random.percent(3) ? 0x11 : 0x10;
            p.tcp_options = 4 * random.below(4);
            const size_t bytes = p.flags == 2 && random.percent(90) ? 0 : 1 + random.below(round % 2 ? 100 : 1400);
            b.send(make.frame(p, bytes ? traffic.values({GN_DENSE, 10}, bytes) : Bytes()), random.percent(2));
            p.seq += static_cast<uint32_t>(bytes) + (p.flags == 2);
        }
        b.run(round % 3 * 20, round / 2 % 3 * 20);
    }
    for (const char *name : {"plain.pcap", "offload.pcap"}) {
        for (const Bytes &f : bench::capture(name)) b.send(f);
        b.run(0, 0);
    }
    printf("TCP flows: %llu added, %llu pushed out, %llu closed; segments compressed by lane:",
           (unsigned long long)b.added, (unsigned long long)b.evicted, (unsigned long long)b.closed);
    for (uint64_t n : b.segments) printf(" %llu", (unsigned long long)n);
    printf("\n");
    for (uint64_t n : b.segments)
        if (n < 100) fail("too few segments in a lane");
    if (b.evicted < 50 || b.closed < 20) fail("too few flows end");
}

// An untagged segment of gradients of TCP flow number `flow`, or its SYN.
Bytes segment(unsigned flow, bool syn, size_t bytes, uint32_t seq, bench::Traffic &traffic)
{
    packet p{};
    p.source = static_cast<uint16_t>(30000 + flow), p.flags = syn ? 2 : 0x10, p.seq = seq;
    const Bytes body = bytes ? traffic.values({GN_DENSE, 10}, bytes - 54) : Bytes();
    Bytes ip(body.size() + 120), f(12, 0x02);
    ip.resize(packet_build(&p, body.data(), body.size(), ip.data()));
    f.push_back(8), f.push_back(0);
    f.insert(f.end(), ip.begin(), ip.end());
    return f;
}

// The rate of TCP: several flows have the line's, one has a lane's.
void flow_rates(Bench &b, bench::Traffic &traffic)
{
    for (unsigned count : {1u, 8u}) {
        constexpr unsigned FRAMES = 800, BYTES = 1514;
        std::vector<uint32_t> seq(count, 1);
        for (unsigned i = 0; i < count; i++) b.send(segment(i, true, 0, 0, traffic));
        b.run(0, 0);
        b.forget();
        for (unsigned n = 0; n < FRAMES; n++) {
            b.send(segment(n % count, false, BYTES, seq[n % count], traffic));
            seq[n % count] += BYTES - 54;
        }
        const double cycles = static_cast<double>(b.cycles());
        const double of_line =
            static_cast<double>(b.bytes_in + FRAMES * static_cast<uint64_t>(LINK_ADDS)) / LINK_BYTES / cycles;
        printf("TCP flows: %u\t%u\t%.2f\t%.3f\n", count, BYTES, cycles / FRAMES, of_line);
        if (of_line < (count == 1 ? 0.6 : 1)) fail("%u TCP flows: %.3f of the line's rate", count, of_line);
    }
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
    if (!FROM_WIRE) flow_rates(b, traffic), flows(b, traffic, random);
    floods(b, random);
    printf("%llu frames, %llu dropped\n", (unsigned long long)b.frames, (unsigned long long)b.drops());
    if (b.drops() < 200) fail("too few were dropped");
    return 0;
}
