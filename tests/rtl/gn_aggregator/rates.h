// SPDX-License-Identifier: Apache-2.0
// How many cycles gn_aggregator takes for a packet.
#pragma once
#include <cmath>
#include <string>

#include "tests/rtl/gn_aggregator/bench.h"

// Chunks of one job, as fast as they go in: cycles a packet.
inline void rate(const bench::Options &o, bool dense, unsigned children, unsigned slots, unsigned values,
                 unsigned chunks)
{
    Bench b(o);
    b.noisy_ = false;
    Job &j = b.begin(children, slots, 0, dense);
    const size_t packets = static_cast<size_t>(children) * chunks, groups = (values + 7) / 8;
    for (unsigned i = 0; i < chunks; i++) b.chunk(j, i % slots, values);
    const size_t beats = (b.sent_beats + packets - 1) / packets;
    const uint64_t begin = b.stream_.cycle();
    b.stream_.run(packets);  // as many come out
    const uint64_t cycles = b.stream_.cycle() - begin;
    // A result takes 11 cycles, and five for each child, beside the beats.
    const uint64_t wanted = std::max<size_t>({beats, groups, 4, (11 + 5 * children + children - 1) / children});
    b.settle();
    printf("%s, %u children, %3u values, %u slot%s: %.2f cycles a packet, %zu beats, %.2f values a cycle\n",
           dense ? "dense" : "int32", children, values, slots, slots == 1 ? "" : "s",
           static_cast<double>(cycles) / packets, beats, static_cast<double>(values) * packets / cycles);
    // All that is longer is once: the way through, and what leaves after the last has come.
    const uint64_t most = packets * wanted + (children + 2) * wanted + 150;
    if (cycles > most)
        fail("%llu cycles, should be at most %llu", (unsigned long long)cycles, (unsigned long long)most);
}

// Chunks of one job of dense, whose values come from `next`, a packet at a time.
template <typename Next>
inline void rate_of_zeros(const bench::Options &o, const char *what, unsigned children, unsigned chunks, Next next)
{
    Bench b(o);
    b.noisy_ = false;
    Job &j = b.begin(children, 8, 0, true);
    const size_t packets = static_cast<size_t>(children) * chunks;
    size_t wanted = 0;
    for (unsigned i = 0; i < chunks; i++) {
        std::vector<std::vector<int32_t>> values;
        for (unsigned c = 0; c < children; c++) values.push_back(next(b.random_, i, c));
        wanted += b.chunk(j, i % 8, values);
    }
    const uint64_t begin = b.stream_.cycle();
    b.stream_.run(packets);  // as many come out
    const uint64_t cycles = b.stream_.cycle() - begin;
    b.settle();
    printf("%s, %u children: %.2f cycles a packet, at most %.2f are wanted\n", what, children,
           static_cast<double>(cycles) / packets, static_cast<double>(wanted) / packets);
    const uint64_t most = wanted + 250;
    if (cycles > most)
        fail("%llu cycles, should be at most %llu", (unsigned long long)cycles, (unsigned long long)most);
}

// What is known of a chunk's overflow goes from packet to packet, also without a cycle in between.
inline void overflows(const bench::Options &o)
{
    Bench b(o);
    b.noisy_ = false;
    Job &j = b.begin(4, 1, 0, true);
    for (unsigned i = 0; i < 50; i++) b.overflow_at_the_end(j);
    b.settle();
    printf("%zu packets of chunks that left int32 in the last word\n", b.poisons);
    if (b.poisons < 100) fail("some chunks have not left int32");
}

// Groups of zeros take no cycle.
inline void rates_of_zeros(const bench::Options &o)
{
    for (unsigned children : {1u, 2u, 4u, 8u})
        for (unsigned zeros : {0u, 50u, 80u, 90u, 97u, 100u}) {
            char what[40];
            snprintf(what, sizeof what, "%u %% of groups are zero", zeros);
            rate_of_zeros(o, what, children, 400 / children, [&](bench::Random &random, unsigned, unsigned) {
                return streams::integers(random, VALUES, 6, zeros);
            });
        }
    // Real gradients of four workers.
    for (const char *name : {"cnn-it100", "mlp-it1000"})
        for (int k : {8, 10, 12}) {
            std::vector<std::vector<float>> gradients;
            for (unsigned c = 0; c < 4; c++)
                gradients.push_back(bench::gradient(std::string(name) + "-w" + std::to_string(c)));
            const unsigned chunks = static_cast<unsigned>(gradients[0].size() / VALUES);
            size_t zeros = 0;
            const auto packet = [&](bench::Random &, unsigned chunk, unsigned child) {
                std::vector<int32_t> values(VALUES);
                for (unsigned i = 0; i < VALUES; i++) {
                    const double steps = ldexp(static_cast<double>(gradients[child][VALUES * chunk + i]), k - 1);
                    values[i] = static_cast<int32_t>(nearbyint(steps));
                }
                for (unsigned g = 0; g < VALUES / 8; g++) zeros += !streams::some(values, g);
                return values;
            };
            char what[40];
            snprintf(what, sizeof what, "%s, bound 2^-%d", name, k);
            rate_of_zeros(o, what, 4, chunks, packet);
            printf("  of its groups %.0f %% are zero\n", 100.0 * zeros / (4.0 * chunks * VALUES / 8));
        }
}
