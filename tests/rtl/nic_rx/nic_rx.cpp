// SPDX-License-Identifier: Apache-2.0
// gn_nic_rx against gn_rx_packet(), packet for packet and event for event: payloads of every form,
// each field of their shim changed, streams cut, lengthened and damaged, checksums that do not
// hold; packets that are none of ours; frames that are bad or too long; captures; pauses,
// back-pressure, resets; the rate.
#include <array>
#include <deque>
#include <map>

#include "Vgn_nic_rx.h"

#include "tests/rtl/common/axis.h"
#include "tests/rtl/common/rules.h"
#include "tests/rtl/common/tokens.h"
#include "tests/rtl/common/wire.h"

using bench::Bytes;
using bench::fail;
using bench::Traffic;

namespace
{

#ifndef GN_RTL_LOG2
#define GN_RTL_LOG2 10
#endif

#ifndef GN_RTL_RESULT_LOG2
#define GN_RTL_RESULT_LOG2 GN_RTL_LOG2  // as the parameter RESULT_LOG2
#endif

enum {
    RULES = 4,
    LONGEST = 32 << GN_RTL_LOG2,
    OUTCOMES = 21,
    PASSED = 2,
    FOREIGN = 3,
    RESTORED = 4,
    BAD_KIND = 12,
    BAD_CHECKSUM = 17,
    TOO_LARGE = 20
};

struct Event {
    unsigned outcome;
    size_t bytes, wire, payload;
    bool may_pass = false;  // the switch may have said so
};

// The outcome, as gn_nic_regs numbers it, of the packet that has changed the model's counters.
Event difference(const gn_rx_counters &a, const gn_rx_counters &b)
{
    Event e{PASSED, 0, static_cast<size_t>(b.wire_bytes - a.wire_bytes),
            static_cast<size_t>(b.payload_bytes - a.payload_bytes)};
    if (b.foreign != a.foreign) e.outcome = FOREIGN;
    for (unsigned kind = 0; kind < 4; kind++)
        if (b.restored[kind] != a.restored[kind]) e.outcome = RESTORED + kind;
    const uint64_t bad[] = {b.bad_version - a.bad_version,  b.bad_kind - a.bad_kind,     b.bad_bound - a.bad_bound,
                            b.bad_head - a.bad_head,        b.bad_length - a.bad_length, b.bad_stream - a.bad_stream,
                            b.bad_checksum - a.bad_checksum};
    for (unsigned i = 0; i < 7; i++)
        if (bad[i]) e.outcome = 11 + i;
    if (b.too_large != a.too_large) e.outcome = TOO_LARGE;
    return e;
}

class Bench
{
  public:
    explicit Bench(const bench::Options &o) : stream_(o, [this](bench::Frame &f) { check(f); })
    {
        stream_.user_in_last = true;
        stream_.user_mask = 1;
        stream_.every = [this](Vgn_nic_rx &top) { watch(top); };
        stream_.dropped = [this](uint64_t side) { tokens_.dropped(side); };
        const gn_rx_config config{};
        if (gn_rx_new(&rx_, &config) != GN_OK) fail("no model");
        configure({0x28}, false);
    }
    ~Bench() { gn_rx_free(rx_); }

    // Of a rule, only its ToS counts, and whether it is enabled.
    void configure(const std::vector<uint8_t> &tos, bool bypass)
    {
        bench::Random random{stream_.cycle() ^ 0xc0f};
        Vgn_nic_rx &top = stream_.top();
        top.cfg_bypass = bypass;
        for (size_t i = 0, used = 0; i < RULES; i++) {
            const bool enabled = used < tos.size() && (RULES - i <= tos.size() - used || random.percent(70));
            uint64_t rule = random.next() & ~bench::RULE_ENABLE;
            if (enabled) rule = (rule & ~bench::RULE_TOS) | tos[used++] | bench::RULE_ENABLE;
            memcpy(&top.cfg_rules[2 * i], &rule, 8);
        }
        gn_rx_set_tos(rx_, tos.data(), tos.size());
        gn_rx_set_bypass(rx_, bypass);
        limit(65535);
    }
    // The longest IP packet that is restored.
    void limit(size_t max_restored)
    {
        stream_.top().cfg_max_restored = static_cast<uint16_t>(max_restored);
        gn_rx_set_max_restored(rx_, max_restored);
    }

