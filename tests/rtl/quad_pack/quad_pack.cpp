// SPDX-License-Identifier: Apache-2.0
// gn_quad_pack: all 65536 headers and runs of zeros up to three items, frames that end with every
// group of a quad, gaps, back-pressure, resets; pieces as the model writes them, and places given
// back exactly as often as they were taken.
#include <deque>

#include "Vgn_quad_pack.h"

#include "tests/rtl/common/groups.h"

using bench::fail;

namespace
{

constexpr unsigned PLACES = 16;  // groups that may be inside

class Bench
{
  public:
    explicit Bench(const bench::Options &o) : random{o.seed}, model_(o) { reset(); }

    // A frame of these groups. Lanes and groups that are missing in its last quad are zeros.
    void send(const std::vector<gn_dense_group> &groups)
    {
        std::vector<uint8_t> bytes(gn_dense_bound(groups.size() * GN_GROUP));
        gn_dense_writer writer = {bytes.data(), bytes.data() + bytes.size(), 0};
        for (size_t at = 0; at < groups.size(); at += GN_QUAD_GROUPS) {
            gn_dense_quad quad = {};
            for (size_t g = 0; g < GN_QUAD_GROUPS && at + g < groups.size(); g++) quad[g] = groups[at + g];
            uint8_t record[GN_QUAD_MAX];
            if (!gn_dense_append(&writer, record, gn_dense_put(quad, record))) fail("the model does not write");
        }
        bytes.resize(static_cast<size_t>(writer.out - bytes.data()));
        frames_.push_back(std::move(bytes));
        for (size_t i = 0; i < groups.size(); i++) {
            while (inside_ == PLACES || random.percent(idle)) step(nullptr, false);
            step(&groups[i], i + 1 == groups.size());
        }
    }
    void drain()
    {
        for (unsigned n = 0; n < 2000 && (inside_ || !frames_.empty()); n++) step(nullptr, false);
        for (unsigned n = 0; n < 20; n++) step(nullptr, false);
        if (inside_ || !frames_.empty()) fail("%u groups, %zu frames stay inside for ever", inside_, frames_.size());
        if (model_->m_valid) fail("something is left, though nothing is inside");
    }
    void reset()
    {
        model_->rst = 1;
        model_->s_valid = 1;
        model_.rise();
        model_->rst = 0;
        frames_.clear(), got_.clear();
        inside_ = 0;
        held_ = false;
        step(nullptr, false);
    }

    bench::Random random;
    unsigned idle = 0, stall = 0;  // percent
    size_t pieces = 0;

  private:
    void step(const gn_dense_group *g, bool last)
    {
        model_->s_valid = g != nullptr;
        model_->s_last = g ? last : random.percent(50);
        model_->s_tags = static_cast<unsigned short>(random.next());
        if (g) {
            for (unsigned i = 0; i < GN_GROUP; i++) {
                unsigned tag = g->raw >> i & 1 ? 3 : random.below(3);  // only raw or not counts
                model_->s_tags = static_cast<unsigned short>((model_->s_tags & ~(3u << 2 * i)) | tag << 2 * i);
                model_->s_words[i] = g->word[i];
            }
        }
        model_->m_ready = !random.percent(stall);
        model_.settle();
        watch();
        const bool out = model_->m_valid && model_->m_ready;
        if (out) piece();
        if (model_->s_released > inside_) fail("%u groups leave, %u are inside", model_->s_released, inside_);
        inside_ += (g != nullptr) - model_->s_released;
        model_.rise();
    }

    void watch()
    {
        if (held_ && (!model_->m_valid || memcmp(held_piece_, &model_->m_piece[0], sizeof held_piece_) != 0 ||
                      held_length_ != model_->m_length || held_last_ != model_->m_last))
            fail("a piece changes before it is taken");
        held_ = model_->m_valid && !model_->m_ready;
        memcpy(held_piece_, &model_->m_piece[0], sizeof held_piece_);
        held_length_ = model_->m_length, held_last_ = model_->m_last;
    }

