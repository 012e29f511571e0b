// SPDX-License-Identifier: Apache-2.0
// gn_record_window: records of every length and quads of every header at every offset of a beat, in
// a frame, last in it, and first behind another; runs, damaged streams, gaps, no room, resets. What
// comes out is what the model's tables say is there, and a frame is refused exactly when the model
// refuses it, lanes that stand for no value apart (they are gn_decompress_unit's).
#include <deque>
#include <set>
#include <tuple>

#include "Vgn_record_window.h"

#include "tests/rtl/common/damage.h"
#include "tests/rtl/common/groups.h"

using bench::fail;
using bench::Setting;

namespace
{

constexpr unsigned BEAT = 32, COUNT_SHIFT = 10;

// A group: where its bytes are, and how many.
struct Group {
    size_t at, bytes;
    unsigned class_;
    bool header;
    unsigned low_bytes;
};

struct Frame {
    Setting setting;
    std::vector<uint8_t> stream;
    size_t count;
    bool bad;
    std::vector<Group> groups;
};

unsigned low_bytes(unsigned tags)
{
    return gn_record_bytes(tags & 0xff) - GN_TAG_WORD;
}

// Of a good stream.
std::vector<Group> groups_of(const Frame &f)
{
    std::vector<Group> groups;
    const size_t all = gn_group_count(f.count);
    for (size_t at = 0; groups.size() < all;) {
        const uint8_t *item = f.stream.data() + at;
        const unsigned head = gn_quad_header(item);
        if (f.setting.profile != GN_DENSE) {
            groups.push_back({at, gn_record_bytes(head), 0, false, low_bytes(head)});
            at += gn_record_bytes(head);
        } else if (!head) {
            for (unsigned g = 0; g < (item[GN_QUAD_HEADER] + 1u) * GN_QUAD_GROUPS && groups.size() < all; g++)
                groups.push_back({at, 0, 0, g == 0, 0});
            at += GN_RUN_ITEM;
        } else {
            size_t payload = at + GN_QUAD_HEADER;
            for (unsigned g = 0; g < GN_QUAD_GROUPS && groups.size() < all; g++) {
                const unsigned class_ = gn_quad_class(head, g), bytes = gn_class_bytes[class_];
                groups.push_back({g ? payload : at, bytes + (g ? 0u : GN_QUAD_HEADER), class_, g == 0, 0});
                payload += bytes;
            }
            at += gn_quad_bytes(head);
        }
    }
    return groups;
}

class Bench
{
  public:
    explicit Bench(const bench::Options &o) : random{o.seed}, model_(o) { reset(); }

    void add(const Setting &s, std::vector<uint8_t> stream, size_t count)
    {
        const gn_codec c = bench::codec(s.profile, s.k);
        const size_t lanes = gn_group_count(count) * GN_GROUP;  // as if all lanes stood for values
        std::vector<float> values(lanes);
        Frame f{s, std::move(stream), count, false, {}};
        f.bad =
            !count || gn_stream_decode(&c, f.stream.data(), f.stream.size(), values.data(), lanes, nullptr) != GN_OK;
        if (!f.bad) f.groups = groups_of(f);
        (f.bad ? bad : good)++;
        to_send_.push_back(f);
        inside_.push_back(std::move(f));
    }
    void run()
    {
        for (unsigned quiet = 0; !inside_.empty(); quiet = moved_ ? 0 : quiet + 1) {
            step();
            if (quiet > 3000) fail("nothing moves: %zu frames to come out", inside_.size());
        }
        for (unsigned n = 0; n < 20; n++) step();
        if (started_) fail("%u records were started and did not come", started_);
    }
    void some_cycles(unsigned cycles)
    {
        while (cycles-- > 0) step();
    }
    void reset()
    {
        model_->rst = 1;
        model_->s_axis_tvalid = 1;
        model_->m_room = 1;
        model_.rise();
        model_->rst = 0;
        model_->s_axis_tvalid = 0;
        to_send_.clear(), inside_.clear();
        sent_ = group_ = 0;
        offered_ = false;
        started_ = 0, error_ = false;
        step();
    }

    bench::Random random;
    unsigned idle = 0, full = 0;  // percent of cycles
    size_t good = 0, bad = 0, records = 0;
    std::set<std::tuple<bool, size_t, size_t, bool>> seen;  // dense, offset, bytes, last

  private:
    void step()
    {
        moved_ = false;
        if (!offered_ && !to_send_.empty() && !random.percent(idle)) offer();
        model_->s_axis_tvalid = offered_;
        model_->m_room = !random.percent(full);
        model_.settle();
        if (model_->m_started) {
            if (!model_->m_room) fail("a record is started where there is no room");
            started_++;
        }
        if (offered_ && model_->s_axis_tready) {
            moved_ = true, offered_ = false;
            sent_ += BEAT;
            if (sent_ >= to_send_.front().stream.size()) to_send_.pop_front(), sent_ = 0;
        }
        model_.rise();
        if (model_->m_valid) record();
    }

