// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_BENCH_SWITCH_H
#define GRADNIC_TOOLS_BENCH_SWITCH_H
/// Parts of `gradnic bench switch`. switch.c has the options, the cases and the output.
/// switch_load.c makes the workers' datagrams. switch_run.c measures the core. switch_plain.c is
/// a plain addition to compare with.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/aggregate.h>

#include "net/error.h"
#include "stopwatch.h"

enum { GN_BENCH_LINE = 64 };  ///< alignment of datagrams, sums and results

/// Memory for `bytes`, aligned to GN_BENCH_LINE. The caller frees it.
void *gn_bench_lines(size_t bytes);

/// A worker's packet, as a socket would give it.
typedef struct gn_bench_datagram {
    size_t at;  ///< in gn_bench_load.bytes
    uint32_t chunk;
    uint16_t bytes, worker;
} gn_bench_datagram;

/// All packets that the workers send for one vector, in the order in which they arrive.
typedef struct gn_bench_load {
    gn_agg_format format;
    int bound_exp;
    unsigned workers, slots;
    uint16_t values;           ///< of a packet
    bool prefetch;             ///< prefetch a datagram before the core gets it
    size_t chunks;             ///< of a vector, which has chunks * values values
    const float *const *data;  ///< of each worker; borrowed
    uint8_t *bytes;
    gn_bench_datagram *datagrams;  ///< workers * chunks
    size_t count, datagram_bytes;  ///< number of datagrams; bytes of all of them
    size_t used;                   ///< of `bytes`, with the gaps between datagrams
} gn_bench_load;

/// Writes all datagrams. The caller sets the members from `format` to `data`, and calls
/// gn_bench_load_free() in any case.
gn_status gn_bench_load_make(gn_bench_load *load, gn_error *error);
void gn_bench_load_free(gn_bench_load *load);

/// Checks that `datagram` is the RESULT of `chunk` with the sums of all workers' values.
gn_status gn_bench_load_check(const gn_bench_load *load, size_t chunk, const uint8_t *datagram, size_t bytes,
                              gn_error *error);

/// The plain addition: `sums[i] += words[i]`, `count` times, modulo 2^32. `words` may have any
/// alignment.
void gn_bench_plain_add(int32_t *sums, const uint8_t *words, size_t count);

/// Results for one vector of all workers: medians of CPU time, and medians of each round's
/// ratios.
typedef struct gn_bench_switch_result {
    gn_span plain;                  ///< gn_bench_plain_add() of all payloads, uncompressed
    gn_span add;                    ///< gn_switch_rx() of every datagram
    gn_span whole;                  ///< ... and gn_action_write() of every result
    double add_share, whole_share;  ///< plain over add, plain over whole
    size_t result_bytes;            ///< of all results together
    const char *kernel;
} gn_bench_switch_result;

/// Checks every result, then measures all parts in turn, `rounds` times. `kernel` is the codec's;
/// "auto" is the fastest.
gn_status gn_bench_switch_run(const gn_bench_load *load, const char *kernel, unsigned rounds,
                              gn_bench_switch_result *result, gn_error *error);

#endif
