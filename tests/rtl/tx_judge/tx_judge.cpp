// SPDX-License-Identifier: Apache-2.0
// gn_tx_judge against gn_tx_packet_head(): random rules, packets of every kind, among them those
// that are longer than gn_nic_tx can store.
#include <array>
#include <deque>

#include "Vgn_tx_judge.h"

#include "tests/rtl/common/frames.h"
#include "tests/rtl/common/rules.h"

using bench::Bytes;
using bench::fail;

namespace
{

enum { RULES = 16, LATENCY = 4, KINDS = 12, COMPRESSED = 0, NO_GAIN = 1, PASSED = 4 };

struct Judged {
    uint64_t cycle;
    gn_headers h;
    unsigned kind, rule, values, head;
    size_t at;
    gn_codec codec;
};

class Bench
{
  public:
    explicit Bench(const bench::Options &o) : model_(o), random_{o.seed}, make_(o.seed ^ 0x91)
    {
        model_->rst = 1, model_->s_valid = 0;
        model_.rise();
        model_->rst = 0;
    }
    ~Bench() { gn_tx_free(tx_); }

    void configure()
    {
        drain();
        memset(&model_->cfg_rules[0], 0, RULES * 8);
        memset(&model_->cfg_heads[0], 0, RULES);
        rules_.clear(), numbers_.clear();
        for (unsigned i = 0; i < RULES; i++) {
            gn_rule r = gn_rule_default();
            r.tos = static_cast<uint8_t>(random_.below(64) << 2 & 0x3c);
            r.protocol = static_cast<uint8_t>(random_.percent(50) ? 0 : random_.percent(50) ? 6 : 17);
            if (random_.percent(50)) r.port_low = port(), r.port_high = port();
            if (r.port_low > r.port_high) std::swap(r.port_low, r.port_high);
            r.head = static_cast<uint8_t>(random_.next());
            const unsigned profile = random_.below(4);
            const bool enabled = random_.percent(70);
            const gn_profile p = profile < GN_PROFILE_COUNT ? static_cast<gn_profile>(profile) : GN_DENSE;
            const int k =
                random_.percent(50) ? 1 + static_cast<int>(random_.below(31)) : static_cast<int8_t>(random_.next());
            const bool possible = gn_codec_init(&r.codec, p, k) == GN_OK;
            const uint64_t bits =
                bench::rule_bits(r.tos | random_.below(4), r.protocol, r.port_low, r.port_high, profile, k, enabled);
            memcpy(&model_->cfg_rules[2 * i], &bits, 8);
            model_->cfg_heads[i / 4] |= static_cast<uint32_t>(r.head) << i % 4 * 8;
            // a profile or bound that is not there
            if (!enabled || !possible || profile >= GN_PROFILE_COUNT) continue;
            rules_.push_back(r), numbers_.push_back(i);
        }
        model_->cfg_bypass = bypass_ = random_.percent(5);
        gn_tx_free(tx_);
        gn_tx_config config{};
        config.rules = rules_.data(), config.rule_count = rules_.size(), config.bypass = bypass_;
        config.wire_mtu = random_.percent(50) ? 65535 : 50 + random_.below(1500);
        model_->cfg_mtu = static_cast<uint16_t>(config.wire_mtu);
        if (gn_tx_new(&tx_, &config) != GN_OK) fail("the model does not take the rules");
        step();  // the MTU counts a cycle later
    }
    void packet_of(size_t payload)
    {
        packet p{};
        p.version = random_.percent(50) ? 4 : 6;
        p.protocol = random_.percent(50) ? 6 : 17;
        p.tos = 4 + static_cast<int>(random_.below(60));
        p.flags = random_.percent(80) ? 0x10 : static_cast<int>(random_.below(256));
        p.destination = port();
        const size_t most = 65535 - (p.version == 4 ? 20u : 40u) - (p.protocol == 6 ? 20u : 8u);
        Bytes f =
            random_.percent(30) ? make_.doubtful(payload % 1500) : make_.frame(p, make_.noise(std::min(payload, most)));
        send(f);
    }
    std::array<size_t, KINDS> seen{};

    void drain()
    {
        for (unsigned i = 0; i < 10; i++) step();
        if (!expected_.empty()) fail("a frame is not judged");
    }

  private:
    uint16_t port() { return static_cast<uint16_t>(random_.percent(50) ? 5000 + random_.below(10) : random_.next()); }

