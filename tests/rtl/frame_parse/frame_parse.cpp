// SPDX-License-Identifier: Apache-2.0
// gn_frame_parse against gn_frame_ethernet_offset() and gn_packet_parse(): the captures in
// tests/data, frames of every kind, the same with bytes changed, cut off and added, and random
// bytes; with pauses, with back-pressure, at full rate, with resets within a frame.
#include <array>
#include <deque>

#include <gradnic/frame.h>
#include <gradnic/packet.h>

#include "Vgn_frame_parse.h"

#include "tests/rtl/common/axis.h"
#include "tests/rtl/common/frames.h"

using bench::Bytes;
using bench::fail;

namespace
{

enum { EMPTY = bench::NO_PAYLOAD, CODES = EMPTY + 1 };

class Bench
{
  public:
    explicit Bench(const bench::Options &o) : stream_(o, [this](bench::Frame &f) { check(f); }), random_{o.seed ^ 0xf5}
    {
        stream_.user_in_last = true;
        stream_.user_mask = 1;
        stream_.empty_ends = true;
        stream_.every = [this](Vgn_frame_parse &top) {
            if (top.k_end) keys_.push_back(key_of(top));
        };
    }

    void send(Bytes frame, bool bad)
    {
        expected_.push_back({frame, bad});
        stream_.send(std::move(frame), bad);
    }
    // Bad, though nobody says so.
    void send_empty_end(Bytes frame)
    {
        frame.resize(frame.size() / bench::BEAT * bench::BEAT);
        expected_.push_back({frame, true});
        stream_.send_empty_end(std::move(frame), 0);
    }
    void run(unsigned idle, unsigned stall)
    {
        stream_.gaps = {idle, stall};
        stream_.run(expected_.size());
    }
    void full_rate()
    {
        uint64_t beats = 0;
        for (const Sent &s : expected_) beats += s.frame.size() / bench::BEAT + 1;
        const uint64_t begin = stream_.cycle();
        run(0, 0);
        if (stream_.cycle() - begin > beats + 15)
            fail("%llu beats take %llu cycles", (unsigned long long)beats,
                 (unsigned long long)(stream_.cycle() - begin));
    }
    // As many as fit wait inside, until the sink takes them.
    void hold_up()
    {
        stream_.gaps = {0, 100};
        for (unsigned i = 0; i < 60; i++) stream_.step();
        run(0, 0);
    }
    void reset(unsigned after)
    {
        for (unsigned i = 0; i < after; i++) stream_.step();
        stream_.reset(1 + random_.below(3));
        expected_.clear(), keys_.clear();
        stream_.drain();
    }
    std::array<size_t, CODES> seen{};
    size_t tagged = 0, frames = 0, tracked = 0, right = 0, with_options = 0, contradictory = 0;

  private:
    struct Sent {
        Bytes frame;
        bool bad;
    };

    // k_key by bytes.
    using Key = std::array<uint8_t, 40>;
    static Key key_of(const Vgn_frame_parse &top)
    {
        Key k;
        memcpy(k.data(), &top.k_key[0], k.size());
        return k;
    }
    void check_key(const Bytes &frame, size_t at)
    {
        const bool parsed = at && gn_packet_parse(frame.data() + at, frame.size() - at, &flow_) == GN_PARSE_OK;
        const bool tcp = parsed && flow_.protocol == GN_PROTOCOL_TCP;
        expect("TCP for the table", stream_.top().m_flow >> 1, tcp);
        if (tcp) expect("payload for the table", stream_.top().m_flow & 1, flow_.end > flow_.payload);
        if (keys_.empty()) fail("frame %zu has no key", frames);
        const Key k = keys_.front();
        keys_.erase(keys_.begin());
        if (!tcp) return;
        const uint8_t *ip = frame.data() + at;
        Key want{};
        if (flow_.version == 6)
            memcpy(want.data(), ip + 8, 32);
        else
            memcpy(want.data() + 4, ip + 12, 8);
        memcpy(want.data() + 32, ip + flow_.l4, 4);
        want[36] = static_cast<uint8_t>((flow_.version == 6) | (flow_.seq & 3) << 1);
        if (k != want) fail("frame %zu: the key is another one\n  %s", frames, bench::describe(frame).c_str());
        tracked++;
    }