    void send(Bytes frame, bool bad = false)
    {
        beats_in_ += (frame.size() + bench::BEAT - 1) / bench::BEAT;
        if (bad)
            bad_++;
        else if (frame.size() > LONGEST)
            long_++;
        const size_t out = expected_.size();
        if (!bad && frame.size() <= LONGEST) expect(frame);
        tokens_.sent(stream_.send(std::move(frame), bad), expected_.size() != out);
    }
    // Whole beats of it and one without a byte: bad, though nobody says so.
    void send_empty_end(Bytes frame)
    {
        bad_++;
        beats_in_ += stream_.send_empty_end(std::move(frame), 0);
        tokens_.sent(stream_.last_side(), false);
    }
    void run(unsigned idle, unsigned stall)
    {
        stream_.gaps = {idle, stall};
        stream_.run(expected_.size());
        // what is dropped behind the last that leaves
        for (unsigned quiet = 0; stream_.pending() || !tokens_.empty(); quiet++) {
            if (quiet > 100000) fail("a frame was dropped without a word");
            stream_.step();
        }
        stream_.drain(2000);
        complete();
    }
    // While these are on their way, all frames are told to pass, and not, again and again: each is
    // judged one way or the other.
    void run_switching(const std::vector<Bytes> &frames)
    {
        for (const Bytes &f : frames) {
            const size_t out = expected_.size();
            send(f);
            if (expected_.size() == out) fail("the bench does not tell what is dropped and what passes apart");
            events_.back().may_pass = true, passed_[expected_out_ + expected_.size() - 1] = f;
        }
        bench::Random random{frames.size()};
        stream_.gaps = {20, 20};
        for (unsigned cycles = 0; !expected_.empty(); cycles++) {
            if (cycles > 200 * frames.size()) fail("the frames do not leave");
            if (random.percent(2)) stream_.top().cfg_bypass = !stream_.top().cfg_bypass;
            stream_.step();
        }
        stream_.drain();
        complete();
        stream_.top().cfg_bypass = 0;
    }
    // Beats a cycle on the wider side, from the first beat in to the last beat out, with nothing in
    // the way.
    double rate(const char *what, double least)
    {
        stream_.gaps = {};
        const size_t frames = expected_.size();
        const uint64_t begin = stream_.cycle(), in = beats_in_, out = beats_out_;
        stream_.run(frames);
        const double cycles = static_cast<double>(stream_.cycle() - begin);
        const double got = static_cast<double>(std::max(in, out)) / cycles,
                     a_frame = cycles / static_cast<double>(frames);
        printf("%-44s %5.1f beats in, %5.1f out, %6.2f cycles a frame: %.3f\n", what,
               static_cast<double>(in) / static_cast<double>(frames),
               static_cast<double>(out) / static_cast<double>(frames), a_frame, got);
        if (got < least) fail("%s: %.3f beats a cycle, should be %.3f", what, got, least);
        stream_.drain(2000);
        complete();
        return a_frame;
    }
    void latency(const char *what, const Bytes &frame, uint64_t most)
    {
        stream_.gaps = {};
        stream_.drain();
        send(frame);
        const uint64_t in = stream_.cycle() + beats_in_ - 1;
        stream_.run(1);
        printf("%-44s %llu cycles from the last beat in to the first beat out\n", what,
               (unsigned long long)(first_out_ - in));
        if (first_out_ - in > most) fail("that should be %llu at most", (unsigned long long)most);
        stream_.drain(100);
        complete();
    }
    void reset_after(unsigned cycles)
    {
        stream_.gaps = {10, 30};
        for (unsigned i = 0; i < cycles; i++) stream_.step();
        stream_.reset(1 + cycles % 3);
        expected_.clear(), events_.clear(), passed_.clear(), tokens_.clear();
        bad_ = long_ = got_bad_ = got_long_ = beats_in_ = beats_out_ = 0;
        stream_.drain(200);
    }
    std::array<uint64_t, OUTCOMES> seen{};
    uint64_t frames = 0, dropped_bad = 0, dropped_long = 0, switched = 0;

