// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SUM_H
#define GRADNIC_SUM_H
/// @file sum.h
/// One pass over a rank's own values and the streams of others: quantise, decode, add, encode.
///
/// An allreduce that compresses does these at each hop. Done one after the other they pass through
/// memory three to five times. Here they pass once, and the streams are checked on the way.
///
///     gn_sum sum = {.own = gradient, .count = n, .streams = &from_peer, .stream_count = 1,
///                   .sums = gradient, .stream = next, .capacity = room};
///     gn_status status = gn_stream_sum(&codec, &sum, &bytes, NULL);
///
/// Thread-safe: nothing is kept between calls.

#include <stdbool.h>

#include <gradnic/codec.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A stream of dense to read. Its bytes may come from anywhere.
typedef struct gn_stream_view {
    const void *bytes;  ///< the stream
    size_t length;      ///< its bytes
} gn_stream_view;

/// What to add, and where results go. Members that are not set are not used. Arrays are the
/// caller's.
typedef struct gn_sum {
    const float *own;               ///< the rank's own `count` values; NULL: only streams
    size_t count;                   ///< values of each array and stream
    const gn_stream_view *streams;  ///< added to the own values, in this order
    unsigned stream_count;          ///< at most GN_SUM_STREAMS
    float *sums;                    ///< the results as values; may be `own`
    float *residual;                ///< own[i] - quantised own[i], as by gn_quantise(); may be `own`, not `sums`
    void *stream;                   ///< the results as a stream
    size_t capacity;                ///< bytes of `stream`; gn_stream_bound() always suffices
    bool far;                       ///< nobody reads `sums` soon: they need not take space in the cache
} gn_sum;

enum { GN_SUM_STREAMS = 64 };

/// Where a stream is wrong.
typedef struct gn_sum_fault {
    unsigned stream;  ///< its index
    size_t offset;    ///< of the record or run at fault
} gn_sum_fault;

/// Gives the same bits as gn_quantise() of the own values, gn_stream_add() of each stream in turn,
/// and gn_stream_encode() of the results. `sums` are what a reader of the result's stream decodes.
/// `*bytes` (may be NULL without `stream`) is the length of that stream. On failure results are
/// unspecified, and `*fault` (may be NULL) says where a stream is wrong.
/// @return GN_OK; GN_TRUNCATED or GN_CORRUPT as gn_stream_decode(); GN_NO_SPACE when the result's
/// stream does not fit; GN_INVALID without own values and streams, or with too many streams;
/// GN_UNSUPPORTED for other profiles than dense.
GN_API gn_status gn_stream_sum(const gn_codec *codec, const gn_sum *sum, size_t *bytes, gn_sum_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
