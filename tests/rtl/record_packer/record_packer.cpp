// SPDX-License-Identifier: Apache-2.0
// gn_record_packer: records of every length at every offset of a beat, as a frame's last and
// within, with back-pressure and without.
#include <deque>
#include <set>
#include <tuple>
#include <vector>

#include "Vgn_record_packer.h"

#include "tests/rtl/common/bench.h"

#ifndef GN_RTL_RECORD_BYTES
#define GN_RTL_RECORD_BYTES 35  // as the block's parameter
#endif

using bench::fail;

int main(int argc, char **argv)
{
    enum { LONGEST = GN_RTL_RECORD_BYTES, CYCLES = 400000 };
    const bench::Options o = bench::options(argc, argv);
    bench::Model<Vgn_record_packer> model(o);
    bench::Random random{o.seed};
    std::deque<std::vector<uint8_t>> frames;  // those sent; the last one open
    std::vector<uint8_t> open, got;
    std::set<std::tuple<size_t, unsigned, bool>> seen;  // offset, length, last
    size_t done = 0;
    bool offered = false;
    unsigned stall = 0;
    uint8_t record[LONGEST];

    model->rst = 1;
    model->s_valid = 0, model->m_axis_tready = 0;
    model.rise();
    model->rst = 0;
    for (unsigned n = 0; n < CYCLES; n++) {
        if (n % 1000 == 0) stall = random.below(4) * 25;
        if (!offered && !random.percent(n / 1000 % 3 * 20)) {
            const unsigned length = random.percent(20) ? LONGEST - random.below(3) : 1 + random.below(LONGEST);
            memset(record, 0, sizeof record);
            for (unsigned i = 0; i < length; i++) record[i] = static_cast<uint8_t>(random.next());
            memcpy(&model->s_record[0], record, LONGEST);
            model->s_length = static_cast<unsigned char>(length);
            model->s_last = random.percent(15);
            offered = true;
        }
        model->s_valid = offered;
        model->m_axis_tready = !random.percent(stall);
        model.settle();
        if (model->m_axis_tvalid && model->m_axis_tready) {
            const uint32_t keep = model->m_axis_tkeep;
            const int bytes = __builtin_popcount(keep);
            if (!keep || (keep & (keep + 1)) || (bytes < 32 && !model->m_axis_tlast))
                fail("cycle %u: tkeep %08x", n, keep);
            const uint8_t *data = reinterpret_cast<const uint8_t *>(&model->m_axis_tdata[0]);
            got.insert(got.end(), data, data + bytes);
            if (model->m_axis_tlast) {
                if (frames.empty() || frames.front() != got)
                    fail("cycle %u: frame %zu of %zu bytes is not what went in", n, done, got.size());
                frames.pop_front(), got.clear(), done++;
            }
        }
        if (offered && model->s_ready) {
            seen.insert({open.size() % 32, model->s_length, static_cast<bool>(model->s_last)});
            open.insert(open.end(), record, record + model->s_length);
            if (model->s_last) frames.push_back(std::move(open)), open.clear();
            offered = false;
        }
        model.rise();
    }
    printf("%zu frames, %zu of %d cases\n", done, seen.size(), 32 * LONGEST * 2);
    if (done < 1000 || seen.size() != 32 * LONGEST * 2) fail("not every length at every offset was met");
    return 0;
}
