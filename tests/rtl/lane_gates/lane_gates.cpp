// SPDX-License-Identifier: Apache-2.0
// The gates that Yosys makes of a lane against the C model, 256 lanes at a time: each wire is a
// word with a bit a lane. So this is many times faster than the Verilated lanes of `lanes`, and
// another tool's reading of the same source. By default 2^23 inputs of every sign and exponent;
// with --all every binary32.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "lane_gates.h"

#include "tests/rtl/common/bench.h"
#include "tests/rtl/common/lane_cases.h"

extern "C" {
#include "cmodel/profile.h"
#include "cmodel/record.h"
}

using bench::fail;
using Case = bench::LaneCase;

namespace
{

enum {
    LANES = 256,         // inputs that differ in their lowest bits only
    PIECE = 64 * LANES,  // inputs that the model does at once
    SHOWN = 8            // of wrong results, how many are printed
};

typedef uint32_t Word __attribute__((vector_size(LANES / 8)));

Word all_of(bool bit)
{
    return Word{} - static_cast<uint32_t>(bit);
}

// 32 words with bit b of all lanes, to words with lane r of each element's 32.
void transpose(Word *w)
{
    uint32_t mask = 0x0000ffff;
    for (unsigned step = 16; step; step >>= 1, mask ^= mask << step) {
        for (unsigned k = 0; k < 32; k = ((k | step) + 1) & ~step) {
            const Word swap = ((w[k] >> step) ^ w[k + step]) & mask;
            w[k] ^= swap << step, w[k + step] ^= swap;
        }
    }
}

class Runner
{
  public:
    explicit Runner(const Case &c)
        : case_(c), codec_(bench::lane_codec(c)), values_(PIECE), back_(PIECE),
          stream_(gn_stream_bound(codec_.profile, PIECE) + 4)
    {
        for (unsigned i = 0; i < 2; i++) profile_[i] = all_of(c.profile >> i & 1);
        for (unsigned i = 0; i < 8; i++) bound_exp_[i] = all_of(c.k >> i & 1);
        for (unsigned i = 0; i < 256; i++)
            for (unsigned b = 0; b < 8; b++) spread_[i] = static_cast<uint16_t>(spread_[i] | (i >> b & 1) << 2 * b);
        for (unsigned i = 0; i < LANES; i++)
            for (unsigned b = 0; b < 8; b++) value_[b][i / 32] |= (i >> b & 1) << i % 32;
    }

    // PIECE inputs: `stride` apart in blocks of LANES
    void piece(uint32_t first, uint32_t stride)
    {
        for (unsigned i = 0; i < PIECE; i++) values_[i] = first + i / LANES * stride + i % LANES;
        size_t bytes;
        if (gn_stream_encode(&codec_, values_.data(), PIECE, stream_.data(), stream_.size(), &bytes) ||
            gn_stream_decode(&codec_, stream_.data(), bytes, back_.data(), PIECE, nullptr))
            fail("the model does not encode");
        const uint8_t *at = stream_.data();
        for (unsigned n = 0; n < PIECE; n += LANES) block(n, at);
    }

  private:
    void block(unsigned n, const uint8_t *&at)
    {
        for (unsigned b = 8; b < 32; b++) value_[b] = all_of(values_[n] >> b & 1);
        lane_gates(profile_, bound_exp_, value_, tag_, payload_, got_back_);
        transpose(payload_);
        transpose(got_back_);
        uint8_t tags[2][LANES / 8];
        memcpy(tags, tag_, sizeof tags);
        uint32_t differ = 0;
        for (unsigned g = 0; g < LANES / GN_GROUP; g++) {
            const unsigned want_tags = at[0] | at[1] << 8;
            differ |= want_tags ^ (spread_[tags[0][g]] | spread_[tags[1][g]] << 1);
            at += GN_TAG_WORD;
            for (unsigned i = 0; i < GN_GROUP; i++) {
                const unsigned lane = n + GN_GROUP * g + i, tag = gn_lane_tag(want_tags, i);
                uint32_t want;
                memcpy(&want, at, 4);
                at += gn_payload_bytes(tag);
                differ |= bench::lane_payload(case_.profile, tag, want) ^ payload_[lane % 32][lane / 32 % 8];
                differ |= back_[lane] ^ got_back_[lane % 32][lane / 32 % 8];
            }
        }
        if (differ) report(n);
    }

    // The first that differ, of LANES in which some do.
    [[noreturn]] void report(unsigned n)
    {
        unsigned differ = 0;
        for (unsigned i = 0; i < LANES; i++) {
            const gn_code want = gn_lane_encode(&codec_, values_[n + i]);
            const unsigned tag = (tag_[0][i / 32] >> i % 32 & 1) | (tag_[1][i / 32] >> i % 32 & 1) << 1;
            const uint32_t payload = payload_[i % 32][i / 32], back = got_back_[i % 32][i / 32];
            if (tag == want.tag && payload == bench::lane_payload(case_.profile, tag, want.payload) &&
                back == back_[n + i])
                continue;
            if (differ++ < SHOWN)
                fprintf(stderr, "input %08x: tag %u payload %08x back %08x, the model says %u %08x %08x\n",
                        values_[n + i], tag, payload, back, want.tag, want.payload, back_[n + i]);
        }
        fail("gn_lane_compress or gn_lane_decompress, profile %s, k = %d: %u of %u inputs from %08x on differ",
             gn_profile_name(case_.profile), case_.k, differ, LANES, values_[n]);
    }

    Case case_;
    gn_codec codec_;
    std::vector<uint32_t> values_, back_;
    std::vector<uint8_t> stream_;  // with 4 bytes more: payloads are read in fours
    uint16_t spread_[256] = {};    // a byte's bits to the even places of 16
    Word profile_[2], bound_exp_[8], value_[32] = {}, tag_[2], payload_[32], got_back_[32];
};

}  // namespace

int main(int argc, char **argv)
{
    const bench::Options o = bench::options(argc, argv, true);
    const uint64_t inputs = o.all ? 1ull << 32 : 1ull << 23;
    // else a block of each 2^17, and not always the same
    const uint32_t stride = o.all ? LANES : (1u << 17) + LANES;
    for (const Case &c : bench::lane_cases(o.all)) {
        const auto start = std::chrono::steady_clock::now();
        std::atomic<uint64_t> next{0}, done{0};
        std::vector<std::thread> threads;
        for (unsigned t = 0; t < o.threads; t++)
            threads.emplace_back([&] {
                Runner runner(c);
                for (uint64_t p; (p = next++) < inputs / PIECE; done++)
                    runner.piece(static_cast<uint32_t>(p) * (PIECE / LANES) * stride, stride);
            });
        for (auto &thread : threads) thread.join();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        printf("%-7s k = %3d: %llu inputs equal, %.1f s\n", gn_profile_name(c.profile), c.k,
               static_cast<unsigned long long>(done * PIECE), took.count());
        fflush(stdout);
    }
    return 0;
}
