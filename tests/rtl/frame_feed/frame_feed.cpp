// SPDX-License-Identifier: Apache-2.0
// gn_frame_feed, and in it gn_frame_sums: packets of every kind lie in a memory; the range given to
// the engine, byte for byte, and the sums, against gn_checksum_add(). With back-pressure and
// without, at full rate, with resets.
#include <array>
#include <deque>

#include "Vgn_frame_feed.h"

#include "tests/rtl/common/frames.h"

using bench::Bytes;
using bench::fail;

namespace
{

#ifndef GN_RTL_LOG2
#define GN_RTL_LOG2 10
#endif

enum { RING = 1 << GN_RTL_LOG2, BEAT = 32, LONGEST = RING * BEAT };

struct Job {
    Bytes frame;
    gn_headers h;
    size_t at, from, start, stop;  // in the frame
    bool engine;
    unsigned user, first;

    size_t end() const { return at + h.end; }
    unsigned sum(size_t a, size_t b) const { return gn_checksum_add(0, frame.data() + a, b - a); }
    unsigned field_at() const { return static_cast<unsigned>(at + gn_packet_checksum_at(&h)); }
    unsigned lead() const
    {
        Bytes l4(frame.begin() + static_cast<long>(at + h.l4), frame.begin() + static_cast<long>(at + h.payload));
        const size_t field = field_at() - at - h.l4;
        l4[field] = l4[field + 1] = 0;
        if (h.protocol == GN_PROTOCOL_UDP) l4[4] = l4[5] = 0;
        const size_t addresses = at + (h.version == 4 ? 12 : 8);
        unsigned s = gn_checksum_add(sum(addresses, addresses + (h.version == 4 ? 8 : 32)), l4.data(), l4.size());
        return gn_checksum_add(s, frame.data() + from, start - from);
    }
};

class Bench
{
  public:
    explicit Bench(const bench::Options &o) : model_(o), random_{o.seed}, make_(o.seed ^ 0x77) { reset(); }

    void add(size_t payload)
    {
        Job j{};
        do j.frame = make_.good(payload);
        while (!parse(j));
        add(std::move(j));
    }
    // One that ends where the ring does.
    void add_longest()
    {
        Job j{};
        do {
            packet p{};
            p.version = 4;
            p.protocol = random_.percent(50) ? GN_PROTOCOL_TCP : GN_PROTOCOL_UDP;
            j.frame = make_.frame(p, make_.noise(LONGEST - 14 - 20 - (p.protocol == GN_PROTOCOL_TCP ? 20 : 8)));
        } while (!parse(j) || j.end() != LONGEST);
        j.frame.resize(LONGEST);
        add(std::move(j));
    }
    void run(unsigned idle, unsigned stall)
    {
        unsigned quiet = 0;
        const uint64_t begin = model_.cycle();
        while (!to_send_.empty() || !ranges_.empty() || !sums_.empty()) {
            const size_t before = frames + got_.size();
            step(idle, stall);
            quiet = frames + got_.size() == before ? quiet + 1 : 0;
            if (quiet > 2000 + RING)
                // a frame may be only summed, of as many beats
                fail("cycle %llu: nothing moves", cycle());
        }
        if (!idle && !stall && model_.cycle() - begin > beats + 20)
            fail("%zu beats take %llu cycles", beats, (unsigned long long)(model_.cycle() - begin));
        beats = 0;
    }
    void reset_after(unsigned cycles)
    {
        for (unsigned i = 0; i < cycles; i++) step(0, 30);
        reset();
        for (unsigned i = 0; i < 30; i++) step(100, 0);
    }
    size_t frames = 0, ranges = 0, beats = 0;

  private:
    unsigned long long cycle() const { return model_.cycle(); }

    static bool parse(Job &j)
    {
        j.at = gn_frame_ethernet_offset(j.frame.data(), j.frame.size());
        return j.at && gn_packet_parse(j.frame.data() + j.at, j.frame.size() - j.at, &j.h) == GN_PARSE_OK &&
               j.h.end != j.h.payload;
    }
    // A packet, parsed.
    void add(Job j)
    {
        const size_t payload_at = j.at + j.h.payload, bytes = j.end() - payload_at;
        j.from = payload_at + (bytes >= 8 && random_.percent(50) ? 8 : 0);
        j.start = j.from + random_.below(random_.percent(70) ? 4 : 256);
        if (j.start > j.end()) j.start = j.end();
        j.stop = j.end() - random_.below(4);
        if (j.stop < j.start) j.stop = j.start;
        if (random_.percent(20) && j.end() - j.start < 4) j.stop = j.start;
        j.engine = j.stop > j.start && !random_.percent(20);
        if (!j.engine) j.start = j.stop = j.end();
        j.user = random_.below(1024);
        j.first = place_;
        for (size_t i = 0; i < j.frame.size(); i++) store_[(place_ + i / BEAT) % RING][i % BEAT] = j.frame[i];
        beats += (j.end() + BEAT - 1) / BEAT;
        place_ = static_cast<unsigned>((place_ + (j.frame.size() + BEAT - 1) / BEAT) % RING);
        to_send_.push_back(std::move(j));
    }

