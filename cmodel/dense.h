// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DENSE_H
#define GRADNIC_DENSE_H
/// Internal: the bytes of profile dense, one group and one quad at a time (docs/codec.md). Integers
/// and values are those of lattice (lane.c). Nothing here knows what they mean.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <gradnic/index.h>

enum {
    GN_QUAD_GROUPS = 4,
    GN_QUAD = GN_QUAD_GROUPS * GN_GROUP,  ///< values of a quad
    GN_QUAD_HEADER = 2,                   ///< bytes; not zero
    GN_RUN_ITEM = 3,                      ///< bytes of a zero run: a zero header, and quads - 1
    GN_RUN_QUADS = 256,                   ///< most quads of a run
    GN_CLASS_WORDS = 15,                  ///< the class of 32-bit words, alone with raw lanes
    GN_CLASS_BYTES_MAX = 33,
    GN_QUAD_MAX = GN_QUAD_HEADER + GN_QUAD_GROUPS * GN_CLASS_BYTES_MAX
};

/// Eight lanes. Lane i is an integer in two's complement. Where bit i of `raw` is set, it holds the
/// bits of a binary32.
typedef struct gn_dense_group {
    uint32_t word[GN_GROUP];
    unsigned raw;
} gn_dense_group;

typedef gn_dense_group gn_dense_quad[GN_QUAD_GROUPS];

/// Bit planes that a class keeps of every lane. Classes 1 to 8 and 12 to 14 hold two's complement,
/// classes 9 to 11 numbers >= 0. A macro, because kernels make constant tables of it.
#define GN_CLASS_PLANES(c)                                                                                             \
    ((c) <= 8    ? (unsigned)(c)                                                                                       \
     : (c) <= 11 ? (unsigned)(c)&3u                                                                                    \
     : (c) == 12 ? 10u                                                                                                 \
     : (c) == 13 ? 12u                                                                                                 \
     : (c) == 14 ? 16u                                                                                                 \
                 : 32u)
#define GN_CLASS_UNSIGNED(c) ((c) >= 9 && (c) <= 11)

/// Payload bytes of a class: one per plane, and the raw mask of class 15.
#define GN_CLASS_BYTES(c) (GN_CLASS_PLANES(c) + ((c) == GN_CLASS_WORDS))

extern const uint8_t gn_class_bytes[GN_CLASS_COUNT];

static inline unsigned gn_quad_class(unsigned header, unsigned group)
{
    return header >> (4 * group) & 15;
}

static inline unsigned gn_quad_header(const uint8_t *item)
{
    return (unsigned)item[0] | (unsigned)item[1] << 8;
}

/// Bytes of a quad record, header included.
static inline unsigned gn_quad_bytes(unsigned header)
{
    unsigned bytes = GN_QUAD_HEADER;
    for (unsigned g = 0; g < GN_QUAD_GROUPS; g++) bytes += gn_class_bytes[gn_quad_class(header, g)];
    return bytes;
}

static inline size_t gn_quad_count(size_t count)
{
    return count / GN_QUAD + (count % GN_QUAD != 0);
}

/// Writes a quad record of canonical classes. @return its bytes; 0 for a quad of zeros, which
/// writes nothing
size_t gn_dense_put(const gn_dense_quad quad, uint8_t record[GN_QUAD_MAX]);

/// Reads the lanes of a whole quad record.
void gn_dense_get(const uint8_t *record, gn_dense_quad quad);

/// For a record that must stand for `lanes` values (1 to 32). @return false when a missing lane
/// holds anything
bool gn_dense_missing_empty(const uint8_t *record, size_t lanes);

/// A stream that is being written, item by item, within its capacity.
typedef struct gn_dense_writer {
    uint8_t *out;
    const uint8_t *end;
    unsigned run;  ///< quads of the zero run that ends at `out`; 0: no run ends there
} gn_dense_writer;

/// Appends a quad of zeros, to the run that ends the stream or as a new run. @return false when it
/// does not fit: then nothing is written
static inline bool gn_dense_append_zeros(gn_dense_writer *writer)
{
    if (writer->run == 0 || writer->run == GN_RUN_QUADS) {
        if (writer->end - writer->out < GN_RUN_ITEM) return false;
        memset(writer->out, 0, GN_RUN_ITEM);
        writer->out += GN_RUN_ITEM;
        writer->run = 0;
    }
    writer->out[-1] = (uint8_t)writer->run++;
    return true;
}

/// Appends a quad: its record, or `bytes` == 0 for zeros. @return false when it does not fit: then
/// nothing is written
bool gn_dense_append(gn_dense_writer *writer, const uint8_t *record, size_t bytes);

/// The rows `bound` and `walk` of gn_profile_row (profile.h).
size_t gn_dense_bound(size_t count);
gn_status gn_dense_walk(const uint8_t *stream, size_t bytes, size_t count, gn_tally *tally, size_t *error_offset);
/// The same walk; `index` as gn_stream_index() has it.
gn_status gn_dense_index(const uint8_t *stream, size_t bytes, size_t count, uint64_t *index, size_t *error_offset);

#endif
