// SPDX-License-Identifier: Apache-2.0
// gn_nic_tx against gn_tx_packet_head(), packet for packet and counter for counter: the captures in
// tests/data, packets of every kind under random rules, real gradients and hard mixes as payload;
// frames that are bad or too long; pauses, back-pressure, resets; the rate. With a table of TCP
// flows against gn_tx_packet(), which has such a table too.
#include <array>
#include <deque>

#include "Vgn_nic_tx.h"

#include "tests/rtl/common/axis.h"
#include "tests/rtl/common/frames.h"
#include "tests/rtl/common/rules.h"
#include "tests/rtl/common/tokens.h"
#include "tests/rtl/common/values.h"

using bench::Bytes;
using bench::fail;

namespace
{

#ifndef GN_RTL_LOG2
#define GN_RTL_LOG2 10  // as the parameter BUFFER_LOG2
#endif

#ifndef GN_RTL_RULES
#define GN_RTL_RULES 4  // as the parameter RULES
#endif

#ifndef GN_RTL_FLOWS
#define GN_RTL_FLOWS 0  // as the parameter FLOWS_LOG2
#endif

enum { RULES = GN_RTL_RULES, LONGEST = 32 << GN_RTL_LOG2, KINDS = 12, NOT_IP = 6, BYPASS = 4 };

struct Rule {
    bool enabled;
    gn_rule rule;
};

// What the events add up to, and what the model counts.
struct Counts {
    std::array<uint64_t, KINDS> kinds{};
    uint64_t packets = 0, bytes = 0, bad = 0, too_long = 0;
    std::array<std::array<uint64_t, 5>, RULES> rule{};
    uint64_t added = 0, evicted = 0, closed = 0;  // flows
};

class Bench
{
  public:
    explicit Bench(const bench::Options &o) : stream_(o, [this](bench::Frame &f) { check(f); }), random_{o.seed ^ 0x71}
    {
        stream_.user_in_last = true;
        stream_.user_mask = 15;
        stream_.every = [this](Vgn_nic_tx &top) { count(top); };
        stream_.dropped = [this](uint64_t side) { tokens_.dropped(side); };
        configure({}, false);
    }
    ~Bench() { gn_tx_free(tx_); }

    void configure(const std::vector<Rule> &rules, bool bypass)
    {
        if (GN_RTL_FLOWS) stream_.reset(1);  // the model's flows are forgotten too
        write(rules, bypass);
        gn_tx_free(tx_);
        tx_ = model(rules, bypass, &number_);
        rules_ = rules, bypass_ = bypass;
        for (size_t i = 0; i < KINDS; i++) seen[i] += got_.kinds[i];
        bad += got_.bad, too_long += got_.too_long;
        added += got_.added, evicted += got_.evicted, closed += got_.closed;
        got_ = want_ = {};
        beats_ = 0;
    }

