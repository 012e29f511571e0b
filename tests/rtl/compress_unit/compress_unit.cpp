// SPDX-License-Identifier: Apache-2.0
// gn_compress_unit: every tag word of paper and lattice, groups with and without gaps, changes of
// profile and bound from group to group, resets; lanes and records as the model has them, and
// nothing above a record's length.
#include <deque>
#include <optional>

#include "Vgn_compress_unit.h"

#include "tests/rtl/common/groups.h"

using bench::fail;
using bench::Setting;

namespace
{

struct Group {
    Setting setting;
    bool last;
    uint32_t values[GN_GROUP];
};

class Bench
{
  public:
    explicit Bench(const bench::Options &o) : random{o.seed}, model_(o) { reset(); }

    void add(const Group &g)
    {
        while (random.percent(idle)) step(nullptr);
        step(&g);
    }
    // All that went in comes out.
    void drain()
    {
        for (unsigned n = 0; n < 20; n++) step(nullptr);
        if (!lanes_.empty() || !records_.empty()) fail("groups stay inside for ever");
    }
    void reset()
    {
        model_->rst = 1;
        model_->s_valid = 1;
        model_.rise();
        model_->rst = 0;
        ahead_.reset(), lanes_.clear(), records_.clear();
        step(nullptr);
    }

    bench::Random random;
    unsigned idle = 0;  // percent
    size_t done = 0;

  private:
    // A group: its profile and bound now, its values in the next cycle, in which those of another
    // may come.
    void step(const Group *g)
    {
        model_->s_valid = ahead_.has_value();
        if (ahead_) {
            model_->s_last = ahead_->last;
            memcpy(&model_->s_values[0], ahead_->values, sizeof ahead_->values);
            lanes_.push_back(*ahead_);
            if (ahead_->setting.profile != GN_DENSE) records_.push_back(*ahead_);
        } else {
            model_->s_last = random.percent(50);
        }
        model_->s_profile = static_cast<unsigned char>(g ? g->setting.profile : random.below(3));
        if (g) model_->s_bound_exp = static_cast<unsigned char>(g->setting.k);
        ahead_.reset();
        if (g) ahead_ = *g;
        model_.rise();
        if (model_->lane_valid) lanes();
        if (model_->m_valid) record();
    }

    void lanes()
    {
        if (lanes_.empty()) fail("lanes give a group that nobody sent");
        const Group &g = lanes_.front();
        const bool dense = g.setting.profile == GN_DENSE;
        const gn_codec c = bench::codec(dense ? GN_LATTICE : g.setting.profile, g.setting.k);
        if (model_->lane_dense != dense || model_->lane_last != g.last) fail("group %zu: dense or last is wrong", done);
        for (unsigned i = 0; i < GN_GROUP; i++) {
            gn_code want = gn_lane_encode(&c, g.values[i]);
            const unsigned tag = gn_lane_tag(model_->lane_tags, i);
            if (dense && want.tag == 1) want.payload = static_cast<uint32_t>(static_cast<int8_t>(want.payload));
            if (dense && want.tag == 2) want.payload = static_cast<uint32_t>(static_cast<int16_t>(want.payload));
            if ((dense ? (tag == 3) != (want.tag == 3) : tag != want.tag) || model_->lane_payloads[i] != want.payload)
                fail("%s, k = %d, lane %u, %08x: tag %u, %08x, the model says %u, %08x",
                     gn_profile_name(g.setting.profile), g.setting.k, i, g.values[i], tag, model_->lane_payloads[i],
                     want.tag, want.payload);
        }
        lanes_.pop_front();
        done++;
    }

    void record()
    {
        if (records_.empty()) fail("a record comes out that nobody sent");
        const Group &g = records_.front();
        uint8_t want[sizeof model_->m_record] = {};
        const gn_codec c = bench::codec(g.setting.profile, g.setting.k);
        size_t bytes;
        if (gn_stream_encode(&c, g.values, GN_GROUP, want, GN_RECORD_MAX, &bytes)) fail("the model does not encode");
        memset(want + bytes, 0, sizeof want - bytes);
        if (model_->m_length != bytes || model_->m_last != g.last ||
            memcmp(&model_->m_record[0], want, sizeof want) != 0)
            fail("record of tags %04x: %u bytes, last %u; the model says %zu bytes, %d", gn_read_tags(want),
                 model_->m_length, model_->m_last, bytes, g.last);
        records_.pop_front();
    }

    bench::Model<Vgn_compress_unit> model_;
    std::optional<Group> ahead_;
    std::deque<Group> lanes_, records_;
};

void every_tag_word(Bench &b, gn_profile profile)
{
    const Setting s{profile, 10};
    const gn_codec c = bench::codec(profile, s.k);
    for (unsigned tags = 0; tags < 65536; tags++) {
        Group g{s, b.random.percent(10), {}};
        for (unsigned i = 0; i < GN_GROUP; i++) g.values[i] = bench::value_of_tag(s, c, gn_lane_tag(tags, i), b.random);
        b.add(g);
    }
    b.drain();
}

void any(Bench &b, unsigned groups)
{
    for (unsigned n = 0; n < groups; n++) {
        const Setting s = bench::any_setting(b.random);
        Group g{s, b.random.percent(20), {}};
        const auto mix = static_cast<bench::Mix>(b.random.below(bench::MIX_COUNT));
        memcpy(g.values, bench::values_of(mix, s, GN_GROUP, b.random).data(), sizeof g.values);
        b.add(g);
    }
}

}  // namespace

int main(int argc, char **argv)
{
    Bench b(bench::options(argc, argv));
    every_tag_word(b, GN_PAPER);
    every_tag_word(b, GN_LATTICE);
    for (unsigned idle : {0, 30, 70}) {
        b.idle = idle;
        any(b, 20000);
        b.drain();
        for (unsigned n = 0; n < 100; n++) {
            any(b, b.random.below(6));
            b.reset();
        }
        b.drain();
    }
    printf("%zu groups\n", b.done);
    return 0;
}
