// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_EXAMPLES_TRAIN_IDX_H
#define GRADNIC_EXAMPLES_TRAIN_IDX_H
/// IDX files, the format of MNIST and its successors (http://yann.lecun.com/exdb/mnist, "the IDX
/// file format"). A file has two zero bytes, the type of an element, the number of dimensions,
/// each size as a big-endian u32, and the elements. Only unsigned bytes (type 8) can be read. The
/// bytes are untrusted; only idx.c parses them.

#include <stddef.h>
#include <stdint.h>

#include "error.h"

enum {
    GN_IDX_DIMS_MAX = 3,        ///< labels have 1, images 3
    GN_IDX_BYTES_MAX = 1 << 29  ///< of a whole file, uncompressed: ten times MNIST
};

typedef struct gn_idx {
    unsigned dims;                 ///< 1 to GN_IDX_DIMS_MAX
    size_t size[GN_IDX_DIMS_MAX];  ///< of each dimension, slowest first; none is 0
    size_t count;                  ///< elements: the product of the sizes
    const uint8_t *values;         ///< `count` of them, inside the file's bytes
    uint8_t *file;                 ///< owned, from gn_idx_load(); NULL from gn_idx_parse()
} gn_idx;

/// Parses a whole file of `length` bytes; `idx->values` points into it. An error names the byte
/// at fault.
gn_status gn_idx_parse(const uint8_t *bytes, size_t length, gn_idx *idx, gn_train_error *error);

/// Reads and parses a file. zlib unpacks it if it is a gzip file. The caller frees with
/// gn_idx_free(). An error begins with the path.
gn_status gn_idx_load(const char *path, gn_idx *idx, gn_train_error *error);

void gn_idx_free(gn_idx *idx);

#endif
