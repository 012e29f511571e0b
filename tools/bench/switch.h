// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_BENCH_SWITCH_H
#define GRADNIC_TOOLS_BENCH_SWITCH_H
/// What `gradnic bench switch` is made of: datagrams of workers (bench_switch_load.c), their way through the core and its timing
/// (bench_switch_run.c), an addition to compare with (bench_switch_plain.c), options and output (bench_switch.c).

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/aggregate.h>

#include "net/error.h"
#include "stopwatch.h"

enum { GN_BENCH_LINE = 64 };  ///< what datagrams, sums and results are aligned to, for the plain addition and the core

/// Memory for `bytes`, for free().
void *gn_bench_lines(size_t bytes);

/// A worker's packet, as it would come from a socket.
typedef struct gn_bench_datagram {
    size_t at;  ///< in gn_bench_load.bytes
    uint32_t chunk;
    uint16_t bytes, worker;
} gn_bench_datagram;

/// All packets that workers send for one vector, in the order in which they come in.
typedef struct gn_bench_load {
    gn_agg_format format;
    int bound_exp;
    unsigned workers, slots;
    uint16_t values;           ///< of a packet
    bool prefetch;             ///< datagrams are asked for before the core is given them
    size_t chunks;             ///< of a worker's vector, which has chunks * values values
    const float *const *data;  ///< of each worker; borrowed
    uint8_t *bytes;
    gn_bench_datagram *datagrams;  ///< workers * chunks
    size_t count, datagram_bytes;  ///< of datagrams; of all of them together
    size_t used;                   ///< of `bytes`, with what is between datagrams
} gn_bench_load;

/// Writes all datagrams. The caller fills in format to data, and frees with gn_bench_load_free() whatever comes of it.
gn_status gn_bench_load_make(gn_bench_load *load, gn_error *error);
void gn_bench_load_free(gn_bench_load *load);

/// Whether `datagram` is the RESULT of `chunk` with the sums of all workers' values. The message says what is wrong.
gn_status gn_bench_load_check(const gn_bench_load *load, size_t chunk, const uint8_t *datagram, size_t bytes,
                              gn_error *error);

/// `sums[i] += words[i]`, `count` times, wrapped: the plain addition. `words`: any alignment.
void gn_bench_plain_add(int32_t *sums, const uint8_t *words, size_t count);

/// Of one vector of all workers: medians of CPU time, and medians of the rounds' own ratios.
typedef struct gn_bench_switch_result {
    gn_span
        plain;  ///< gn_bench_plain_add() of the payloads (compressed: of the values before that), to sums in the same places
    gn_span add;                    ///< gn_switch_rx() of every datagram
    gn_span whole;                  ///< that, and gn_action_write() of every result
    double add_share, whole_share;  ///< plain over add, plain over whole
    size_t result_bytes;            ///< of all results together
    const char *kernel;
} gn_bench_switch_result;

/// Measures, in turns, `rounds` times; checks every result first. `kernel`: of the codec, "auto" for the fastest.
gn_status gn_bench_switch_run(const gn_bench_load *load, const char *kernel, unsigned rounds,
                              gn_bench_switch_result *result, gn_error *error);

#endif
