// SPDX-License-Identifier: Apache-2.0
// gn_frame_assemble, and in it gn_frame_stamp: jobs of every kind against gn_stamp_write(): new
// headers, shim, pieces at any offsets and of any length; frames that pass and that do not leave;
// memory freed in order and not read afterwards. Back-pressure, full rate, resets.
#include <array>
#include <deque>

#include "Vgn_frame_assemble.h"

#include "tests/rtl/common/frames.h"

extern "C" {
#include "cmodel/stamp.h"
}

using bench::Bytes;
using bench::fail;

namespace
{

enum { RING = 1024, BEAT = 32 };
using Store = std::array<std::array<uint8_t, BEAT>, RING>;

size_t beats_of(size_t bytes)
{
    return (bytes + BEAT - 1) / BEAT;
}

struct Job {
    Bytes frame, result, out;
    gn_headers h;
    size_t at, from, bytes, tail, tail_bytes;
    bool drop, pass, shim;
    std::array<uint8_t, 8> shim_bytes;
    unsigned first, result_first;
};

class Bench
{
  public:
    explicit Bench(const bench::Options &o) : model_(o), random_{o.seed}, make_(o.seed ^ 0x78) { reset(); }

    // payload: of the packet; result: bytes that an engine made
    void add(size_t payload, size_t result)
    {
        Job j{};
        j.drop = random_.percent(5), j.pass = !j.drop && random_.percent(20);
        do {
            j.frame = make_.good(payload);
            j.at = gn_frame_ethernet_offset(j.frame.data(), j.frame.size());
        } while (!j.at || gn_packet_parse(j.frame.data() + j.at, j.frame.size() - j.at, &j.h) != GN_PARSE_OK ||
                 j.h.end == j.h.payload);
        const size_t p = j.at + j.h.payload, end = j.at + j.h.end;
        j.shim = random_.percent(50);
        for (uint8_t &b : j.shim_bytes) b = static_cast<uint8_t>(random_.next());
        j.from = p + (!j.shim && payload > 8 ? 8 : 0);
        j.bytes = random_.percent(20) ? end - j.from
                                      : random_.below(static_cast<uint32_t>(std::min<size_t>(end - j.from, 256) + 1));
        j.tail_bytes = random_.below(static_cast<uint32_t>(std::min<size_t>(4, end - j.from - j.bytes + 1)));
        j.tail = end - j.tail_bytes;
        if (random_.percent(30) && !j.pass) result = 0;
        j.result = make_.noise(result);
        if (!j.bytes && !result && !j.tail_bytes) j.bytes = 1;
        make_out(j);
        place(j);
        to_send_.push_back(std::move(j));
    }
    void run(unsigned idle, unsigned stall)
    {
        unsigned quiet = 0;
        const uint64_t begin = model_.cycle();
        while (!to_send_.empty() || !expected_.empty() || !freeing_.empty()) {
            const size_t before = frames + got_.size() + freeing_.size() + to_send_.size();
            step(idle, stall);
            quiet = frames + got_.size() + freeing_.size() + to_send_.size() == before ? quiet + 1 : 0;
            if (quiet > 2000) fail("cycle %llu: nothing moves", cycle());
        }
        if (!idle && !stall && model_.cycle() - begin > pieces_ + 40)
            fail("%zu pieces take %llu cycles", pieces_, (unsigned long long)(model_.cycle() - begin));
        pieces_ = 0;
    }
    void reset_after(unsigned cycles)
    {
        for (unsigned i = 0; i < cycles; i++) step(0, 30);
        reset();
        for (unsigned i = 0; i < 40; i++) step(100, 0);
    }
    size_t frames = 0;

  private:
    unsigned long long cycle() const { return model_.cycle(); }

