// SPDX-License-Identifier: Apache-2.0
// gn_value_feed, and in it gn_group_window: streams of profile dense as gn_stream_get_integers()
// has them. Groups come with their numbers, in order, and what does not come is zero; of streams
// from the encoder no group of zeros comes. The verdict on each stream is the model's. Streams with
// zeros in any number, such as an encoder would not make, damaged ones, and bytes at random.
// Between them packets that come as they are or are dropped. A stream's groups are taken only when
// it has been judged, as behind it in the aggregator: so nothing may wait for ever.
#include "Vgn_value_feed.h"

#include "tests/rtl/common/values.h"
#include "tests/rtl/gn_aggregator/streams.h"

using bench::fail;

namespace
{

#ifndef GN_RTL_BEATS_LOG2
#define GN_RTL_BEATS_LOG2 5
#endif
enum { VALUES = 8 << GN_RTL_BEATS_LOG2, PLAIN = 0, DENSE = 1, DROP = 2 };

struct Packet {
    unsigned way, count;
    std::vector<uint8_t> bytes;
    std::vector<int32_t> values;  // as the model has them, whole groups
    bool bad, raw, encoded;
};

std::vector<uint8_t> encode(const std::vector<int32_t> &values)
{
    gn_codec codec;
    std::vector<uint8_t> bytes(gn_stream_bound(GN_DENSE, values.size()));
    size_t length;
    if (gn_codec_init(&codec, GN_DENSE, 10) ||
        gn_stream_encode_integers(&codec, values.data(), values.size(), bytes.data(), bytes.size(), &length))
        fail("no stream");
    bytes.resize(length);
    return bytes;
}

// A bit, bytes that are 0, an end too soon or too late.
void damage(bench::Random &random, std::vector<uint8_t> &bytes)
{
    const unsigned size = static_cast<unsigned>(bytes.size());
    switch (random.below(4)) {
    case 0:
        bytes[random.below(size)] ^= static_cast<uint8_t>(1 << random.below(8));
        break;
    case 1:
        for (unsigned i = random.below(size), n = random.below(40); n && i < size; i++, n--) bytes[i] = 0;
        break;
    case 2:
        bytes.resize(1 + random.below(size));
        break;
    case 3:
        for (unsigned n = 1 + random.below(random.percent(50) ? 3 : 1000); n; n--)
            bytes.push_back(random.percent(80) ? 0 : static_cast<uint8_t>(random.next()));
        break;
    }
}

Packet packet(bench::Random &random)
{
    static const unsigned zeros[8] = {0, 20, 50, 80, 90, 97, 99, 100};
    Packet p = {};
    p.way = random.percent(80) ? DENSE : random.percent(50) ? PLAIN : DROP;
    p.count = random.percent(30) ? VALUES : 1 + random.below(VALUES);
    if (random.percent(20)) p.count = 1 + random.below(40);
    p.count = std::min<unsigned>(p.count, VALUES);
    if (p.way != DENSE) {
        p.bytes.resize(1 + random.below(4 * VALUES));
        for (uint8_t &b : p.bytes) b = static_cast<uint8_t>(random.next());
        return p;
    }
    const std::vector<int32_t> values =
        streams::integers(random, p.count, random.percent(70) ? 6 : 31, zeros[random.below(8)]);
    p.encoded = random.percent(50);
    p.bytes = p.encoded ? encode(values) : streams::loose(random, values);
    if (random.percent(25)) p.encoded = false, damage(random, p.bytes);
    if (random.percent(5)) {  // whatever: headers, runs, and what looks so
        p.encoded = false;
        p.bytes.resize(1 + random.below(2000));
        const unsigned most = 1 + random.below(random.percent(50) ? 4 : 256), none = random.below(100);
        for (uint8_t &b : p.bytes) b = random.percent(none) ? 0 : static_cast<uint8_t>(random.below(most));
    }
    gn_codec codec;
    unsigned flags = 0;
    p.values.resize((p.count + 7) / 8 * 8);
    if (gn_codec_init(&codec, GN_DENSE, 10)) fail("no codec");
    p.bad = gn_stream_get_integers(&codec, p.bytes.data(), p.bytes.size(), p.values.data(), p.count, &flags, nullptr);
    p.raw = flags & GN_SUM_RAW;
    return p;
}

class Check
{
  public:
    explicit Check(const bench::Options &o) : random_{o.seed ^ 0xfeed}, model_(o) { reset(3); }

    void reset(unsigned cycles)
    {
        model_->rst = 1, model_->s_valid = model_->s_begin = model_->m_ready = model_->verdict_ready = 0;
        for (unsigned i = 0; i < cycles; i++) model_.settle(), model_.rise();
        model_->rst = 0;
    }