  private:
    void expect(const Bytes &frame)
    {
        const size_t at = gn_frame_ethernet_offset(frame.data(), frame.size());
        const gn_rx_counters before = *gn_rx_get_counters(rx_);
        Bytes out(at + GN_PACKET_MAX);
        size_t bytes = 0;
        gn_verdict verdict = GN_VERDICT_PASS;
        // what leaves has to fit the buffer as a frame
        if (at)
            verdict = gn_rx_packet(rx_, frame.data() + at, frame.size() - at, out.data() + at, LONGEST - at, &bytes);
        Event e = difference(before, *gn_rx_get_counters(rx_));
        e.bytes = frame.size();
        if (e.outcome >= RESTORED && e.outcome != BAD_CHECKSUM && not_built(frame, at) && e.outcome != 11)
            e = {BAD_KIND, frame.size(), 0, 0}, verdict = GN_VERDICT_DROP;
        events_.push_back(e);
        if (verdict == GN_VERDICT_DROP) return;
        if (verdict == GN_VERDICT_PASS)
            out = frame;
        else
            std::copy_n(frame.begin(), at, out.begin()), out.resize(at + bytes);
        beats_out_ += (out.size() + bench::BEAT - 1) / bench::BEAT;
        expected_.push_back({std::move(out), frame});
    }
    // The packet, which has a shim, is of a profile that the hardware was built without.
    static bool not_built(const Bytes &frame, size_t at)
    {
        gn_headers h;
        gn_shim shim;
        if (gn_packet_parse(frame.data() + at, frame.size() - at, &h) != GN_PARSE_OK ||
            !gn_shim_read(frame.data() + at + h.payload, &shim))
            fail("the model found a shim, the bench does not");
        return shim.kind >= 1 && shim.kind <= 3 && !(GN_RTL_PROFILES >> (shim.kind - 1) & 1);
    }
    void watch(Vgn_nic_rx &top)
    {
        got_bad_ += top.event_dropped_bad, got_long_ += top.event_dropped_long;
        if (top.event_valid) {
            if (previous_) fail("two events in two cycles");
            if (events_.empty()) fail("an event that no frame gave");
            const Event e = events_.front();
            events_.pop_front();
            const bool passed = e.may_pass && top.event_kind == PASSED;
            if ((top.event_kind != e.outcome && !passed) || top.event_length != e.bytes)
                fail("frame %llu of %zu bytes: outcome %u, %u bytes; should be outcome %u",
                     (unsigned long long)event_number_, e.bytes, unsigned(top.event_kind), unsigned(top.event_length),
                     e.outcome);
            if (e.outcome >= RESTORED && e.outcome < RESTORED + 4 && !passed &&
                (top.event_wire_bytes != e.wire || top.event_payload_bytes != e.payload))
                fail("frame %llu: %u bytes of payload become %u, should be %zu and %zu",
                     (unsigned long long)event_number_, unsigned(top.event_wire_bytes),
                     unsigned(top.event_payload_bytes), e.wire, e.payload);
            seen.at(top.event_kind)++, event_number_++, switched += passed && e.outcome != PASSED;
        }
        previous_ = top.event_valid;
    }
    void complete()
    {
        if (!events_.empty() || !expected_.empty() || !tokens_.empty()) fail("frames without an event or a token");
        if (got_bad_ != bad_ || got_long_ != long_)
            fail("%llu bad, %llu too long dropped; should be %llu, %llu", (unsigned long long)got_bad_,
                 (unsigned long long)got_long_, (unsigned long long)bad_, (unsigned long long)long_);
        dropped_bad += bad_, dropped_long += long_;
        bad_ = long_ = got_bad_ = got_long_ = beats_in_ = beats_out_ = 0;
    }
    void check(bench::Frame &f)
    {
        if (expected_.empty()) fail("a frame that nobody sent");
        tokens_.left(f);
        const Bytes &want = expected_.front().frame;
        const auto passed = passed_.find(expected_out_++);
        if (f.bytes != want && (passed == passed_.end() || f.bytes != passed->second)) {
            fail("frame %llu out: %s\n  should be: %s\n  went in:   %s", (unsigned long long)frames,
                 bench::difference(f.bytes, want).c_str(), bench::describe(want).c_str(),
                 bench::describe(expected_.front().in).c_str());
        }
        first_out_ = f.first_cycle;
        expected_.pop_front(), frames++;
    }

