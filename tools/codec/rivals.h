// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_CODEC_RIVALS_H
#define GRADNIC_TOOLS_CODEC_RIVALS_H
/// Other compressors, for comparison: zstd, lz4, snappy and zlib on the raw bytes, zfp in its
/// fixed-accuracy mode with the same error bound. A rival that was not found at build time stays
/// in the table with `available` false.
///
/// A context is memory for one thread, which compresses and decompresses again and again without
/// allocating. Contexts are independent of each other.

#include <stdbool.h>
#include <stddef.h>

#include "net/error.h"

typedef struct gn_rival {
    const char *name;                  ///< "zstd"
    bool available;                    ///< compiled in
    bool lossless;                     ///< otherwise it takes a bound
    int level, level_low, level_high;  ///< default and range; all 0 without levels
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

/// Parses "zstd,zlib:9,zfp", "all" (every available rival) or "none". Naming an unavailable rival
/// is an error. At most GN_RIVALS_MAX.
gn_status gn_parse_rivals(const char *text, gn_rival_choice choices[GN_RIVALS_MAX], size_t *count, gn_error *error);

/// Names of the unavailable rivals, such as "lz4, zfp"; empty if there are none. Static storage.
const char *gn_rivals_missing(void);

typedef struct gn_rival_context gn_rival_context;

/// `bound_exp`: the tolerance 2^-k of a lossy rival; ignored by others. NULL if memory is short
/// or the rival is unavailable. The caller frees it.
gn_rival_context *gn_rival_context_new(const gn_rival_choice *choice, int bound_exp);
void gn_rival_context_free(gn_rival_context *context);

/// Bytes that `count` values can take at most.
size_t gn_rival_bound(const gn_rival_context *context, size_t count);

/// Compresses `count` > 0 values. `capacity` >= gn_rival_bound().
/// @return number of bytes, 0 on failure
size_t gn_rival_compress(gn_rival_context *context, const float *values, size_t count, void *packed, size_t capacity);

/// Decompresses to exactly `count` values; false on failure. Pass only bytes that
/// gn_rival_compress() made, because zfp does not check them.
bool gn_rival_decompress(gn_rival_context *context, const void *packed, size_t bytes, float *values, size_t count);

#endif
