// SPDX-License-Identifier: Apache-2.0
// The lanes against the C model, eight at a time. By default every sign and exponent with 2^14
// mantissas, the reference kernel beside it; with --all every binary32, beside the fastest kernel
// (which exhaustive_codec proves equal to the reference). Then every code of 8 and 16 bits, those
// that no encoder makes included, and for dense random int32.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "Vlanes.h"

#include "tests/rtl/common/bench.h"
#include "tests/rtl/common/lane_cases.h"

extern "C" {
#include "cmodel/profile.h"
#include "cmodel/record.h"
}

using bench::fail;

namespace
{

enum { GROUP = GN_GROUP, BLOCK = 1 << 14, CODE_DELAY = 3, VALUE_DELAY = 6, DECODE_DELAY = 4 };

using Case = bench::LaneCase;

// ---- inputs

uint64_t input_count(bool all)
{
    return all ? 1ull << 32 : 1ull << 23;
}

// All mantissas with one or two bits: wherever the guard bit is, a single bit below it breaks the
// tie.
std::vector<uint32_t> few_bits()
{
    std::vector<uint32_t> found;
    for (unsigned i = 0; i < 23; i++)
        for (unsigned j = i; j < 23; j++) found.push_back(1u << i | 1u << j);
    return found;
}

uint32_t input(bool all, uint64_t index)
{
    static const std::vector<uint32_t> few = few_bits();
    if (all) return static_cast<uint32_t>(index);
    // else sign, exponent and the upper 5 and lower 9 bits of the mantissa, between them zeros,
    // ones or anything: ties and their neighbours are among them, and both sides of where a value
    // is carried into the next exponent
    const uint32_t i = static_cast<uint32_t>(index), mantissa = i & 0x3fff;
    if (mantissa && mantissa <= few.size()) return (i >> 14) << 23 | few[mantissa - 1];
    const uint32_t low = mantissa & 0x1ff, any = mantissa * 0x9e3779b1u >> 20;
    const uint32_t between = 0x1ff & (mantissa & 8 ? mantissa & 16 ? any : ~0u : 0);
    return (i >> 14) << 23 | (mantissa >> 9) << 18 | between << 9 | low;
}

// ---- what a lane must give

// The record of a group, from what its lanes gave.
size_t record_of(unsigned tags, const uint32_t *payloads, uint8_t *record)
{
    record[0] = static_cast<uint8_t>(tags), record[1] = static_cast<uint8_t>(tags >> 8);
    uint8_t *out = record + GN_TAG_WORD;
    for (unsigned i = 0; i < GROUP; i++) {
        memcpy(out, payloads + i, 4);
        out += gn_payload_bytes(gn_lane_tag(tags, i));
    }
    return static_cast<size_t>(out - record);
}

bool upper_bits_right(gn_profile profile, unsigned tags, const uint32_t *payloads)
{
    for (unsigned i = 0; i < GROUP; i++)
        if (bench::lane_payload(profile, gn_lane_tag(tags, i), payloads[i]) != payloads[i]) return false;
    return true;
}

void report(const Case &c, const uint32_t *values, unsigned tags, const uint32_t *payloads)
{
    const gn_codec one = bench::lane_codec(c, "scalar");
    for (unsigned i = 0; i < GROUP; i++) {
        const gn_code want = gn_lane_encode(&one, values[i]);
        fprintf(stderr, "lane %u: input %08x: tag %u payload %08x, the model says tag %u payload %08x%s\n", i,
                values[i], gn_lane_tag(tags, i), payloads[i], want.tag, want.payload,
                gn_lane_tag(tags, i) == want.tag && (payloads[i] & (want.tag == 1   ? 0xff
                                                                    : want.tag == 2 ? 0xffff
                                                                                    : ~0u)) == want.payload
                    ? ""
                    : "  <--");
    }
    fail("gn_lane_compress, profile %s, k = %d", gn_profile_name(c.profile), c.k);
}

// ---- one thread's share of the inputs

struct Piece {
    std::vector<uint32_t> values, back;
    std::vector<uint8_t> stream;
};

class Runner
{
  public:
    Runner(const Case &c, const bench::Options &o)
        : case_(c), all_(o.all), model_(o), codec_(bench::lane_codec(c, o.all ? "auto" : "scalar"))
    {
        model_->profile = static_cast<unsigned char>(c.profile);
        model_->bound_exp = static_cast<unsigned char>(c.k);
        model_->from_codes = 0;
    }

    // BLOCK groups through both directions
    void block(uint64_t first)
    {
        fill(first);
        const uint8_t *at = piece_.stream.data();
        for (unsigned n = 0; n < BLOCK + VALUE_DELAY; n++) {
            if (n < BLOCK) memcpy(&model_->values[0], &piece_.values[GROUP * n], 32);
            model_.rise();
            const unsigned done = n + 1;
            if (done >= CODE_DELAY && done - CODE_DELAY < BLOCK) check_codes(done - CODE_DELAY, at);
            if (done >= VALUE_DELAY && done - VALUE_DELAY < BLOCK) check_values(done - VALUE_DELAY);
        }
    }