    // hint: as s_axis_tuser[2:0]
    void send(Bytes frame, unsigned hint, bool bad = false)
    {
        if (bad)
            want_.bad++;
        else if (frame.size() > LONGEST)
            want_.too_long++;
        else
            expected_.push_back({reference(tx_, frame, hint), {}, frame});
        beats_ += (frame.size() + bench::BEAT - 1) / bench::BEAT;
        const bool leaves = !bad && frame.size() <= LONGEST;
        tokens_.sent(stream_.send(std::move(frame), hint | bad << 3), leaves);
    }
    // Whole beats of it and one without a byte: bad, though nobody says so.
    void send_empty_end(Bytes frame)
    {
        want_.bad++;
        beats_ += stream_.send_empty_end(std::move(frame), 0);
        tokens_.sent(stream_.last_side(), false);
    }
    // The model says how a TCP segment lies in its flow.
    unsigned hint(const Bytes &frame)
    {
        const size_t at = gn_frame_ethernet_offset(frame.data(), frame.size());
        if (!at || GN_RTL_FLOWS) return 0;
        const int head = gn_tx_head(tx_, frame.data() + at, frame.size() - at);
        return head == GN_HEAD_STORED ? 4 : static_cast<unsigned>(head);
    }
    void run(unsigned idle, unsigned stall)
    {
        stream_.gaps = {idle, stall};
        stream_.run(expected_.size());
        finish();
        compare();
    }
    // Rules that change at any time: each frame is judged by the old ones or the new, never by a
    // mixture.
    void change(const std::vector<Rule> &a, const std::vector<Rule> &b, const std::vector<Bytes> &list)
    {
        configure(a, false);
        std::vector<size_t> numbers;
        gn_tx *second = model(b, false, &numbers);
        for (const Bytes &f : list) {
            send(f, 1);
            if (f.size() <= LONGEST) expected_.back().other = reference(second, f, 1);
        }
        gn_tx_free(second);
        stream_.gaps = {10, 10};
        while (!expected_.empty()) {
            if (random_.percent(10)) write(random_.percent(50) ? a : b, false);
            stream_.step();
        }
        finish();
        configure(a, false);
        if (under_first_ < 20 || under_second_ < 20)
            fail("%zu frames under the first rules, %zu under the second", under_first_, under_second_);
        under_first_ = under_second_ = 0;
    }
    // Input beats a cycle, from the first beat in to the last beat out, with nothing in the way.
    void rate(const char *what, double least)
    {
        stream_.gaps = {};
        const size_t frames = expected_.size();
        const uint64_t beats = beats_, begin = stream_.cycle();
        stream_.run(frames);
        const uint64_t cycles = stream_.cycle() - begin;
        const double rate = static_cast<double>(beats) / static_cast<double>(cycles);
        printf("%-36s %.3f input beats a cycle, %.2f cycles a frame\n", what, rate,
               static_cast<double>(cycles) / static_cast<double>(frames));
        if (rate < least) fail("%s: %.3f beats a cycle, should be %.3f", what, rate, least);
        compare();
    }
    // One frame alone: cycles from its last beat in to its first beat out. `most` leaves a few for
    // what does not compress alike.
    void latency(const char *what, const Bytes &frame, uint64_t most)
    {
        stream_.gaps = {};
        stream_.drain();
        send(frame, 0);
        const uint64_t begin = stream_.cycle() + (frame.size() + bench::BEAT - 1) / bench::BEAT - 1;
        stream_.run(1);
        printf("%-36s %llu cycles from last beat in to first beat out\n", what,
               (unsigned long long)(first_out_ - begin));
        if (first_out_ - begin > most) fail("that should be %llu at most", (unsigned long long)most);
        beats_ = 0;
    }
    void reset_after(unsigned cycles)
    {
        stream_.gaps = {10, 30};
        for (unsigned i = 0; i < cycles; i++) stream_.step();
        stream_.reset(1 + random_.below(3));
        expected_.clear(), tokens_.clear();
        stream_.drain(200);
        configure(rules_, bypass_);
    }
    std::array<uint64_t, KINDS> seen{};
    uint64_t bad = 0, too_long = 0, frames = 0, added = 0, evicted = 0, closed = 0;
    uint64_t drops() const { return tokens_.drops; }
    size_t mtu = 65535;  // from the next configure() on