    bench::Stream<Vgn_nic_rx> stream_;
    gn_rx *rx_ = nullptr;
    struct Expected {
        Bytes frame, in;  // what leaves, and what went in
    };
    std::deque<Expected> expected_;
    std::deque<Event> events_;
    bench::Tokens tokens_;
    std::map<uint64_t, Bytes> passed_;  // by number of the frame out: what it may be too
    uint64_t expected_out_ = 0;
    uint64_t bad_ = 0, long_ = 0, got_bad_ = 0, got_long_ = 0, event_number_ = 0, first_out_ = 0;
    uint64_t beats_in_ = 0, beats_out_ = 0;  // since the last comparison
    bool previous_ = false;
};

// The captures, and what the model's sender makes of them.
void captures(Bench &b)
{
    for (const char *name : {"plain.pcap", "offload.pcap"})
        for (const gn_profile profile : {GN_PAPER, GN_LATTICE, GN_DENSE}) {
            gn_rule rule = gn_rule_default();
            gn_codec_init(&rule.codec, profile, 10);
            gn_tx_config config{};
            config.rules = &rule, config.rule_count = 1;
            gn_tx *tx = nullptr;
            if (gn_tx_new(&tx, &config) != GN_OK) fail("no model of the sender");
            for (Bytes f : bench::capture(name)) {
                b.send(f);
                const size_t at = gn_frame_ethernet_offset(f.data(), f.size());
                Bytes out(f.size() + GN_SHIM_BYTES);
                size_t bytes = 0;
                if (!at || gn_tx_packet(tx, f.data() + at, f.size() - at, out.data() + at, out.size() - at, &bytes) !=
                               GN_VERDICT_WRITE)
                    continue;
                std::copy_n(f.begin(), at, out.begin());
                out.resize(at + bytes);
                b.send(std::move(out));
            }
            gn_tx_free(tx);
            b.run(profile * 20, profile * 15);
        }
}

void generated(Bench &b, Traffic &traffic, bench::Random &random)
{
    static const std::vector<std::vector<uint8_t>> marks = {{0x28}, {0x28, 0x48}, {0x2a, 0x07, 0x4b, 0x28},
                                                            {},     {0x28},       {0x48, 0x04, 0x28}};
    for (unsigned round = 0; round < 240; round++) {
        b.configure(marks[random.below(6)], random.percent(5));
        if (round % 4 == 3) b.limit(60 + random.below(round % 3 ? 150 : 1500));
        for (unsigned n = 0; n < 120; n++) b.send(traffic.any(round % 3 ? 120 : 1460), random.percent(4));
        if (round % 10 == 9)
            b.reset_after(random.below(900));
        else
            b.run(round % 2 * random.below(70), round % 4 / 2 * random.below(70));
    }
    b.configure({0x28}, false);
}

// About as long as the buffer is, before or after, and longer.
void long_frames(Bench &b, Traffic &traffic)
{
    bench::Setting zeros{bench::profiles().back(), 10};
    for (size_t bytes : {LONGEST / 2, LONGEST - 9, LONGEST - 1, LONGEST + 0, LONGEST + 1, LONGEST + 33, 2 * LONGEST,
                         3 * LONGEST + 5}) {
        b.send(traffic.any(300));
        if (bytes <= 65000) {
            b.send(traffic.sized(bytes, nullptr));  // stored: longer than that on the wire
            b.send(traffic.sized(bytes, &zeros));   // that long when it is restored
            b.send(traffic.sized(bytes, &zeros));
        }
        b.send(Bytes(bytes, 1), traffic.random_.percent(30));
        b.send(traffic.any(300), traffic.random_.percent(30));
    }
    b.run(0, 0);
    for (unsigned n = 0; n < 20; n++)
        b.send(traffic.sized(LONGEST - 100 - traffic.random_.below(LONGEST / 16), n % 3 ? &zeros : nullptr));
    b.run(10, 20);
    for (unsigned n = 0; n < 60; n++) b.send(traffic.any(std::min(LONGEST - 200, 20000)));
    b.run(0, 30);
}

// UDP without a checksum, and with one that comes out as 0.
void checksums(Bench &b, Traffic &traffic)
{
    for (unsigned n = 0; n < 3000; n++) {
        Bytes f = traffic.frame(traffic.payload(1 + traffic.random_.below(40)));
        const size_t at = gn_frame_ethernet_offset(f.data(), f.size());
        gn_headers h;
        if (!at || gn_packet_parse(f.data() + at, f.size() - at, &h) != GN_PARSE_OK) continue;
        const size_t sum = at + gn_packet_checksum_at(&h);
        if (n % 3 == 0) f[sum] = f[sum + 1] = 0;
        // the source port takes what the checksum was: then that is either zero, and holds, except
        // that UDP's 0000 is none
        if (n % 3 == 1) {
            const unsigned old = f[sum] << 8 | f[sum + 1], port = f[at + h.l4] << 8 | f[at + h.l4 + 1];
            const unsigned moved = port + old, folded = (moved & 0xffff) + (moved >> 16);
            f[at + h.l4] = static_cast<uint8_t>(folded >> 8), f[at + h.l4 + 1] = static_cast<uint8_t>(folded);
            f[sum] = f[sum + 1] = n % 2 ? 0xff : 0;
        }
        b.send(std::move(f));
    }
    b.run(0, 0);
}

void switching(Bench &b, Traffic &traffic)
{
    std::vector<Bytes> frames;
    for (unsigned n = 0; n < 3000; n++) frames.push_back(traffic.sized(50 + traffic.random_.below(400), nullptr));
    b.run_switching(frames);
    if (b.switched < 500 || b.switched > 2500) fail("%llu frames passed by the switch", (unsigned long long)b.switched);
}

void rates(Bench &b, Traffic &traffic)
{
    const auto many = [&](const char *what, size_t bytes, const bench::Setting *s, unsigned frames) {
        for (unsigned n = 0; n < frames; n++) b.send(traffic.sized(bytes, s));
        return b.rate(what, bytes > 1000 ? 0.95 : 0.0);
    };
    many("1514 bytes, stored", 1506, nullptr, 400);
    for (const gn_profile profile : bench::profiles())
        for (const int k : {6, 10, 15}) {
            const bench::Setting s{profile, k};
            char what[80];
            snprintf(what, sizeof what, "1514 bytes restored, %s, k = %d", gn_profile_name(profile), k);
            many(what, 1514, &s, 400);
        }
    // A result and the next one have to fit: else one waits until the other has left. Where no
    // third one fits, each begins late.
    const bench::Setting longest{bench::profiles().back(), 10};
    for (size_t bytes : {9014, 16300})
        if (bytes < LONGEST && 2 * bytes <= 32u << GN_RTL_RESULT_LOG2) {
            char what[80];
            snprintf(what, sizeof what, "%zu bytes restored", bytes);
            for (unsigned n = 0; n < 60; n++) b.send(traffic.sized(bytes, &longest));
            b.rate(what, 3 * bytes <= 32u << GN_RTL_RESULT_LOG2 ? 0.97 : 0.93);
        }
    for (unsigned n = 0; n < 400; n++) {
        Bytes f = traffic.sized(1506, nullptr);
        f[14 + 1] = 0x00;
        b.send(std::move(f));
    }
    b.rate("1514 bytes, passed", 0.95);
    const bench::Setting s{bench::profiles().back(), 10};
    // a frame that is rewritten leaves in more pieces, for its header ends within a beat, and so
    // may its values
    const auto small = [](double cycles, double most) {
        if (cycles > most) fail("frames of 60 bytes take %.2f cycles, should be %.2f", cycles, most);
    };
    small(many("60 bytes, stored", 52, nullptr, 2000), 3.1);
    small(many("60 bytes, compressed", 60, &s, 2000), 4.1);
    for (unsigned n = 0; n < 2000; n++) b.send(Bytes(60, static_cast<uint8_t>(n)));
    small(b.rate("60 bytes, passed", 0.0), 2.1);
    b.latency("60 bytes, passed", Bytes(60, 1), 40);
    b.latency("60 bytes, stored", traffic.sized(52, nullptr), 50);
    b.latency("1514 bytes, compressed", traffic.sized(1514, &s), 116);
}

// More of them than the store has beats: none may be lost with them. Then what it holds at most.
void empty_ends(Bench &b, Traffic &traffic)
{
    for (int n = 0; n < LONGEST / static_cast<int>(bench::BEAT) * 3 / 2; n++) {
        b.send_empty_end(traffic.any(100));
        if (n % 16 == 0) b.send(traffic.any(100));
    }
    b.send(Bytes(LONGEST, 1));
    b.run(0, 0);
}

}  // namespace