    void expect(const char *what, uint32_t got, size_t wanted)
    {
        if (got != wanted)
            fail("frame %zu: %s is %u (0x%x), should be %zu (0x%zx)\n  %s", frames, what, got, got, wanted, wanted,
                 bench::describe(expected_.front().frame).c_str());
    }
    void expect_code(unsigned got, unsigned wanted)
    {
        static const char *const names[] = {"a packet",       "not IP",     "fragment", "extension header",
                                            "other protocol", "no payload", "6",        "7"};
        if (got != wanted)
            fail("frame %zu: the verdict is '%s', should be '%s'\n  %s", frames, names[got], names[wanted],
                 bench::describe(expected_.front().frame).c_str());
    }
    void check(bench::Frame &f)
    {
        if (expected_.empty()) fail("a frame that nobody sent");
        const Bytes &frame = expected_.front().frame;
        if (f.bytes != frame)
            fail("frame %zu comes out changed: %s\n  %s", frames, bench::difference(f.bytes, frame).c_str(),
                 bench::describe(frame).c_str());
        const size_t at = gn_frame_ethernet_offset(frame.data(), frame.size());
        gn_headers h{};
        const unsigned code = bench::parse_code(frame, at, h);
        const Vgn_frame_parse &top = stream_.top();  // as it is with the last beat
        expect_code(top.m_code, code);
        expect("bad", top.m_bad, expected_.front().bad);
        expect("length", top.m_length, frame.size());
        check_key(frame, at);
        with_options += code == GN_PARSE_EXTENSION && h.version == 4;
        if (code == GN_PARSE_OK || code == EMPTY) {
            expect("tagged", top.m_tagged, at == 18);
            expect("IPv6", top.m_six, h.version == 6);
            expect("TCP", top.m_tcp, h.protocol == GN_PROTOCOL_TCP);
            expect("ToS", top.m_tos, h.tos);
            expect("TCP flags", top.m_flags, h.tcp_flags);
            expect("source port", top.m_source_port, h.source_port);
            expect("destination port", top.m_destination_port, h.destination_port);
            expect("L4", top.m_l4, at + h.l4);
            expect("payload", top.m_payload, at + h.payload);
            expect("end", top.m_end, at + h.end);
            check_payload(top, frame.data() + at, h);
            tagged += at == 18;
        }
        seen[code]++, frames++;
        expected_.pop_front();
    }

    void check_payload(const Vgn_frame_parse &top, const uint8_t *packet, const gn_headers &h)
    {
        for (unsigned i = 0; i < 8 && h.end - h.payload >= 8; i++)
            expect(("byte " + std::to_string(i) + " of the payload").c_str(), top.m_front >> 8 * i & 0xff,
                   packet[h.payload + i]);
        const uint8_t *sum = packet + gn_packet_checksum_at(&h);
        expect("checksum", top.m_checksum, sum[0] << 8 | sum[1]);
        const uint16_t all =
            gn_checksum_finish(gn_checksum_add(gn_packet_pseudo_sum(packet, &h), packet + h.l4, h.end - h.l4));
        expect("sum", top.m_sum, static_cast<uint16_t>(~all));
        right += gn_packet_checksum_ok(packet, &h);
    }

    bench::Stream<Vgn_frame_parse> stream_;
    bench::Random random_;
    std::deque<Sent> expected_;
    std::vector<Key> keys_;
    gn_headers flow_{};
};

}  // namespace

