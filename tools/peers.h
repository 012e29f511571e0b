// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_PEERS_H
#define GRADNIC_TOOLS_PEERS_H
/// Other compressors, for comparison: zstd, lz4, snappy and zlib on the raw bytes, zfp in its fixed-accuracy mode with the
/// same error bound. Those that were not found at build time are still in the table, with `available` false.
///
/// A context is what one thread needs to compress or decompress again and again without allocating; contexts are
/// independent of each other.

#include <stdbool.h>
#include <stddef.h>

#include "cli.h"

typedef struct gn_peer {
    const char *name;                  ///< "zstd"
    bool available;                    ///< compiled in
    bool lossless;                     ///< otherwise it takes a bound
    int level, level_low, level_high;  ///< default and range; all 0 where there are no levels
    const struct gn_peer_methods *methods;
} gn_peer;

/// The index-th peer, NULL past the last: zstd, lz4, snappy, zlib, zfp.
const gn_peer *gn_peer_at(unsigned index);

enum { GN_PEERS_MAX = 16 };  ///< longest list

/// A peer as chosen on the command line.
typedef struct gn_peer_choice {
    const gn_peer *peer;
    int level;
    char name[16];  ///< "zstd:1", "zfp"
} gn_peer_choice;

/// Parses "zstd,zlib:9,zfp", "all" (every available one) or "none". One that is known but not compiled in is an error when
/// it is named. At most GN_PEERS_MAX.
gn_message gn_parse_peers(const char *text, gn_peer_choice choices[GN_PEERS_MAX], size_t *count);

/// Names of the peers that were not compiled in, as "lz4, zfp"; empty when there are none. Static storage.
const char *gn_peers_missing(void);

typedef struct gn_peer_context gn_peer_context;

/// `bound_exp`: the tolerance 2^-k of a lossy peer; ignored by others. NULL when memory is short or the peer is not
/// available. The caller frees it.
gn_peer_context *gn_peer_context_new(const gn_peer_choice *choice, int bound_exp);
void gn_peer_context_free(gn_peer_context *context);

/// Bytes that `count` values can take at most.
size_t gn_peer_bound(const gn_peer_context *context, size_t count);

/// Compresses `count` > 0 values; returns the number of bytes, 0 on failure. `capacity` >= gn_peer_bound().
size_t gn_peer_compress(gn_peer_context *context, const float *values, size_t count, void *packed, size_t capacity);

/// Decompresses to exactly `count` values; false on failure. The bytes are trusted as far as the peer's library
/// trusts them (zfp trusts them fully: only give it what gn_peer_compress() made).
bool gn_peer_decompress(gn_peer_context *context, const void *packed, size_t bytes, float *values, size_t count);

#endif
