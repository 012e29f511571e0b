// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_NPY_H
#define GRADNIC_TOOLS_FILES_NPY_H
/// NumPy's .npy files of little-endian binary32 ('<f4'), versions 1.0, 2.0 and 3.0, any shape, C
/// or Fortran order. Source: NEP 1 and numpy/lib/format.py. values.h reads the values behind the
/// header.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "input.h"
#include "net/error.h"

enum {
    GN_NPY_DIMENSIONS = 64,    ///< NumPy 2's limit (32 before)
    GN_NPY_HEADER_MAX = 65536  ///< bytes of the largest header accepted
};

/// What the header of an array says.
typedef struct gn_npy {
    unsigned dimensions;  ///< 0: a scalar
    uint64_t shape[GN_NPY_DIMENSIONS];
    bool fortran_order;     ///< the values are stored first index fastest
    uint64_t count;         ///< values: the product of the shape, 1 for a scalar
    uint64_t header_bytes;  ///< where the values begin
} gn_npy;

/// Reads a header up to the first value. The bytes are untrusted. Errors name the input and the
/// byte at fault.
gn_status gn_npy_read_header(gn_input *input, gn_npy *npy, gn_error *error);

/// Writes a header of version 1.0, the same bytes as numpy.save().
gn_status gn_npy_write_header(FILE *stream, const uint64_t *shape, unsigned dimensions, bool fortran_order,
                              gn_error *error);

/// Writes a whole array in C order: the header, and as many `values` as the shape says.
gn_status gn_npy_write(FILE *stream, const float *values, const uint64_t *shape, unsigned dimensions, gn_error *error);

/// Parses a shape on the command line: "784,500", "3x224x224"; "" is a scalar. `*count` is the
/// product.
gn_status gn_npy_parse_shape(const char *text, uint64_t shape[GN_NPY_DIMENSIONS], unsigned *dimensions, uint64_t *count,
                             gn_error *error);

#endif