int main(int argc, char **argv)
{
    const bench::Options o = bench::options(argc, argv);
    bench::Random random{o.seed ^ 0xf4};
    bench::Maker make(o.seed ^ 0x3a);
    Bench b(o);

    for (const char *name : {"plain.pcap", "offload.pcap"}) {
        for (const Bytes &f : bench::capture(name)) b.send(f, random.percent(10));
        b.full_rate();
    }
    for (unsigned round = 0; round < 100; round++) {
        for (unsigned n = 0; n < 300; n++) {
            const size_t payload = random.below(random.percent(30) ? 3 : random.percent(90) ? 150 : 1500);
            const unsigned kind = random.below(10);
            b.send(kind < 3   ? make.good(payload)
                   : kind < 8 ? make.doubtful(payload)
                              : make.random_frame(),
                   random.percent(10));
            if (random.percent(3)) b.send_empty_end(make.good(random.below(150)));
        }
        if (round % 4 == 0)
            b.full_rate();
        else if (round % 4 == 1)
            b.reset(round * 7);
        else
            b.run(random.below(4) * 25, random.below(4) * 25);
    }
    // frames of one beat and a few packets among them: nearly each beat that waits has a sum
    for (unsigned n = 0; n < 300; n++) {
        for (unsigned k = 0; k < 20; k++)
            b.send(random.percent(10) ? make.good(random.below(20)) : make.noise(1 + random.below(32)),
                   random.percent(10));
        b.hold_up();
    }
    // packets of about 64 KiB, as long as their frame says or a little longer; IPv6 could say more
    // than a packet has
    for (unsigned n = 0; n < 40; n++) {
        Bytes f = make.good(65535);
        const size_t at = gn_frame_ethernet_offset(f.data(), f.size());
        f.resize((at ? at : 14) + 65531 + random.below(8) + (n % 4 == 0 ? 40 : 0));
        const size_t length = at && f[at] >> 4 == 6 ? 65490 + random.below(46) : 65535;
        const size_t field = at + (at && f[at] >> 4 == 6 ? 4 : 2);
        f[field] = static_cast<uint8_t>(length >> 8), f[field + 1] = static_cast<uint8_t>(length);
        b.send(std::move(f), false);
    }
    for (size_t length : {65549u, 65553u, 65554u, 131008u}) b.send(make.noise(length), true);
    // the longest packets, which end beyond byte 65535, and the same cut by a byte
    for (unsigned n = 0; n < 8; n++) {
        packet p{};
        p.version = n & 1 ? 4 : 6;
        p.protocol = GN_PROTOCOL_TCP;
        p.tos = 0x28;
        Bytes f = make.frame(p, make.noise(60000));
        const size_t at = gn_frame_ethernet_offset(f.data(), f.size()), field = at + (p.version == 6 ? 4 : 2);
        const size_t length = p.version == 6 ? 65495 : 65535;
        f[field] = static_cast<uint8_t>(length >> 8), f[field + 1] = static_cast<uint8_t>(length);
        f.resize(at + 65535 - (n & 2) / 2);
        b.send(std::move(f), false);
    }
    // each bit alone that makes a fragment, and those beside them that do not
    for (unsigned bit = 0; bit < 16; bit++) {
        packet p{};
        p.version = 4;
        p.protocol = GN_PROTOCOL_UDP;
        Bytes f = make.frame(p, make.noise(100));
        const size_t at = gn_frame_ethernet_offset(f.data(), f.size());
        f[at + 6] = static_cast<uint8_t>(1u << bit >> 8), f[at + 7] = static_cast<uint8_t>(1u << bit);
        b.send(std::move(f), false);
    }
    // headers of one version under the other's EtherType, with a tag and without
    for (unsigned n = 0; n < 40; n++) {
        packet p{};
        p.version = n & 1 ? 4 : 6;
        Bytes f = make.frame(p, make.noise(100));
        const size_t at = gn_frame_ethernet_offset(f.data(), f.size());
        if (!at) continue;
        f[at - 2] ^= 0x08 ^ 0x86, f[at - 1] ^= 0xdd;
        if (gn_frame_ethernet_offset(f.data(), f.size())) fail("the EtherType still says the version");
        b.send(std::move(f), false);
        b.contradictory++;
    }
    b.full_rate();

    printf("%zu frames, by code:", b.frames);
    for (size_t n : b.seen) printf(" %zu", n);
    printf("; %zu with a tag, %zu checksums right\n", b.tagged, b.right);
    for (size_t n : b.seen)
        if (n < 100 || b.right < 1000 || b.tracked < 1000 || b.with_options < 100 || b.contradictory < 20)
            fail("not every kind of frame was met");
    return 0;
}