  private:
    // Bad ones behind the last good one: they do not leave, but are heard of.
    void finish()
    {
        for (unsigned quiet = 0; stream_.pending() || !tokens_.empty(); quiet++) {
            if (quiet > 100000) fail("a frame was dropped without a word");
            stream_.step();
        }
        stream_.drain();
    }
    // What the registers would say.
    void write(const std::vector<Rule> &rules, bool bypass)
    {
        Vgn_nic_tx &top = stream_.top();
        memset(&top.cfg_rules[0], 0, RULES * 8);
        uint8_t heads[RULES] = {};
        top.cfg_bypass = bypass;
        top.cfg_mtu = static_cast<uint16_t>(mtu);
        for (size_t i = 0; i < rules.size(); i++) {
            const gn_rule &r = rules[i].rule;
            const uint64_t bits = bench::rule_bits(r, rules[i].enabled);
            memcpy(&top.cfg_rules[2 * i], &bits, 8);
            heads[i] = r.head;
        }
        // an integer or an array of words, low byte first either way
        memcpy(&top.cfg_heads, heads, sizeof heads);
    }
    // The model under the same rules; `numbers`: which of the hardware's each of its rules is.
    gn_tx *model(const std::vector<Rule> &rules, bool bypass, std::vector<size_t> *numbers)
    {
        std::vector<gn_rule> enabled;
        numbers->clear();
        for (size_t i = 0; i < rules.size(); i++) {
            if (!rules[i].enabled || !(GN_RTL_PROFILES >> rules[i].rule.codec.profile & 1)) continue;
            numbers->push_back(i);
            enabled.push_back(rules[i].rule);
        }
        gn_tx_config config{};
        config.rules = enabled.data(), config.rule_count = enabled.size(), config.bypass = bypass;
        config.wire_mtu = mtu;
        config.flow_log2 = GN_RTL_FLOWS, config.flow_seed = 0x6e6f7661;
        gn_tx *tx = nullptr;
        if (gn_tx_new(&tx, &config) != GN_OK) fail("the model does not take the rules");
        return tx;
    }
    Bytes reference(gn_tx *tx, const Bytes &frame, unsigned hint)
    {
        const size_t at = gn_frame_ethernet_offset(frame.data(), frame.size());
        want_.packets++, want_.bytes += frame.size();
        if (!at) {
            want_.kinds[bypass_ ? BYPASS : NOT_IP]++;
            return frame;
        }
        Bytes out(frame.size() + 64);
        size_t bytes = 0;
        [[maybe_unused]] const int head = hint & 4 ? static_cast<int>(GN_HEAD_STORED) : static_cast<int>(hint & 3);
        const gn_verdict verdict = GN_RTL_FLOWS ? gn_tx_packet(tx, frame.data() + at, frame.size() - at,
                                                               out.data() + at, out.size() - at, &bytes)
                                                : gn_tx_packet_head(tx, frame.data() + at, frame.size() - at, head,
                                                                    out.data() + at, out.size() - at, &bytes);
        if (verdict == GN_VERDICT_PASS) return frame;
        std::copy_n(frame.begin(), at, out.begin());
        out.resize(at + bytes);
        return out;
    }
    void count(Vgn_nic_tx &top)
    {
        got_.added += top.event_flow_added, got_.evicted += top.event_flow_evicted;
        got_.closed += top.event_flow_closed;
        got_.bad += top.event_dropped_bad, got_.too_long += top.event_dropped_long;
        lead_ = lead_ ? lead_ - 1 : 0;
        if (!top.event_valid) return;
        if ((lead_ += 2) > 4) fail("events come faster than every second cycle");
        const unsigned kind = top.event_kind;
        if (kind >= KINDS) fail("an event of kind %u", kind);
        got_.kinds[kind]++, got_.packets++, got_.bytes += top.event_length;
        if (kind >= BYPASS) return;
        if (top.event_rule >= RULES) fail("an event of rule %u", top.event_rule);
        auto &r = got_.rule[top.event_rule];
        r[0] += kind == 0, r[1] += kind != 0, r[2] += top.event_values;
        r[3] += top.event_payload_bytes, r[4] += top.event_wire_bytes;
    }
    static void equal(const char *what, uint64_t got, uint64_t want)
    {
        if (got != want)
            fail("counter %s: %llu, should be %llu", what, (unsigned long long)got, (unsigned long long)want);
    }
    void compare()
    {
        const gn_tx_counters *c = gn_tx_get_counters(tx_);
        auto want = want_.kinds;  // the frames in which there is no IP packet
        const uint64_t counted[KINDS] = {0,
                                         c->stored_no_gain,
                                         c->stored_no_syn,
                                         c->stored_syn,
                                         c->pass_bypass,
                                         c->pass_no_rule,
                                         c->pass_not_ip,
                                         c->pass_fragment,
                                         c->pass_extension,
                                         c->pass_protocol,
                                         c->pass_empty,
                                         c->pass_too_big};
        static const char *const names[KINDS] = {"compressed",     "stored_no_gain", "stored_no_syn", "stored_syn",
                                                 "pass_bypass",    "pass_no_rule",   "pass_not_ip",   "pass_fragment",
                                                 "pass_extension", "pass_protocol",  "pass_empty",    "pass_too_big"};
        for (size_t i = 1; i < KINDS; i++) equal(names[i], got_.kinds[i], want[i] + counted[i]);
        uint64_t compressed = 0;
        for (size_t i = 0; i < number_.size(); i++) {
            const gn_tx_rule_counters &r = c->rule[i];
            const auto &got = got_.rule[number_[i]];
            equal("rule: compressed", got[0], r.compressed), equal("rule: stored", got[1], r.stored);
            equal("rule: values", got[2], r.values), equal("rule: payload_bytes", got[3], r.payload_bytes);
            equal("rule: wire_bytes", got[4], r.wire_bytes);
            compressed += r.compressed;
        }
        equal("compressed", got_.kinds[0], compressed);
        equal("packets", got_.packets, want_.packets), equal("bytes", got_.bytes, want_.bytes);
        equal("dropped_bad", got_.bad, want_.bad), equal("dropped_long", got_.too_long, want_.too_long);
        if (GN_RTL_FLOWS) {
            equal("flows_added", got_.added, c->flows_added), equal("flows_evicted", got_.evicted, c->flows_evicted);
            equal("flows_closed", got_.closed, c->flows_closed);
        }
        beats_ = 0;
    }
    void check(bench::Frame &f)
    {
        if (expected_.empty()) fail("a frame that nobody sent");
        tokens_.left(f);
        const Bytes &want = expected_.front().frame, &other = expected_.front().other;
        if (!other.empty() && other != want) under_first_ += f.bytes == want, under_second_ += f.bytes == other;
        if (f.bytes != want && (other.empty() || f.bytes != other)) {
            fail("frame %llu: %s\n  should be: %s\n  went in:   %s", (unsigned long long)frames,
                 bench::difference(f.bytes, want).c_str(), bench::describe(want).c_str(),
                 bench::describe(expected_.front().in).c_str());
        }
        first_out_ = f.first_cycle;
        expected_.pop_front(), frames++;
    }

