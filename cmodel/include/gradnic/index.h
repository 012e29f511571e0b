// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_INDEX_H
#define GRADNIC_INDEX_H
/// @file index.h
/// Where the parts of a stream of dense begin. A decoder of many threads, such as a GPU, reads the
/// parts side by side. The items of a stream have different lengths, so somebody must walk it once.
///
///     size_t parts = (count + GN_PART - 1) / GN_PART;
///     gn_stream_index(&codec, stream, bytes, count, index, NULL);
///
/// The stream is checked meanwhile. With its index, a decoder need check nothing.

#include <gradnic/codec.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GN_PART = 2048,         ///< values of a part: 64 quads; the last part may have fewer
    GN_PART_ITEM_SHIFT = 8  ///< of the offset in an entry
};

/// Checks a stream, and writes an entry for each part of `count` values. An entry speaks of the
/// item that holds the part's first quad. It is the offset of that item, shifted left by
/// GN_PART_ITEM_SHIFT, plus the number of quads that the item has before that quad. A run of zeros
/// may have some.
/// @return as gn_stream_decode(); on failure the content of `index` is unspecified; GN_UNSUPPORTED
/// for other profiles than dense
GN_API gn_status gn_stream_index(const gn_codec *codec, const void *stream, size_t bytes, size_t count, uint64_t *index,
                                 size_t *error_offset);

/// A number of a format.
typedef struct gn_constant {
    const char *name;  ///< "GN_RUN_QUADS"
    int64_t value;     ///< the number
} gn_constant;

/// Gives the numbers that dense consists of, for programs in other languages that read or write it:
/// `*count` rows. After all others come, for each class in order, "planes", "bytes" and "unsigned".
/// Static storage.
GN_API const gn_constant *gn_dense_constants(size_t *count);

#ifdef __cplusplus
}
#endif
#endif
