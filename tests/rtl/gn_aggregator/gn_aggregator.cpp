// SPDX-License-Identifier: Apache-2.0
// gn_aggregator against libgradnic-switch: the same packets have the same actions, one by one. Each
// result's frame is the one that the C core writes, and its checksums hold. After each packet the
// copy of its slot is as the core has it. From time to time all copies and sums are compared.
// Packets of workers that obey, late ones, early ones, foreign ones, wrong ones, of int32 and
// dense; streams that are corrupt or have what is no integer; sums that leave int32; jobs that go
// and come among others; random gaps, back-pressure and resets. And the rate, also of streams with
// groups of zeros.
#include "tests/rtl/gn_aggregator/bench.h"
#include "tests/rtl/gn_aggregator/rates.h"

// Resets as short as can be, while sums become streams, of which half end in zeros. Nothing of them
// is in the next ones.
static void resets_amid_streams(const bench::Options &o)
{
    Bench b(o);
    b.noisy_ = false;
    for (unsigned round = 0; round < 150; round++) {
        for (unsigned half = 0; half < 2; half++) {
            b.dismiss();
            Job &j = b.begin(1, 1, 0, true);
            for (unsigned i = 0; i < 12; i++) {
                std::vector<int32_t> values(VALUES, 0);
                const unsigned some = i % 2 ? VALUES : 1 + b.random_.below(VALUES / 2);
                for (unsigned v = 0; v < some; v++) values[v] = 1 + static_cast<int32_t>(b.random_.below(300));
                b.chunk(j, 0, {values});
            }
            if (!half) b.restart(40 + b.random_.below(200), 1);
        }
        b.settle();
    }
}

int main(int argc, char **argv)
{
    const bench::Options o = bench::options(argc, argv);
    {
        Bench b(o);
        for (unsigned round = 0; round < 40; round++) {
            b.admit();
            b.stream_.gaps = {round % 4 == 1 ? 40u : 0u, round % 4 == 2 ? 60u : round % 4 == 3 ? 20u : 0u};
            b.lossy_ = round % 3 == 2 ? 5 : 0;
            b.run(400, round % 5 == 0 ? 0 : 25, round % 2 ? 4 : 60);
            b.replace();
            b.run(200, round % 5 == 0 ? 0 : 25, round % 2 ? 4 : 60);
            b.restart();
        }
        const char *const names[20] = {"",     "malformed", "type",  "job",       "gen",      "port",    "level",
                                       "slot", "stale",     "early", "duplicate", "format",   "stream",  "unexpected",
                                       "",     "",          "added", "whole",     "repeated", "software"};
        for (unsigned i = 1; i < 20; i++)
            if (*names[i]) {
                printf("%s %zu, ", names[i], b.verdicts[i]);
                if (!b.verdicts[i] && i != GN_DROP_UNEXPECTED) fail("nothing was %s", names[i]);
            }
        printf("%zu poisoned, %zu frames out, %zu frames not UDP\n", b.poisons, b.frames_out, b.frames_other);
        if (!b.poisons || !b.frames_other) fail("something was not tried");
    }
    overflows(o);
    resets_amid_streams(o);
    // Back to back to one slot, and to many. With a store of few beats, frames wait for each other.
    if (GN_RTL_SLOTS_LOG2 != 6) return 0;
    for (unsigned children : {1u, 2u, 8u})
        for (unsigned values : {unsigned(VALUES), 64u, 24u, 8u, 0u})
            for (unsigned slots : {1u, 8u})
                for (bool dense : {false, true}) rate(o, dense, children, slots, values, 400 / children);
    rates_of_zeros(o);
    return 0;
}