    bench::Stream<Vgn_nic_tx> stream_;
    unsigned lead_ = 0;  // cycles by which events are ahead of one in two
    bench::Random random_;
    gn_tx *tx_ = nullptr;
    std::vector<Rule> rules_;
    std::vector<size_t> number_;  // of the model's rules in the hardware
    // of a frame: what leaves; what may leave as well, under other rules; what went in
    struct Expected {
        Bytes frame, other, in;
    };
    std::deque<Expected> expected_;
    bench::Tokens tokens_;
    size_t under_first_ = 0, under_second_ = 0;
    Counts got_, want_;
    uint64_t first_out_ = 0;
    bool bypass_ = false;
    uint64_t beats_ = 0;  // to go in, or gone in since the last comparison
};

// Packets for the rules at hand, and payloads that compress and that do not.
class Traffic
{
  public:
    explicit Traffic(uint64_t seed) : random_{seed}, make_(seed ^ 0x3a)
    {
        for (const char *name : {"cnn-it100-w1", "mlp-it1000-w0", "cnn-it30-w2"})
            gradients_.push_back(bench::gradient(name));
    }

    std::vector<Rule> rules()
    {
        std::vector<Rule> list(random_.below(RULES + 1));
        for (Rule &r : list) {
            r.enabled = random_.percent(85);
            r.rule = gn_rule_default();
            r.rule.tos = static_cast<uint8_t>(tos());
            if (random_.percent(30)) r.rule.protocol = random_.percent(50) ? 6 : 17;
            if (random_.percent(30)) {
                r.rule.port_low = port(), r.rule.port_high = port();
                if (r.rule.port_low > r.rule.port_high) std::swap(r.rule.port_low, r.rule.port_high);
            }
            if (random_.percent(40)) r.rule.head = static_cast<uint8_t>(random_.below(random_.percent(80) ? 20 : 256));
            gn_profile profile;
            int k;
            if (random_.percent(10)) {  // perhaps one that is not built
                profile = static_cast<gn_profile>(random_.below(GN_PROFILE_COUNT)), k = 10;
            } else {
                const bench::Setting s = bench::any_setting(random_);
                profile = s.profile, k = s.k;
            }
            gn_codec_init(&r.rule.codec, profile, k);
        }
        return list;
    }
    Bytes frame(size_t longest)
    {
        const unsigned kind = random_.below(20);
        const size_t bytes = 1 + random_.below(static_cast<uint32_t>(longest));
        if (kind == 0) return make_.random_frame();
        if (kind < 4) return make_.doubtful(bytes);
        packet p{};
        p.version = random_.percent(60) ? 4 : 6;
        p.protocol = random_.percent(60) ? 6 : 17;
        p.tos = tos() | static_cast<int>(random_.below(4));
        if (p.version == 4 && random_.percent(5)) p.ip_options = 4 + 4 * random_.below(10);
        if (random_.percent(40)) p.tcp_options = 4 * random_.below(11);
        p.flags = random_.percent(90) ? 0x10 : static_cast<int>(random_.below(256));
        if (GN_RTL_FLOWS && random_.percent(20)) p.flags = random_.percent(80) ? 2 : 0x11;
        if (GN_RTL_FLOWS) p.source = static_cast<uint16_t>(1 + random_.below(3));
        p.seq = static_cast<uint32_t>(random_.next());
        p.destination = port();
        return make_.frame(p, random_.percent(3) ? Bytes() : payload(bytes, random_.below(12)));
    }
    // kind: 0 random bytes, 1 to 7 a mix, more: real gradients. The values begin at any of the
    // first four bytes.
    Bytes payload(size_t bytes, unsigned kind)
    {
        if (!kind) return make_.noise(bytes);
        const size_t count = bytes / 4 + 1;
        std::vector<float> values;
        if (kind <= bench::MIX_COUNT) {
            values = bench::values_of(static_cast<bench::Mix>(kind - 1), bench::any_setting(random_), count, random_);
        } else {
            const std::vector<float> &g = gradients_[random_.below(static_cast<uint32_t>(gradients_.size()))];
            const size_t at = random_.below(static_cast<uint32_t>(g.size() > count ? g.size() - count : 1));
            for (size_t i = 0; i < count; i++) values.push_back(g[(at + i) % g.size()]);
        }
        Bytes all = make_.noise(random_.below(4));
        const Bytes tail = bench::bytes_of(values);
        all.insert(all.end(), tail.begin(), tail.end());
        all.resize(bytes);
        return all;
    }
    // Begins the flow of what sized() makes.
    Bytes syn()
    {
        packet p{};
        p.flags = 2, p.tcp_options = 12, p.seq = ~0u;
        return untagged(p, {});
    }
    // A frame of so many bytes under the default rule.
    Bytes sized(size_t bytes, bool tcp, bool gradient)
    {
        packet p{};
        p.protocol = tcp ? 6 : 17, p.tcp_options = tcp ? 12 : 0;
        const size_t headers = 14 + 20 + (tcp ? 32 : 8);
        const Bytes body = gradient ? gradient_bytes(bytes - headers) : make_.noise(bytes - headers);
        return untagged(p, body);
    }
    bench::Random random_;