    void offer()
    {
        const Frame &f = to_send_.front();
        const size_t left = f.stream.size() - sent_;
        const unsigned bytes = left < BEAT ? static_cast<unsigned>(left) : BEAT;
        for (unsigned i = 0; i < BEAT / 4; i++) model_->s_axis_tdata[i] = static_cast<uint32_t>(random.next());
        memcpy(&model_->s_axis_tdata[0], f.stream.data() + sent_, bytes);
        model_->s_axis_tkeep = bytes == BEAT ? ~0u : (1u << bytes) - 1;
        model_->s_axis_tlast = left <= BEAT;
        model_->s_axis_tuser = (sent_ ? random.next() : f.setting.user() | f.count << COUNT_SHIFT) & ((1ull << 34) - 1);
        offered_ = true;
    }

    void record()
    {
        moved_ = true;
        if (!started_--) fail("a record comes that was not started");
        if (inside_.empty()) fail("a record comes that nobody sent");
        const Frame &f = inside_.front();
        records++;
        error_ = error_ || model_->m_error;
        if (f.bad) {
            if (group_ + 1 > std::max<size_t>(1, gn_group_count(f.count)))
                fail("a bad frame has more groups than its count");
        } else {
            check(f, f.groups.at(group_));
        }
        group_++;
        if (!model_->m_last) return;
        if (error_ != f.bad || (!f.bad && group_ != f.groups.size())) {
            for (uint8_t b : f.stream) fprintf(stderr, "%02x", b);
            fprintf(stderr, "\n");
            fail("%s, %zu values, %zu bytes: %s after %zu groups, the model says %s",
                 gn_profile_name(f.setting.profile), f.count, f.stream.size(), error_ ? "bad" : "good", group_,
                 f.bad ? "bad" : "good");
        }
        inside_.pop_front();
        group_ = 0;
        error_ = false;
    }

    [[noreturn]] void differs(const Frame &f, const Group &g, bool last)
    {
        const uint8_t *got = reinterpret_cast<const uint8_t *>(&model_->m_record[0]);
        fprintf(stderr, "bytes there, and the stream's:");
        for (size_t i = 0; i < g.bytes; i++) fprintf(stderr, " %02x/%02x", got[i], f.stream[g.at + i]);
        fprintf(stderr, "\n");
        fail("group %zu of %zu (%s, k = %d), %zu bytes at byte %zu of its stream: profile %u, k byte %u, last %u "
             "(should be %d), lanes %u (the last's: %zu); class %u, header %u, low bytes %u (should be %u, %u, %u)",
             group_, f.groups.size(), gn_profile_name(f.setting.profile), f.setting.k, g.bytes, g.at, model_->m_profile,
             model_->m_bound_exp, model_->m_last, last, model_->m_lanes, f.count % GN_GROUP, model_->m_class,
             model_->m_header, model_->m_low_bytes, g.class_, g.header, g.low_bytes);
    }
    void check(const Frame &f, const Group &g)
    {
        const bool last = group_ + 1 == f.groups.size(), dense = f.setting.profile == GN_DENSE;
        if (!dense || (g.header && g.class_)) seen.insert({dense, g.at % BEAT, g.bytes, last});
        if (model_->m_profile != f.setting.profile || model_->m_bound_exp != (f.setting.k & 0xff) ||
            model_->m_last != last || (last && model_->m_lanes != f.count % GN_GROUP) ||
            (dense ? model_->m_class != g.class_ || model_->m_header != g.header
                   : model_->m_low_bytes != g.low_bytes) ||
            memcmp(&model_->m_record[0], f.stream.data() + g.at, g.bytes) != 0)
            differs(f, g, last);
    }