int main(int argc, char **argv)
{
    const bench::Options o = bench::options(argc, argv);
    bench::Random random{o.seed ^ 0x4c};
    Traffic traffic(o.seed, LONGEST);
    Bench b(o);

    captures(b);
    generated(b, traffic, random);
    checksums(b, traffic);
    switching(b, traffic);
    long_frames(b, traffic);
    empty_ends(b, traffic);
    if (GN_RTL_LOG2 >= 8) rates(b, traffic);  // fewer beats do not hold enough frames

    printf("%llu frames out; by outcome, from 2:", (unsigned long long)b.frames);
    for (unsigned i = PASSED; i < OUTCOMES; i++) printf(" %llu", (unsigned long long)b.seen[i]);
    printf("; %llu bad, %llu too long\n", (unsigned long long)b.dropped_bad, (unsigned long long)b.dropped_long);
    for (unsigned i = PASSED; i < OUTCOMES; i++) {
        const bool built = i <= RESTORED || i >= RESTORED + 4 || GN_RTL_PROFILES >> (i - RESTORED - 1) & 1;
        const bool counter_only = (i >= 8 && i <= 10) || i == 18 || i == 19;  // no outcome of a frame
        if (built && !counter_only && b.seen[i] < 40) fail("not every outcome was met");
    }
    return 0;
}