    // Until all have come out, or for so many cycles.
    void run(const std::vector<Packet> &packets, unsigned gaps, unsigned stalls, unsigned cycles = UINT_MAX)
    {
        size_t in = 0, judged = 0, out = 0, at = 0;  // packets; bytes of the one that goes in
        bool begun = false;
        int last = -1;  // number of the last beat of values
        std::vector<int32_t> got;
        for (unsigned idle = 0; in < packets.size() || judged < packets.size() || out < packets.size(); idle++) {
            if (!cycles--) return;
            if (idle > 20000)
                fail("cycle %llu: nothing moves, %zu packets are in, %zu judged, %zu out",
                     static_cast<unsigned long long>(model_.cycle()), in, judged, out);
            while (judged < packets.size() && packets[judged].way != DENSE && judged < in) judged++;
            while (out < in && packets[out].way == DROP) out++;
            // a beat, or ahead of the first one its packet's way
            const bool pause = in == packets.size() || random_.percent(gaps);
            model_->s_begin = !pause && !begun;
            model_->s_valid = !pause && begun;
            if (!pause) feed(packets[in], at);
            model_->verdict_ready = !random_.percent(stalls);
            model_->m_ready = out < judged && !random_.percent(stalls);
            model_.settle();
            const bool taken = model_->s_valid && model_->s_ready;
            if (model_->s_begin) begun = true;
            if (model_->verdict_valid && model_->verdict_ready) {
                if (judged == packets.size()) fail("a verdict on nothing");
                const Packet &p = packets[judged++];
                if (model_->verdict_bad != p.bad || (!p.bad && model_->verdict_raw != p.raw))
                    fail("stream %zu of %u values, %zu bytes: bad %u, raw %u, should be %u, %u", judged - 1, p.count,
                         p.bytes.size(), model_->verdict_bad, model_->verdict_raw, p.bad, p.raw);
                idle = 0;
            }
            if (model_->m_valid && model_->m_ready) {
                beat(packets[out], out, last, got);
                last = model_->m_last ? -1 : model_->m_number;
                out += model_->m_last;
                idle = 0;
            }
            model_.rise();
            if (taken) {
                at += 32, idle = 0;
                if (at >= packets[in].bytes.size()) in++, at = 0, begun = false;
            }
        }
    }

    bench::Random random_;
    size_t groups = 0, bad = 0, raw = 0;

  private:
    void feed(const Packet &p, size_t at)
    {
        const size_t bytes = std::min<size_t>(32, p.bytes.size() - at);
        uint8_t data[32];
        for (uint8_t &b : data) b = static_cast<uint8_t>(random_.next());
        memcpy(data, p.bytes.data() + at, bytes);
        memcpy(&model_->s_data[0], data, 32);
        model_->s_keep = bytes == 32 ? ~0u : (1u << bytes) - 1;
        model_->s_last = at + bytes == p.bytes.size();
        model_->s_way = static_cast<unsigned char>(p.way);
        model_->s_count = static_cast<unsigned short>(p.count);
    }
    // What comes of a packet.
    void beat(const Packet &p, size_t n, int last, std::vector<int32_t> &got)
    {
        if (last < 0) got.assign(p.values.size(), 0);
        if (p.way == PLAIN) {
            const size_t beats = (p.bytes.size() + 31) / 32, number = static_cast<size_t>(last + 1);
            if (model_->m_none || model_->m_number != number % (VALUES / 8) ||
                (number + 1 == beats) != model_->m_last ||
                memcmp(&model_->m_data[0], &p.bytes[32 * number], std::min<size_t>(32, p.bytes.size() - 32 * number)))
                fail("packet %zu: beat %zu of %zu has number %u, last %u, or other data", n, number, beats,
                     model_->m_number, model_->m_last);
            return;
        }
        if (model_->m_none) {
            if (!model_->m_last) fail("stream %zu: no group, and no end", n);
        } else {
            if (static_cast<int>(model_->m_number) <= last)
                fail("stream %zu: group %u behind %d", n, model_->m_number, last);
            if (8u * model_->m_number >= p.values.size())
                fail("stream %zu: group %u of %zu", n, model_->m_number, p.values.size() / 8);
            memcpy(&got[8 * model_->m_number], &model_->m_data[0], 32);
            if (p.encoded && !streams::some(got, model_->m_number))
                fail("stream %zu: group %u is zero", n, model_->m_number);
            groups++;
        }
        if (!model_->m_last) return;
        bad += p.bad, raw += p.raw && !p.bad;
        for (size_t i = 0; !p.bad && !p.raw && i < got.size(); i++)
            if (got[i] != p.values[i])
                fail("stream %zu: value %zu is %08x, should be %08x", n, i, static_cast<unsigned>(got[i]),
                     static_cast<unsigned>(p.values[i]));
    }

    bench::Model<Vgn_value_feed> model_;
};

std::vector<Packet> some(bench::Random &random, unsigned count)
{
    std::vector<Packet> packets;
    while (count--) packets.push_back(packet(random));
    return packets;
}

}  // namespace

int main(int argc, char **argv)
{
    const bench::Options o = bench::options(argc, argv);
    Check check(o);
    // A reset anywhere in a stream, of which a part may have been wrong. Then all is as new.
    for (unsigned i = 0; i < 3000; i++) {
        check.run(some(check.random_, 8), 0, i % 3 ? 0 : 30, check.random_.below(150));
        check.reset(1 + check.random_.below(3));
        check.run(some(check.random_, 2), 0, 0);
    }
    for (unsigned round = 0; round < 12; round++) {
        check.run(some(check.random_, 1500), round % 3 == 1 ? 40 : 0, round % 3 == 2 ? 60 : round % 3 == 1 ? 10 : 0);
    }
    printf("%zu groups, %zu streams are bad, %zu have raw values\n", check.groups, check.bad, check.raw);
    if (!check.bad || !check.raw) fail("something was not tried");
    return 0;
}