    void piece()
    {
        const uint8_t *data = reinterpret_cast<const uint8_t *>(&model_->m_piece[0]);
        const unsigned length = model_->m_length;
        if (length < 1 || length > 35) fail("a piece of %u bytes", length);
        for (unsigned i = length; i < sizeof model_->m_piece; i++)
            if (data[i]) fail("piece %zu: byte %u of %u is %02x", pieces, i, length, data[i]);
        got_.insert(got_.end(), data, data + length);
        pieces++;
        if (frames_.empty()) fail("a piece comes out that nobody sent");
        const std::vector<uint8_t> &want = frames_.front();
        size_t at = 0;
        while (at < got_.size() && at < want.size() && got_[at] == want[at]) at++;
        if (at < got_.size() || (model_->m_last && at < want.size()) || (at == want.size() && !model_->m_last))
            fail("piece %zu: byte %zu of the frame is %02x, the model says %02x (%zu bytes, the model %zu, last %u)",
                 pieces, at, at < got_.size() ? got_[at] : 0, at < want.size() ? want[at] : 0, got_.size(), want.size(),
                 model_->m_last);
        if (model_->m_last) frames_.pop_front(), got_.clear();
    }

    bench::Model<Vgn_quad_pack> model_;
    std::deque<std::vector<uint8_t>> frames_;  // what the model writes for those that are inside
    std::vector<uint8_t> got_;                 // of the first of them
    unsigned inside_ = 0;
    bool held_ = false, held_last_ = false;
    uint8_t held_piece_[sizeof(Vgn_quad_pack::m_piece)] = {};
    unsigned held_length_ = 0;
};

void append(std::vector<gn_dense_group> &frame, unsigned header, bench::Random &random, size_t groups = GN_QUAD_GROUPS)
{
    gn_dense_quad quad;
    bench::quad_of_header(header, quad, random);
    frame.insert(frame.end(), quad, quad + groups);
}

// In an order without one; a frame of 37 quads each.
void every_header(Bench &b)
{
    std::vector<gn_dense_group> frame;
    for (unsigned n = 0, header = 1; n < 65536; n++, header = (header + 40503) & 0xffff) {
        append(frame, header, b.random);
        if (n % 37 == 36 || n == 65535) b.send(frame), frame.clear();
    }
    b.drain();
}

// Runs of every length to three items, ended by a quad or by the frame, at every group of its last
// quad.
void runs(Bench &b)
{
    for (size_t quads = 1; quads <= 770; quads += quads < 20 || quads % 256 < 4 || quads % 256 > 252 ? 1 : 37) {
        std::vector<gn_dense_group> frame(quads * GN_QUAD_GROUPS - b.random.below(GN_QUAD_GROUPS));
        b.send(frame);
        frame.resize(quads * GN_QUAD_GROUPS);
        if (b.random.percent(50)) frame[0] = bench::group_of_class(1 + b.random.below(15), b.random);
        append(frame, 1u << b.random.below(16), b.random);
        frame.resize(frame.size() - b.random.below(GN_QUAD_GROUPS));
        b.send(frame);
    }
    b.drain();
}

std::vector<gn_dense_group> any_frame(Bench &b, size_t most)
{
    std::vector<gn_dense_group> frame(1 + b.random.below(static_cast<uint32_t>(most)));
    const unsigned zeros = b.random.below(5) * 24;  // percent
    for (gn_dense_group &g : frame)
        g = bench::group_of_class(b.random.percent(zeros) ? 0 : b.random.below(GN_CLASS_COUNT), b.random);
    return frame;
}

}  // namespace

int main(int argc, char **argv)
{
    Bench b(bench::options(argc, argv));
    every_header(b);
    runs(b);
    for (const auto &[idle, stall] : {std::pair<unsigned, unsigned>{0, 0}, {60, 0}, {0, 60}, {40, 40}, {0, 90}}) {
        b.idle = idle, b.stall = stall;
        for (unsigned n = 0; n < 2000; n++) b.send(any_frame(b, n % 10 ? 12 : 60));
        b.drain();
        for (unsigned n = 0; n < 200; n++) {
            b.send(any_frame(b, 20));
            b.reset();
        }
        b.drain();
    }
    printf("%zu pieces\n", b.pieces);
    return 0;
}
