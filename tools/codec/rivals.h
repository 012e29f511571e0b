// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_CODEC_RIVALS_H
#define GRADNIC_TOOLS_CODEC_RIVALS_H
/// Other compressors, for comparison: zstd, lz4, snappy and zlib on the raw bytes, zfp in its fixed-accuracy mode with the
/// same error bound. Those that were not found at build time are still in the table, with `available` false.
///
/// A context is what one thread needs to compress or decompress again and again without allocating; contexts are
/// independent of each other.

#include <stdbool.h>
#include <stddef.h>

#include "net/error.h"

typedef struct gn_rival {
    const char *name;                  ///< "zstd"
    bool available;                    ///< compiled in
    bool lossless;                     ///< otherwise it takes a bound
    int level, level_low, level_high;  ///< default and range; all 0 where there are no levels
    const struct gn_rival_methods *methods;
} gn_rival;

/// The index-th rival, NULL past the last: zstd, lz4, snappy, zlib, zfp.
const gn_rival *gn_rival_at(unsigned index);

enum { GN_RIVALS_MAX = 16 };  ///< longest list

/// A rival as chosen on the command line.
typedef struct gn_rival_choice {
    const gn_rival *rival;
    int level;
    char name[16];  ///< "zstd:1", "zfp"
} gn_rival_choice;

/// Parses "zstd,zlib:9,zfp", "all" (every available one) or "none". One that is known but not compiled in is an error when
/// it is named. At most GN_RIVALS_MAX.
gn_status gn_parse_rivals(const char *text, gn_rival_choice choices[GN_RIVALS_MAX], size_t *count, gn_error *error);

/// Names of the rivals that were not compiled in, as "lz4, zfp"; empty when there are none. Static storage.
const char *gn_rivals_missing(void);

typedef struct gn_rival_context gn_rival_context;

/// `bound_exp`: the tolerance 2^-k of a lossy rival; ignored by others. NULL when memory is short or the rival is not
/// available. The caller frees it.
gn_rival_context *gn_rival_context_new(const gn_rival_choice *choice, int bound_exp);
void gn_rival_context_free(gn_rival_context *context);

/// Bytes that `count` values can take at most.
size_t gn_rival_bound(const gn_rival_context *context, size_t count);

/// Compresses `count` > 0 values; returns the number of bytes, 0 on failure. `capacity` >= gn_rival_bound().
size_t gn_rival_compress(gn_rival_context *context, const float *values, size_t count, void *packed, size_t capacity);

/// Decompresses to exactly `count` values; false on failure. The bytes are trusted as far as the rival's library
/// trusts them (zfp trusts them fully: only give it what gn_rival_compress() made).
bool gn_rival_decompress(gn_rival_context *context, const void *packed, size_t bytes, float *values, size_t count);

#endif