  private:
    static Bytes untagged(const packet &p, const Bytes &body)
    {
        Bytes ip(body.size() + 120), f(12, 0x02);
        ip.resize(packet_build(&p, body.data(), body.size(), ip.data()));
        f.push_back(8), f.push_back(0);
        f.insert(f.end(), ip.begin(), ip.end());
        return f;
    }
    Bytes gradient_bytes(size_t bytes)
    {
        const std::vector<float> &g = gradients_[0];
        const size_t count = bytes / 4 + 1, at = random_.below(static_cast<uint32_t>(g.size()));
        std::vector<float> values;
        for (size_t i = 0; i < count; i++) values.push_back(g[(at + i) % g.size()]);
        Bytes all = bench::bytes_of(values);
        all.resize(bytes);
        return all;
    }
    int tos()
    {
        static const int list[] = {0x28, 0x28, 0x28, 0x48, 0x04};
        return list[random_.below(5)];
    }
    uint16_t port() { return static_cast<uint16_t>(random_.percent(50) ? 5000 + random_.below(10) : random_.next()); }

    bench::Maker make_;
    std::vector<std::vector<float>> gradients_;
};

Rule default_rule(gn_profile profile)
{
    Rule r{true, gn_rule_default()};
    gn_codec_init(&r.rule.codec, profile, 10);
    return r;
}

// A UDP packet whose checksum comes out as 0, which is to be sent as ffff: two bytes of payload,
// always stored.
Bytes sum_of_zero(bench::Maker &make, int version)
{
    const gn_rule rule = gn_rule_default();
    gn_tx_config config{};
    config.rules = &rule, config.rule_count = 1;
    gn_tx *tx = nullptr;
    if (gn_tx_new(&tx, &config) != GN_OK) fail("no model");
    packet p{};
    p.version = version, p.protocol = 17;
    Bytes f, out(200);
    size_t at, bytes;
    gn_headers h;
    do {  // some frames that are made are no IP packet
        f = make.frame(p, {0, 0});
        at = gn_frame_ethernet_offset(f.data(), f.size());
    } while (!at || gn_packet_parse(f.data() + at, f.size() - at, &h) != GN_PARSE_OK);
    if (gn_tx_packet_head(tx, f.data() + at, f.size() - at, 0, out.data(), out.size(), &bytes) != GN_VERDICT_WRITE)
        fail("two bytes of payload are not stored");
    // the checksum in the payload makes the sum all ones
    f[at + h.payload] = out[h.l4 + 6], f[at + h.payload + 1] = out[h.l4 + 7];
    gn_tx_packet_head(tx, f.data() + at, f.size() - at, 0, out.data(), out.size(), &bytes);
    if (out[h.l4 + 6] != 0xff || out[h.l4 + 7] != 0xff) fail("the checksum should be 0, written as ffff");
    gn_tx_free(tx);
    return f;
}

void captures(Bench &b)
{
    for (const char *name : {"plain.pcap", "offload.pcap"})
        for (gn_profile profile : bench::profiles()) {
            b.configure({default_rule(profile)}, false);
            for (const Bytes &f : bench::capture(name)) b.send(f, b.hint(f));
            b.run(profile * 20, profile * 15);
        }
}

void generated(Bench &b, Traffic &traffic, bench::Random &random)
{
    for (unsigned round = 0; round < 150; round++) {
        b.mtu = round % 2 ? 65535 : 60 + random.below(1500);
        b.configure(traffic.rules(), random.percent(7));
        for (unsigned n = 0; n < 150; n++)
            b.send(traffic.frame(round % 3 ? 100 : 1460), random.below(random.percent(80) ? 4 : 8), random.percent(5));
        if (round % 10 == 9)
            b.reset_after(random.below(900));
        else
            b.run(round % 2 * random.below(70), round % 4 / 2 * random.below(70));
    }
    b.mtu = 65535;
}

// About as long as the buffer is, and longer.
void long_frames(Bench &b, Traffic &traffic)
{
    b.configure({default_rule(bench::profiles().back())}, false);
    for (size_t bytes :
         {LONGEST / 2, LONGEST - 1, LONGEST + 0, LONGEST + 1, LONGEST + 33, 2 * LONGEST, 3 * LONGEST + 5})
        for (bool gradient : {false, true}) {
            b.send(traffic.frame(300), 0);
            b.send(bytes <= 65000 ? traffic.sized(bytes, false, gradient) : Bytes(bytes, 1), 0);
            b.send(traffic.frame(300), 0, traffic.random_.percent(30));
        }
    b.run(0, 0);
    for (unsigned n = 0; n < 20; n++)
        b.send(traffic.sized(LONGEST - traffic.random_.below(LONGEST / 3), n & 1, n / 2 % 2), 0);
    b.run(10, 20);
}

// Two sets of rules that differ in profile, bound and head, so that a mixture of them would be
// seen.
void changes(Bench &b, Traffic &traffic)
{
    std::vector<Rule> first{default_rule(bench::profiles().back())}, second{default_rule(bench::profiles().front())};
    first[0].rule.head = 3;
    second[0].rule.head = 8;
    gn_codec_init(&second[0].rule.codec, bench::profiles().front(), 6);
    second.insert(second.begin(), second[0]);
    second[0].rule.protocol = 6, second[0].rule.codec = first[0].rule.codec;
    std::vector<Bytes> list;
    for (unsigned n = 0; n < 1000; n++) list.push_back(traffic.frame(300));
    b.change(first, second, list);
}

void rates(Bench &b, Traffic &traffic)
{
    for (gn_profile profile : bench::profiles())
        for (bool tcp : {false, true})
            for (bool gradient : {false, true}) {
                b.configure({default_rule(profile)}, false);
                b.send(traffic.syn(), 0);
                for (unsigned n = 0; n < 800; n++) b.send(traffic.sized(1514, tcp, gradient), 0);
                char what[80];
                snprintf(what, sizeof what, "%s, %s, %s, 1514 bytes", gn_profile_name(profile), tcp ? "TCP" : "UDP",
                         gradient ? "gradient" : "random");
                b.rate(what, 0.95);
            }
    b.configure({default_rule(bench::profiles().back())}, true);
    for (unsigned n = 0; n < 800; n++) b.send(traffic.sized(1514, true, true), 0);
    b.rate("bypass, 1514 bytes", 0.99);
    for (unsigned n = 0; n < 5000; n++) b.send(traffic.sized(60, false, true), 0);
    b.rate("bypass, 60 bytes", 0.99);
    for (unsigned n = 0; n < 2000; n++) b.send(Bytes(1 + n % 32, 1), 0);
    b.rate("bypass, a beat", 0.49);
    b.configure({default_rule(bench::profiles().back())}, false);
    for (unsigned n = 0; n < 5000; n++) b.send(traffic.sized(60, false, true), 0);
    // header, with the shim; more header; stream; tail: four pieces
    b.rate("60 bytes, 18 of payload", 0.48);
    if (GN_RTL_FLOWS) {
        b.send(traffic.syn(), 0);
        for (unsigned n = 0; n < 5000; n++) b.send(traffic.sized(70, true, true), 0);
        b.rate("70 bytes of TCP, 4 of payload", 0.49);
    }
    const unsigned table = GN_RTL_FLOWS ? 12 : 0;  // cycles that it takes at most
    b.send(traffic.syn(), 0);
    b.run(0, 0);
    b.latency("60 bytes, compressed", traffic.sized(60, false, true), 70 + table);
    b.latency("1514 bytes, compressed", traffic.sized(1514, true, true), 120 + table);
    b.latency("1514 bytes, stored", traffic.sized(1514, true, false), 123 + table);
    b.configure({}, false);
    b.latency("60 bytes, passed", traffic.sized(60, false, true), 40 + table);
    b.latency("1514 bytes, passed", traffic.sized(1514, true, true), 40 + table);
}

// More of them than the store has beats: none may be lost with them. Then what it holds at most.
void empty_ends(Bench &b, Traffic &traffic)
{
    for (int n = 0; n < LONGEST / static_cast<int>(bench::BEAT) * 3 / 2; n++) {
        b.send_empty_end(traffic.frame(100));
        if (n % 16 == 0) b.send(traffic.frame(100), 0);
    }
    b.send(Bytes(LONGEST, 1), 0);
    b.run(0, 0);
}

}  // namespace

