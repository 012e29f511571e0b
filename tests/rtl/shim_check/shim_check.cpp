// SPDX-License-Identifier: Apache-2.0
// gn_shim_check against gn_shim_write(): every bit alone, every two, and random headers.
#include <cstring>

#include <gradnic/frame.h>

#include "Vgn_shim_check.h"

#include "tests/rtl/common/bench.h"

extern "C" {
#include <gradnic/shim.h>
}

int main(int argc, char **argv)
{
    const bench::Options o = bench::options(argc, argv);
    bench::Random random{o.seed};
    bench::Model<Vgn_shim_check> model(o);
    const auto check = [&](gn_shim shim) {
        uint8_t bytes[GN_SHIM_BYTES];
        uint64_t all;
        gn_shim_write(&shim, bytes);
        memcpy(&all, bytes, sizeof all);
        model->shim = all & ((1ull << 56) - 1);
        model.settle();
        if (model->check != bytes[7])
            bench::fail("check of %014llx is %02x, should be %02x", (unsigned long long)model->shim, model->check,
                        bytes[7]);
    };
    const auto of_bits = [](uint64_t bits) {
        gn_shim shim{};
        shim.version = bits & 15, shim.kind = bits >> 4 & 15, shim.bound_exp = static_cast<int8_t>(bits >> 8);
        shim.length = static_cast<uint16_t>(bits >> 16), shim.head = static_cast<uint8_t>(bits >> 32);
        return shim;
    };
    for (int a = 0; a < 40; a++)
        for (int b = 0; b < 40; b++) check(of_bits(1ull << a | 1ull << b));
    for (int n = 0; n < 100000; n++) check(of_bits(random.next()));
    return 0;
}