    // Which counter the model moved.
    unsigned counted(const gn_tx_counters &a, const gn_tx_counters &b)
    {
        const uint64_t moved[KINDS] = {0,
                                       b.stored_no_gain - a.stored_no_gain,
                                       b.stored_no_syn - a.stored_no_syn,
                                       b.stored_syn - a.stored_syn,
                                       b.pass_bypass - a.pass_bypass,
                                       b.pass_no_rule - a.pass_no_rule,
                                       b.pass_not_ip - a.pass_not_ip,
                                       b.pass_fragment - a.pass_fragment,
                                       b.pass_extension - a.pass_extension,
                                       b.pass_protocol - a.pass_protocol,
                                       b.pass_empty - a.pass_empty,
                                       b.pass_too_big - a.pass_too_big};
        for (unsigned i = 1; i < KINDS; i++)
            if (moved[i]) return i;
        return COMPRESSED;
    }
    void send(const Bytes &f)
    {
        Judged j{};
        j.at = gn_frame_ethernet_offset(f.data(), f.size());
        const unsigned head = random_.below(4);
        const bool stored = random_.percent(20);
        unsigned code = 1;
        j.kind = bypass_ ? 4 : 6;
        if (j.at) {
            Bytes out(f.size() + 64);
            size_t bytes;
            code = bench::parse_code(f, j.at, j.h);
            const gn_tx_counters before = *gn_tx_get_counters(tx_);
            gn_tx_packet_head(tx_, f.data() + j.at, f.size() - j.at,
                              stored ? static_cast<int>(GN_HEAD_STORED) : static_cast<int>(head), out.data(),
                              out.size(), &bytes);
            const gn_tx_counters after = *gn_tx_get_counters(tx_);
            j.kind = counted(before, after);
            for (size_t i = 0; i < rules_.size() && j.kind < PASSED; i++)
                if (after.rule[i].payload_bytes != before.rule[i].payload_bytes) {
                    j.rule = numbers_[i], j.codec = rules_[i].codec;
                    j.head = j.h.protocol == GN_PROTOCOL_UDP ? rules_[i].head : head;
                }
            const unsigned payload = j.h.end - j.h.payload;
            // the model has tried, and so must we
            if (j.kind == NO_GAIN && payload >= j.head + 4) j.kind = COMPRESSED;
            if (j.kind == COMPRESSED) j.values = (payload - j.head) / 4;
        }
        // what the code says nothing about is anything
        const bool packet = code == 0 || code == 5;
        const auto field = [&](size_t value, unsigned bits) {
            return static_cast<uint32_t>(packet ? value : random_.next() & ((1u << bits) - 1));
        };
        model_->s_code = static_cast<uint8_t>(code);
        model_->s_tagged = static_cast<uint8_t>(field(j.at == 18, 1));
        model_->s_tcp = static_cast<uint8_t>(field(j.h.protocol == GN_PROTOCOL_TCP, 1));
        model_->s_tos = static_cast<uint8_t>(field(j.h.tos, 8));
        model_->s_flags = static_cast<uint8_t>(field(j.h.tcp_flags, 8));
        model_->s_port = static_cast<uint16_t>(field(j.h.destination_port, 16));
        model_->s_payload = static_cast<uint8_t>(field(j.at + j.h.payload, 8));
        model_->s_end = field(j.at + j.h.end, 17);
        model_->s_head = head, model_->s_stored = stored;
        model_->s_valid = 1;
        j.cycle = model_.cycle() + LATENCY;
        expected_.push_back(j);
        step();
        model_->s_valid = 0;
        while (random_.percent(30)) step();
    }
    void expect(const char *what, unsigned got, size_t want)
    {
        if (got != want) fail("frame of kind %u: %s is %u, should be %zu", expected_.front().kind, what, got, want);
    }
    void step()
    {
        if (model_->m_valid) {
            if (expected_.empty()) fail("cycle %llu: judged what nobody sent", (unsigned long long)model_.cycle());
            const Judged &j = expected_.front();
            if (model_.cycle() != j.cycle)
                fail("cycle %llu: too early or too late", (unsigned long long)model_.cycle());
            expect("kind", model_->m_kind, j.kind);
            if (j.kind < PASSED) {
                expect("rule", model_->m_rule, j.rule);
                expect("bytes", model_->m_bytes, j.h.end - j.h.payload);
                const bool tried = j.kind == COMPRESSED;
                expect("values", model_->m_values, j.values);
                expect("start", model_->m_start, j.at + (tried ? j.h.payload + j.head : j.h.end));
                expect("stop", model_->m_stop, j.at + (tried ? j.h.payload + j.head + 4 * j.values : j.h.end));
                if (tried) {
                    expect("head", model_->m_head, j.head);
                    expect("profile", model_->m_profile, j.codec.profile);
                    expect("bound_exp", model_->m_bound_exp, j.codec.bound_exp & 0xff);
                }
            }
            seen[j.kind]++;
            expected_.pop_front();
        }
        model_.rise();
    }

    bench::Model<Vgn_tx_judge> model_;
    bench::Random random_;
    bench::Maker make_;
    gn_tx *tx_ = nullptr;
    std::vector<gn_rule> rules_;
    std::vector<unsigned> numbers_;
    std::deque<Judged> expected_;
    bool bypass_ = false;
};

}  // namespace

int main(int argc, char **argv)
{
    const bench::Options o = bench::options(argc, argv);
    bench::Random random{o.seed ^ 0x2d};
    Bench b(o);
    for (unsigned round = 0; round < 400; round++) {
        b.configure();
        for (unsigned n = 0; n < 100; n++) b.packet_of(random.below(random.percent(80) ? 300 : 1500));
        // a packet has room for the shim up to 65527 bytes
        for (unsigned n = 0; n < 6; n++) b.packet_of(65440 + random.below(96));
    }
    b.drain();
    printf("frames by kind:");
    for (size_t n : b.seen) printf(" %zu", n);
    printf("\n");
    for (size_t n : b.seen)
        if (n < 20) fail("not every kind of frame was met");
    return 0;
}