    static void append(Bytes &to, const Bytes &from, size_t at, size_t bytes)
    {
        to.insert(to.end(), from.begin() + static_cast<long>(at), from.begin() + static_cast<long>(at + bytes));
    }
    void make_out(Job &j)
    {
        if (j.drop) return;
        pieces_ += j.pass ? beats_of(j.frame.size()) : 0;
        if (j.pass) {
            j.out = j.frame;
            return;
        }
        const size_t p = j.at + j.h.payload;
        Bytes payload;
        if (j.shim) payload.insert(payload.end(), j.shim_bytes.begin(), j.shim_bytes.end());
        append(payload, j.frame, j.from, j.bytes);
        append(payload, j.result, 0, j.result.size());
        append(payload, j.frame, j.tail, j.tail_bytes);
        gn_stamp stamp;
        gn_stamp_prepare(&stamp, j.frame.data() + j.at, &j.h);
        gn_imprint imprint{};
        imprint.payload_bytes = payload.size();
        imprint.payload_sum = gn_checksum_add(0, payload.data(), payload.size());
        j.out.assign(j.frame.begin(), j.frame.begin() + static_cast<long>(p));
        gn_stamp_write(&stamp, &imprint, j.out.data() + j.at);
        append(j.out, payload, 0, payload.size());
        const auto pieces = [](size_t from, size_t bytes) {
            return bytes ? (from % BEAT + bytes + BEAT - 1) / BEAT : 0;
        };
        pieces_ += pieces(0, p) + pieces(j.from, j.bytes) + pieces(0, j.result.size()) + pieces(j.tail, j.tail_bytes);
    }
    static unsigned put(Store &store, unsigned &place, const Bytes &bytes)
    {
        const unsigned first = place;
        for (size_t i = 0; i < bytes.size(); i++) store[(first + i / BEAT) % RING][i % BEAT] = bytes[i];
        place = static_cast<unsigned>((place + beats_of(bytes.size())) % RING);
        return first;
    }
    void place(Job &j)
    {
        j.first = put(frames_, frame_place_, j.frame);
        j.result_first = put(results_, result_place_, j.result);
    }
    void reset()
    {
        model_->rst = 1;
        for (unsigned i = 1 + random_.below(3); i; i--) model_->s_valid = random_.next() & 1, model_.rise();
        model_->rst = 0, model_->s_valid = 0, model_->m_axis_tready = 0;
        to_send_.clear(), expected_.clear(), freeing_.clear(), got_.clear();
        offered_ = false, pieces_ = 0;
    }
    unsigned sum(const Bytes &b, size_t at, size_t bytes) { return gn_checksum_add(0, b.data() + at, bytes); }
    void offer(const Job &j)
    {
        model_->s_first = j.first, model_->s_length = j.frame.size();
        model_->s_drop = j.drop, model_->s_pass = j.pass;
        model_->s_tagged = j.at == 18, model_->s_six = j.h.version == 6,
        model_->s_tcp = j.h.protocol == GN_PROTOCOL_TCP;
        model_->s_l4 = static_cast<unsigned>(j.at + j.h.l4),
        model_->s_payload = static_cast<unsigned>(j.at + j.h.payload);
        model_->s_end = j.at + j.h.end;
        model_->s_shim_valid = j.shim;
        memcpy(&model_->s_shim, j.shim_bytes.data(), 8);
        model_->s_from = j.from, model_->s_bytes = j.bytes;
        model_->s_result_first = j.result_first, model_->s_result_bytes = j.result.size();
        model_->s_tail = j.tail, model_->s_tail_bytes = j.tail_bytes;
        Bytes lead(j.frame.begin() + static_cast<long>(j.at + j.h.l4),
                   j.frame.begin() + static_cast<long>(j.at + j.h.payload));
        const size_t field = gn_packet_checksum_at(&j.h) - j.h.l4;
        lead[field] = lead[field + 1] = 0;
        if (j.h.protocol == GN_PROTOCOL_UDP) lead[4] = lead[5] = 0;
        append(lead, j.frame, j.at + (j.h.version == 4 ? 12 : 8), j.h.version == 4 ? 8 : 32);
        append(lead, j.frame, j.from, j.bytes);
        model_->s_sum_lead = sum(lead, 0, lead.size());
        model_->s_sum_result = sum(j.result, 0, j.result.size());
        model_->s_sum_tail = sum(j.frame, j.tail, j.tail_bytes);
    }
    void step(unsigned idle, unsigned stall)
    {
        if (!offered_ && !to_send_.empty() && !random_.percent(idle)) {
            offer(to_send_.front());
            offered_ = true;
        }
        model_->s_valid = offered_;
        model_->m_axis_tready = !random_.percent(stall);
        memcpy(&model_->frame_data[0], frame_read_[1].data(), BEAT);
        memcpy(&model_->result_data[0], result_read_[1].data(), BEAT);
        model_.settle();
        if (model_->m_axis_tvalid && model_->m_axis_tready) given();
        freed();
        if (offered_ && model_->s_ready) {
            if (!to_send_.front().drop) expected_.push_back(to_send_.front());
            freeing_.push_back(to_send_.front());
            to_send_.pop_front();
            offered_ = false;
        }
        frame_read_ = {frames_[model_->frame_address], frame_read_[0]};
        result_read_ = {results_[model_->result_address], result_read_[0]};
        model_.rise();
    }
    // What is freed may be written at once.
    void clobber(Store &store, unsigned first, size_t beats)
    {
        for (size_t i = 0; i < beats; i++)
            for (uint8_t &b : store[(first + i) % RING]) b = static_cast<uint8_t>(random_.next());
    }
    void freed()
    {
        if (!model_->frame_free) {
            if (model_->result_free) fail("cycle %llu: a result is freed alone", cycle());
            return;
        }
        if (freeing_.empty()) fail("cycle %llu: beats are freed that nobody has", cycle());
        const Job &j = freeing_.front();
        if (model_->frame_free != beats_of(j.frame.size()) || model_->result_free != beats_of(j.result.size()))
            fail("cycle %llu: %u and %u beats freed, should be %zu and %zu", cycle(), model_->frame_free,
                 model_->result_free, beats_of(j.frame.size()), beats_of(j.result.size()));
        clobber(frames_, j.first, beats_of(j.frame.size()));
        clobber(results_, j.result_first, beats_of(j.result.size()));
        freeing_.pop_front();
    }
    void given()
    {
        const uint8_t *data = reinterpret_cast<const uint8_t *>(&model_->m_axis_tdata[0]);
        const uint32_t keep = model_->m_axis_tkeep;
        const unsigned bytes = static_cast<unsigned>(__builtin_popcount(keep));
        if (!keep || (keep & (keep + 1)) || (bytes < BEAT && !model_->m_axis_tlast)) fail("cycle %llu: tkeep", cycle());
        got_.insert(got_.end(), data, data + bytes);
        if (!model_->m_axis_tlast) return;
        if (expected_.empty()) fail("cycle %llu: a frame that nobody sent", cycle());
        const Job &j = expected_.front();
        if (got_ != j.out) {
            size_t at = 0;
            while (at < got_.size() && at < j.out.size() && got_[at] == j.out[at]) at++;
            fail("frame %zu (%s, IPv%d, protocol %d, L4 at %zu, payload at %zu, [%zu, %zu) + result %zu + %zu): byte "
                 "%zu "
                 "differs, %zu bytes, should be %zu",
                 frames,
                 j.pass   ? "pass"
                 : j.shim ? "shim"
                          : "no shim",
                 j.h.version, j.h.protocol, j.at + j.h.l4, j.at + j.h.payload, j.from, j.from + j.bytes,
                 j.result.size(), j.tail_bytes, at, got_.size(), j.out.size());
        }
        expected_.pop_front(), got_.clear(), frames++;
    }

    bench::Model<Vgn_frame_assemble> model_;
    bench::Random random_;
    bench::Maker make_;
    Store frames_{}, results_{};
    std::array<std::array<uint8_t, BEAT>, 2> frame_read_{}, result_read_{};
    unsigned frame_place_ = 0, result_place_ = 0;
    std::deque<Job> to_send_, expected_, freeing_;
    Bytes got_;
    size_t pieces_ = 0;
    bool offered_ = false;
};

}  // namespace

int main(int argc, char **argv)
{
    const bench::Options o = bench::options(argc, argv);
    bench::Random random{o.seed ^ 0xa5};
    Bench b(o);
    for (unsigned round = 0; round < 1000; round++) {
        // all of them lie in the memory at once
        for (unsigned n = 0; n < 12; n++)
            b.add(1 + random.below(round % 3 ? 1460 : 60), random.below(round % 5 ? 1500 : 40));
        if (round % 7 == 6)
            b.reset_after(round % 100);
        else
            b.run(round % 2 * random.below(80), round % 2 * random.below(80));
    }
    for (size_t bytes : {20000u, 32500u}) b.add(bytes, 100), b.run(0, 0), b.add(100, bytes), b.run(0, 0);
    printf("%zu frames\n", b.frames);
    return 0;
}
