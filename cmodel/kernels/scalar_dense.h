// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SCALAR_DENSE_H
#define GRADNIC_SCALAR_DENSE_H
/// Internal: profile dense in the scalar kernel, for kernels that do only whole quads, away from
/// the ends of streams. They go on where those stop.

#include "../dense.h"
#include "scalar.h"

/// Appends values, or integers, as far as they fit. @return those taken
size_t gn_scalar_dense_encode(const gn_codec *codec, const uint8_t *values, size_t count, gn_dense_writer *writer);
size_t gn_scalar_dense_encode_integers(const gn_codec *codec, const int32_t *integers, size_t count,
                                       gn_dense_writer *writer);

/// A stream that is read quad by quad, and checked on the way.
typedef struct gn_dense_reader {
    const uint8_t *in, *end;
    size_t run;  ///< quads of zeros that are still to come
} gn_dense_reader;

/// Begins gn_stream_sum(): a reader for each stream, and the writer of the result.
gn_dense_writer gn_dense_sum_begin(const gn_sum *sum, gn_dense_reader *readers);

/// One quad of the sum, of `lanes` values from `at` on. @return false when a stream is bad, or the
/// result's does not fit
bool gn_scalar_dense_sum_quad(const gn_codec *codec, const gn_sum *sum, gn_dense_reader *readers, size_t at,
                              size_t lanes, gn_dense_writer *writer);

/// Sets `*bytes`, which may be NULL. @return false when a stream has more than was read
bool gn_dense_sum_end(const gn_sum *sum, const gn_dense_reader *readers, const gn_dense_writer *writer, size_t *bytes);

#endif