    bench::Model<Vgn_record_window> model_;
    std::deque<Frame> to_send_, inside_;
    size_t sent_ = 0, group_ = 0;
    unsigned started_ = 0;
    bool offered_ = false, moved_ = false, error_ = false;
};

// A record of this tag word with any payload, or a quad of this header with any planes.
void append(std::vector<uint8_t> &stream, bool dense, unsigned head, bench::Random &random)
{
    if (dense && !head) {
        stream.insert(stream.end(), {0, 0, static_cast<uint8_t>(random.below(4))});
        return;
    }
    const size_t at = stream.size(), bytes = dense ? gn_quad_bytes(head) : gn_record_bytes(head);
    stream.resize(at + bytes);
    for (size_t i = 0; i < bytes; i++) stream[at + i] = static_cast<uint8_t>(random.next());
    stream[at] = static_cast<uint8_t>(head), stream[at + 1] = static_cast<uint8_t>(head >> 8);
}

size_t values_in(const std::vector<uint8_t> &stream, size_t from, bool dense)
{
    return !dense ? GN_GROUP : gn_quad_header(&stream[from]) ? GN_QUAD : (stream[from + 2] + 1u) * GN_QUAD;
}

// Every head, in frames of 1 to 60 of them.
void every_head(Bench &b, gn_profile profile)
{
    const Setting s{profile, 10};
    std::vector<uint8_t> stream;
    size_t count = 0, left = 1;
    for (unsigned n = 0, head = 0; n < 65536; n++, head = (head + 40503) & 0xffff) {
        const size_t from = stream.size();
        append(stream, profile == GN_DENSE, head, b.random);
        count += values_in(stream, from, profile == GN_DENSE);
        if (--left == 0) {
            if (b.random.percent(50)) b.add(s, stream, count);
            // the last group lacks lanes; bits of theirs do not concern the window
            else
                b.add(s, stream, count - b.random.below(GN_GROUP));
            stream.clear(), count = 0;
            left = 1 + b.random.below(60);
        }
        if (n % 5000 == 0) b.run();
    }
    b.add(s, stream.empty() ? std::vector<uint8_t>{0, 0, 0} : stream, stream.empty() ? GN_GROUP : count);
    b.run();
}

// A tag word of so many bytes, or a header whose first group has so many.
unsigned head_of_bytes(size_t bytes, bool dense, bench::Random &random)
{
    for (;;) {
        unsigned head = random.below(65536);
        if (!dense && bytes > 28) head |= 0xffffu << 2 * random.below(4) & 0xffffu;
        if (!dense && bytes < 6) head &= 0xfu << 2 * random.below(7);
        if (!dense && gn_record_bytes(head) == bytes) return head;
        if (dense && gn_class_bytes[head & 15] + GN_QUAD_HEADER == bytes && head) return head;
    }
}

// Every length at every offset: in the frame, as its last, and as its only one.
void every_offset(Bench &b, gn_profile profile)
{
    const bool dense = profile == GN_DENSE;
    const Setting s{profile, 10};
    for (size_t offset = 0; offset < BEAT; offset++) {
        for (size_t bytes = 2; bytes <= 35; bytes++) {
            if (dense ? std::find_if(gn_class_bytes, gn_class_bytes + GN_CLASS_COUNT,
                                     [bytes](uint8_t c) { return c + 2u == bytes; }) == gn_class_bytes + GN_CLASS_COUNT
                      : bytes == 33 || bytes == 35)
                continue;
            for (bool last : {false, true}) {
                std::vector<uint8_t> stream;
                size_t count = 0, from;
                // up to `offset` (mod 32), by records of 2 and 3 bytes, or runs of 3 and quads of 3
                // to 5
                while (stream.size() % BEAT != offset || (dense && stream.size() == 1)) {
                    from = stream.size();
                    const size_t want = (offset + 2 * BEAT - stream.size() % BEAT) % BEAT;
                    if (dense)
                        append(stream, true,
                               want == 4       ? 0x0002
                               : want == 5     ? 0x0003
                               : want % 3 == 0 ? 0
                               : want % 3 == 1 ? 2
                                               : 3,
                               b.random);
                    else
                        append(stream, false, want == 3 || (want & 1) ? 1 : 0, b.random);
                    count += values_in(stream, from, dense);
                }
                from = stream.size();
                append(stream, dense, head_of_bytes(bytes, dense, b.random), b.random);
                if (last && dense) {  // the last group is the quad's first
                    const unsigned class_ = stream[from] & 15;
                    stream.resize(from + GN_QUAD_HEADER + gn_class_bytes[class_]);
                    stream[from] = static_cast<uint8_t>(class_), stream[from + 1] = 0;
                    if (!class_) continue;
                    count += GN_GROUP;
                } else {
                    count += values_in(stream, from, dense);
                }
                if (!last) {
                    from = stream.size();
                    append(stream, dense, b.random.below(65536), b.random);
                    count += values_in(stream, from, dense);
                }
                b.add(s, std::move(stream), count);
            }
        }
        b.run();
    }
}

void any(Bench &b, unsigned frames, unsigned damaged)
{
    for (unsigned n = 0; n < frames; n++) {
        const Setting s = bench::any_setting(b.random);
        size_t count = 1 + b.random.below(b.random.percent(50) ? 40 : 400);
        std::vector<uint8_t> stream = bench::stream_of(
            s, bench::values_of(static_cast<bench::Mix>(b.random.below(bench::MIX_COUNT)), s, count, b.random));
        if (b.random.percent(damaged)) bench::damage(stream, count, b.random);
        b.add(s, std::move(stream), count);
    }
}

}  // namespace

int main(int argc, char **argv)
{
    Bench b(bench::options(argc, argv));
    for (gn_profile p : {GN_PAPER, GN_LATTICE, GN_DENSE}) {
        every_head(b, p);
        every_offset(b, p);
    }
    // 32 lengths of records, 12 of quads' headers with their first groups
    if (b.seen.size() != BEAT * (32 + 12) * 2)
        fail("%zu cases: not every length at every offset was met", b.seen.size());
    for (const auto &[idle, full] :
         {std::pair<unsigned, unsigned>{0, 0}, {60, 0}, {0, 60}, {40, 40}, {95, 0}, {0, 95}}) {
        b.idle = idle, b.full = full;
        any(b, 1500, 50);
        b.run();
        for (unsigned n = 0; n < 100; n++) {
            any(b, 5, 30);
            b.some_cycles(b.random.below(80));
            b.reset();
        }
    }
    printf("%zu records, %zu good frames, %zu bad\n", b.records, b.good, b.bad);
    if (b.bad < 2000 || b.good < 4000) fail("that is not the mixture that was meant");
    return 0;
}
