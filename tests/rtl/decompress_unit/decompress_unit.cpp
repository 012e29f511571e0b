// SPDX-License-Identifier: Apache-2.0
// gn_decompress_unit: records of every tag word and groups of every class with any payload bytes,
// also those that no encoder makes; any number of values in a frame's last group, with lanes beyond
// that are empty and that are not; errors that last to the end of their frame.
#include <deque>

#include "Vgn_decompress_unit.h"

#include "tests/rtl/common/groups.h"

using bench::fail;
using bench::Setting;

namespace
{

struct Group {
    Setting setting;
    unsigned class_;  // dense
    bool header;
    unsigned lanes;  // values
    bool last, error;
    uint8_t record[36];  // dense: header (or not) and payload
};

struct Want {
    uint32_t values[GN_GROUP];
    unsigned lanes;
    bool last, bad;
};

// What the model makes of a group alone. True when it refuses it.
bool decode(const Group &g, uint32_t *values)
{
    const bool dense = g.setting.profile == GN_DENSE;
    const gn_codec c = bench::codec(g.setting.profile, g.setting.k);
    const uint8_t *payload = g.record + (dense && g.header ? GN_QUAD_HEADER : 0);
    uint8_t stream[GN_QUAD_MAX] = {};
    size_t bytes;
    if (!dense) {
        bytes = gn_record_bytes(gn_read_tags(g.record));
        memcpy(stream, g.record, bytes);
    } else if (!g.class_) {
        bytes = GN_RUN_ITEM;
    } else {
        bytes = GN_QUAD_HEADER + gn_class_bytes[g.class_];
        stream[0] = static_cast<uint8_t>(g.class_);
        memcpy(stream + GN_QUAD_HEADER, payload, gn_class_bytes[g.class_]);
    }
    if (gn_stream_decode(&c, stream, bytes, values, GN_GROUP, nullptr)) fail("the model refuses eight values");
    uint32_t fewer[GN_GROUP];
    return g.last && gn_stream_decode(&c, stream, bytes, fewer, g.lanes, nullptr) != GN_OK;
}

class Bench
{
  public:
    explicit Bench(const bench::Options &o) : random{o.seed}, model_(o) { reset(); }

    void add(const Group &g)
    {
        while (random.percent(idle)) step(nullptr);
        Want w{{}, g.last ? g.lanes % GN_GROUP : 0, g.last, false};
        bad_ = decode(g, w.values) || g.error || bad_;
        w.bad = bad_;
        if (g.last) refused += bad_, bad_ = false;
        wanted_.push_back(w);
        step(&g);
    }
    void drain()
    {
        for (unsigned n = 0; n < 20; n++) step(nullptr);
        if (!wanted_.empty()) fail("%zu groups stay inside for ever", wanted_.size());
    }
    void reset()
    {
        model_->rst = 1;
        model_->s_valid = 1, model_->s_error = 1, model_->s_last = 0;
        model_.rise();
        model_->rst = 0;
        wanted_.clear();
        bad_ = false;
        step(nullptr);
    }

    bench::Random random;
    unsigned idle = 0;
    size_t done = 0, refused = 0;

  private:
    void step(const Group *g)
    {
        model_->s_valid = g != nullptr;
        if (g) {
            const unsigned tags = gn_read_tags(g->record);
            model_->s_profile = static_cast<unsigned char>(g->setting.profile);
            model_->s_bound_exp = static_cast<unsigned char>(g->setting.k);
            memcpy(&model_->s_record[0], g->record, sizeof g->record);
            model_->s_record[8] &= 0xffffff;  // 280 bits
            model_->s_low_bytes = static_cast<unsigned char>(gn_record_bytes(tags & 0xff) - GN_TAG_WORD);
            model_->s_class = static_cast<unsigned char>(g->class_);
            model_->s_header = g->header;
            model_->s_lanes = static_cast<unsigned char>(g->lanes % GN_GROUP);
            model_->s_last = g->last;
            model_->s_error = g->error;
        } else {  // none of it counts
            model_->s_profile = static_cast<unsigned char>(random.below(3));
            model_->s_lanes = static_cast<unsigned char>(random.below(8));
            model_->s_last = random.percent(50);
            model_->s_error = random.percent(50);
        }
        model_.rise();
        if (model_->m_valid) group();
    }

    void group()
    {
        if (wanted_.empty()) fail("a group comes out that nobody sent");
        const Want &w = wanted_.front();
        if (memcmp(&model_->m_values[0], w.values, sizeof w.values) != 0) {
            for (unsigned i = 0; i < GN_GROUP; i++)
                fprintf(stderr, "lane %u: %08x, the model says %08x\n", i, model_->m_values[i], w.values[i]);
            fail("group %zu", done);
        }
        if (model_->m_last != w.last || model_->m_lanes != w.lanes || (w.last && model_->m_error != w.bad))
            fail("group %zu: last %u, %u lanes, error %u; should be %u, %u, %u", done, model_->m_last, model_->m_lanes,
                 model_->m_error, w.last, w.lanes, w.bad);
        wanted_.pop_front();
        done++;
    }

    bench::Model<Vgn_decompress_unit> model_;
    std::deque<Want> wanted_;
    bool bad_ = false;  // the frame that is going in
};

Group any_group(Bench &b, const Setting &s, unsigned head)
{
    Group g{s, 0, false, GN_GROUP, b.random.percent(20), b.random.percent(3), {}};
    for (uint8_t &byte : g.record) byte = static_cast<uint8_t>(b.random.next());
    if (s.profile == GN_DENSE) {
        g.class_ = head & 15;
        g.header = head >> 4 & 1;
        if (b.random.percent(30)) {  // sparse: the lanes that are missing may be empty
            const unsigned mask = static_cast<unsigned>(b.random.next());
            for (uint8_t &byte : g.record) byte &= static_cast<uint8_t>(mask);
        }
    } else {
        g.record[0] = static_cast<uint8_t>(head), g.record[1] = static_cast<uint8_t>(head >> 8);
    }
    if (g.last) {
        g.lanes = 1 + b.random.below(GN_GROUP);
        if (b.random.percent(50) && s.profile != GN_DENSE) {
            const unsigned tags = head & ~gn_padding_mask(g.lanes);
            g.record[0] = static_cast<uint8_t>(tags), g.record[1] = static_cast<uint8_t>(tags >> 8);
        } else if (b.random.percent(50)) {
            for (unsigned i = g.header ? GN_QUAD_HEADER : 0; s.profile == GN_DENSE && i < sizeof g.record; i++)
                g.record[i] &= static_cast<uint8_t>((1u << g.lanes) - 1);
        }
    }
    return g;
}

}  // namespace

int main(int argc, char **argv)
{
    Bench b(bench::options(argc, argv));
    for (gn_profile p : bench::profiles()) {
        for (unsigned n = 0, head = 0; n < 65536; n++, head = (head + 40503) & 0xffff)
            b.add(any_group(b, {p, 10}, head));
        b.drain();
    }
    for (unsigned idle : {0, 30, 70}) {
        b.idle = idle;
        for (unsigned n = 0; n < 30000; n++) b.add(any_group(b, bench::any_setting(b.random), b.random.below(65536)));
        b.drain();
        for (unsigned r = 0; r < 200; r++) {
            for (unsigned n = 1 + b.random.below(8); n > 0; n--)
                b.add(any_group(b, bench::any_setting(b.random), b.random.below(65536)));
            b.reset();
        }
    }
    printf("%zu groups, %zu frames refused\n", b.done, b.refused);
    if (b.refused < 2000) fail("that is not the mixture that was meant");
    return 0;
}