    void reset()
    {
        model_->rst = 1;
        for (unsigned i = 1 + random_.below(3); i; i--) model_->s_valid = random_.next() & 1, model_.rise();
        model_->rst = 0, model_->s_valid = 0, model_->m_axis_tready = 0;
        to_send_.clear(), ranges_.clear(), sums_.clear(), got_.clear();
        offered_ = false, beats = 0;
    }
    void step(unsigned idle, unsigned stall)
    {
        if (!offered_ && !to_send_.empty() && !random_.percent(idle)) {
            const Job &j = to_send_.front();
            model_->s_first = j.first;
            model_->s_tagged = j.at == 18, model_->s_six = j.h.version == 6;
            model_->s_tcp = j.h.protocol == GN_PROTOCOL_TCP;
            model_->s_l4 = static_cast<unsigned>(j.at + j.h.l4),
            model_->s_payload = static_cast<unsigned>(j.at + j.h.payload);
            model_->s_from = j.from, model_->s_start = j.start, model_->s_stop = j.stop, model_->s_end = j.end();
            model_->s_engine = j.engine, model_->s_user = j.user;
            offered_ = true;
        }
        model_->s_valid = offered_;
        model_->m_axis_tready = !random_.percent(stall);
        memcpy(&model_->data[0], store_[asked_[1]].data(), BEAT);
        model_.settle();
        if (model_->m_axis_tvalid && model_->m_axis_tready) given();
        if (model_->sums_valid) summed();
        if (offered_ && model_->s_ready) {
            if (to_send_.front().engine) ranges_.push_back(to_send_.front());
            sums_.push_back(to_send_.front());
            to_send_.pop_front();
            offered_ = false;
        }
        asked_ = {model_->address, asked_[0]};
        model_.rise();
    }
    void given()
    {
        const uint8_t *data = reinterpret_cast<const uint8_t *>(&model_->m_axis_tdata[0]);
        const uint32_t keep = model_->m_axis_tkeep;
        const unsigned bytes = static_cast<unsigned>(__builtin_popcount(keep));
        if (!keep || (keep & (keep + 1)) || (bytes < BEAT && !model_->m_axis_tlast)) fail("cycle %llu: tkeep", cycle());
        if (ranges_.empty()) fail("cycle %llu: a range that nobody asked for", cycle());
        const Job &j = ranges_.front();
        if (model_->m_axis_tuser != j.user)
            fail("range %zu: user %u, should be %u", ranges, model_->m_axis_tuser, j.user);
        got_.insert(got_.end(), data, data + bytes);
        if (!model_->m_axis_tlast) return;
        if (got_ != Bytes(j.frame.begin() + static_cast<long>(j.start), j.frame.begin() + static_cast<long>(j.stop)))
            fail("range %zu, [%zu, %zu) of %zu bytes, is not what lies there", ranges, j.start, j.stop, j.frame.size());
        ranges_.pop_front(), got_.clear(), ranges++;
    }
    void expect(const char *what, unsigned got, unsigned want)
    {
        if (got != want) fail("frame %zu: %s is %04x, should be %04x", frames, what, got, want);
    }
    void summed()
    {
        if (sums_.empty()) fail("cycle %llu: sums that nobody asked for", cycle());
        const Job &j = sums_.front();
        expect("lead", model_->sums_lead, j.lead());
        // behind an odd byte: its own word first, as the low half
        unsigned rest = j.sum(j.at + j.h.payload, j.from);
        size_t start = j.start;
        if (start % 2 && start < j.end()) {
            const uint8_t word[2] = {0, j.frame[start++]};
            rest = gn_checksum_add(rest, word, 2);
        }
        expect("rest", model_->sums_rest, gn_checksum_add(rest, j.frame.data() + start, j.end() - start));
        expect("tail", model_->sums_tail, j.sum(j.stop, j.end()));
        expect("field", model_->sums_field, j.frame[j.field_at()] * 256u + j.frame[j.field_at() + 1]);
        sums_.pop_front(), frames++;
    }

    bench::Model<Vgn_frame_feed> model_;
    bench::Random random_;
    bench::Maker make_;
    std::array<std::array<uint8_t, BEAT>, RING> store_{};
    std::array<unsigned, 2> asked_{};
    unsigned place_ = 0;
    std::deque<Job> to_send_, ranges_, sums_;
    Bytes got_;
    bool offered_ = false;
};

}  // namespace

int main(int argc, char **argv)
{
    const bench::Options o = bench::options(argc, argv);
    bench::Random random{o.seed ^ 0xfe};
    Bench b(o);
    for (unsigned round = 0; round < 600; round++) {
        // all of them lie in the memory at once
        for (unsigned n = 0; n < 15; n++) b.add(1 + random.below(round % 3 ? 1460 : 60));
        if (round % 7 == 6)
            b.reset_after(round % 100);
        else
            b.run(round % 2 * random.below(80), round % 2 * random.below(80));
    }
    for (size_t payload = 1; payload < 200; payload++) {
        for (unsigned n = 0; n < 15; n++) b.add(payload);
        b.run(0, 0);
    }
    for (size_t bytes : {20000u, 32500u}) b.add(bytes), b.run(0, 0);
    for (unsigned n = 0; n < 20; n++) b.add_longest(), b.run(0, 0);
    printf("%zu frames, %zu ranges\n", b.frames, b.ranges);
    return 0;
}