  private:
    void fill(uint64_t first)
    {
        const size_t count = static_cast<size_t>(BLOCK) * GROUP;
        piece_.values.resize(count), piece_.back.resize(count);
        // records are compared 4 bytes at a time
        piece_.stream.resize(gn_stream_bound(codec_.profile, count) + 4);
        for (size_t i = 0; i < count; i++) piece_.values[i] = input(all_, first * count + i);
        size_t bytes;
        if (gn_stream_encode(&codec_, piece_.values.data(), count, piece_.stream.data(), piece_.stream.size(),
                             &bytes) ||
            gn_stream_decode(&codec_, piece_.stream.data(), bytes, piece_.back.data(), count, nullptr))
            fail("the model does not encode");
    }

    void check_codes(unsigned n, const uint8_t *&at)
    {
        uint8_t record[GN_RECORD_MAX + 4];
        uint32_t payloads[GROUP];
        memcpy(payloads, &model_->payloads[0], sizeof payloads);
        const unsigned tags = model_->tags;
        const size_t length = record_of(tags, payloads, record);
        if (memcmp(record, at, length) != 0 || !upper_bits_right(case_.profile, tags, payloads))
            report(case_, &piece_.values[GROUP * n], tags, payloads);
        at += length;
    }

    void check_values(unsigned n)
    {
        const uint32_t *got = &model_->back[0], *want = &piece_.back[GROUP * n], *from = &piece_.values[GROUP * n];
        if (memcmp(got, want, 32) == 0) return;
        for (unsigned i = 0; i < GROUP; i++)
            if (got[i] != want[i])
                fail("gn_lane_decompress, profile %s, k = %d, lane %u: input %08x comes back as %08x, the model says "
                     "%08x",
                     gn_profile_name(case_.profile), case_.k, i, from[i], got[i], want[i]);
    }

    Case case_;
    bool all_;
    bench::Model<Vlanes> model_;
    gn_codec codec_;
    Piece piece_;
};

// Returns how many inputs went through.
uint64_t run_inputs(const Case &c, const bench::Options &o)
{
    const uint64_t blocks = input_count(o.all) / (BLOCK * GROUP);
    std::atomic<uint64_t> next{0}, done{0};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < o.threads; t++)
        threads.emplace_back([&] {
            Runner runner(c, o);
            for (uint64_t b; (b = next++) < blocks; done++) runner.block(b);
        });
    for (auto &thread : threads) thread.join();
    return done * BLOCK * GROUP;
}

// ---- decoding alone

uint32_t integer_of(bench::Random &random, unsigned index)
{
    const uint32_t bits = static_cast<uint32_t>(random.next()), power = 1u << index % 32;
    switch (index / 32 % 4) {
    case 0:
        return bits >> bits % 32;
    case 1:
        return 0 - (bits >> bits % 32);
    case 2:
        return power + (bits % 5) - 2;  // powers of two and their neighbours
    default:
        return (bits << 1 | 1) << (index % 9) >> (bits % 2);  // ties of sums above 2^24
    }
}

void run_codes(const Case &c, const bench::Options &o)
{
    bench::Model<Vlanes> model(o);
    bench::Random random{o.seed};
    const gn_codec codec = bench::codec(c.profile, c.k);
    const unsigned codes = c.profile == GN_DENSE ? 1 << 20 : 256 + 65536;
    std::vector<uint32_t> sent, want;
    model->profile = static_cast<unsigned char>(c.profile);
    model->bound_exp = static_cast<unsigned char>(c.k);
    model->from_codes = 1;
    for (unsigned n = 0; n < codes / GROUP + DECODE_DELAY; n++) {
        unsigned tags = 0;
        for (unsigned i = 0; i < GROUP; i++) {
            const unsigned index = n * GROUP + i;
            gn_code code = {index < 256 ? 1u : 2u, index < 256 ? index : index - 256 & 0xffff};
            if (c.profile == GN_DENSE) code = {2, integer_of(random, index)};
            // what is above the tag's bits does not matter
            const uint32_t kept = c.profile == GN_DENSE ? ~0u : code.tag == 1 ? 0xff : 0xffff;
            model->code_payloads[i] = code.payload | (static_cast<uint32_t>(random.next()) & ~kept);
            tags |= code.tag << 2 * i;
            sent.push_back(code.payload);
            want.push_back(c.profile == GN_DENSE ? gn_lattice_value(c.k, static_cast<int32_t>(code.payload))
                                                 : gn_lane_decode(&codec, code));
        }
        model->code_tags = static_cast<unsigned short>(tags);
        model.rise();
        for (unsigned i = 0; n + 1 >= DECODE_DELAY && i < GROUP; i++) {
            const size_t at = (n + 1 - DECODE_DELAY) * GROUP + i;
            if (model->back[i] != want[at])
                fail("gn_lane_decompress, profile %s, k = %d: code %08x (number %zu) gives %08x, the model says %08x",
                     gn_profile_name(c.profile), c.k, sent[at], at, model->back[i], want[at]);
        }
    }
}

}  // namespace

int main(int argc, char **argv)
{
    bench::Options o = bench::options(argc, argv, true);
    if (!o.waves.empty()) o.threads = 1;
    for (const Case &c : bench::lane_cases(o.all)) {
        // of the other bounds, lane_gates has all inputs in a quarter of the time
        if (o.all && c.k != 10) continue;
        const auto start = std::chrono::steady_clock::now();
        run_codes(c, o);
        const uint64_t inputs = run_inputs(c, o);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        printf("%-7s k = %3d: %llu inputs equal, %.1f s\n", gn_profile_name(c.profile), c.k,
               static_cast<unsigned long long>(inputs), took.count());
        fflush(stdout);
    }
    return 0;
}
