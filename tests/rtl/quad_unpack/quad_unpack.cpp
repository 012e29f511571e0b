// SPDX-License-Identifier: Apache-2.0
// gn_quad_unpack: every class, with random planes and with each bit alone; what is above a class's
// bytes is random.
#include "Vgn_quad_unpack.h"

#include "tests/rtl/common/groups.h"

using bench::fail;

int main(int argc, char **argv)
{
    enum { DELAY = 1, BITS = 8 * GN_CLASS_BYTES_MAX };
    const bench::Options o = bench::options(argc, argv);
    bench::Model<Vgn_quad_unpack> model(o);
    bench::Random random{o.seed};
    struct Case {
        unsigned class_;
        uint8_t payload[GN_CLASS_BYTES_MAX];
    };
    std::vector<Case> cases;

    for (unsigned class_ = 0; class_ < GN_CLASS_COUNT; class_++) {
        for (unsigned n = 0; n < 5000; n++) {
            Case c{class_, {}};
            for (uint8_t &b : c.payload) b = static_cast<uint8_t>(random.next());
            if (n < BITS) {  // one bit of those that count
                memset(c.payload, 0, gn_class_bytes[class_]);
                if (n < 8u * gn_class_bytes[class_]) c.payload[n / 8] = static_cast<uint8_t>(1u << n % 8);
            }
            cases.push_back(c);
        }
    }
    for (size_t i = cases.size() - 1; i > 0; i--)
        std::swap(cases[i], cases[random.below(static_cast<uint32_t>(i + 1))]);

    for (size_t n = 0; n < cases.size() + DELAY - 1; n++) {
        const Case &in = cases[n < cases.size() ? n : 0];
        model->s_class = static_cast<unsigned char>(in.class_);
        for (uint32_t &word : model->s_payload.m_storage) word = 0;
        memcpy(&model->s_payload[0], in.payload, sizeof in.payload);
        model.rise();
        if (n < DELAY - 1) continue;
        const Case &c = cases[n - (DELAY - 1)];

        uint8_t record[GN_QUAD_MAX] = {static_cast<uint8_t>(c.class_), 0};
        memcpy(record + GN_QUAD_HEADER, c.payload, gn_class_bytes[c.class_]);
        gn_dense_quad want;
        gn_dense_get(record, want);
        if (memcmp(&model->m_words[0], want[0].word, sizeof want[0].word) != 0 || model->m_raw != want[0].raw)
            fail("case %zu, class %u: words %08x %08x .., raw %02x; the model says %08x %08x .., %02x", n, c.class_,
                 model->m_words[0], model->m_words[1], model->m_raw, want[0].word[0], want[0].word[1], want[0].raw);
    }
    printf("%zu groups\n", cases.size());
    return 0;
}