int main(int argc, char **argv)
{
    const bench::Options o = bench::options(argc, argv);
    bench::Random random{o.seed ^ 0x7a};
    Bench b(o);
    Traffic traffic(o.seed ^ 0x11);

    if (GN_RTL_LOG2 >= 10) rates(b, traffic);
    captures(b);
    long_frames(b, traffic);
    empty_ends(b, traffic);
    b.configure({default_rule(bench::profiles().back())}, false);
    bench::Maker make(o.seed);
    for (int version : {4, 6, 4, 6}) b.send(sum_of_zero(make, version), 0);
    b.run(0, 0);
    generated(b, traffic, random);
    changes(b, traffic);
    b.configure({}, false);

    printf("%llu frames, by kind:", (unsigned long long)b.frames);
    for (uint64_t n : b.seen) printf(" %llu", (unsigned long long)n);
    printf("; flows: %llu added, %llu evicted, %llu closed", (unsigned long long)b.added, (unsigned long long)b.evicted,
           (unsigned long long)b.closed);
    printf("; dropped: %llu bad, %llu too long\n", (unsigned long long)b.bad, (unsigned long long)b.too_long);
    for (size_t i = 0; i < KINDS; i++)
        if (b.seen[i] < 20) fail("frames of kind %zu were not met", i);
    if (GN_RTL_FLOWS && (b.added < 500 || b.evicted < 100 || b.closed < 100)) fail("too few flows");
    if (b.bad < 100 || b.too_long < 5 || b.drops() < 105) fail("not enough frames were dropped");
    return 0;
}
