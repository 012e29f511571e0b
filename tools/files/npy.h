// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_NPY_H
#define GRADNIC_TOOLS_FILES_NPY_H
/// NumPy's .npy files of float16, bfloat16, float32 and float64, both byte orders, versions 1.0,
/// 2.0 and 3.0, any shape, C or Fortran order. Source: NEP 1 and numpy/lib/format.py. values.h
/// reads the values behind the header. NumPy has no bfloat16: ml_dtypes saves it as 2 bytes of no
/// type ('V2').

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "input.h"
#include "net/error.h"
#include "tensor.h"

enum {
    GN_NPY_DIMENSIONS = GN_TENSOR_DIMENSIONS,
    GN_NPY_HEADER_MAX = 65536,  ///< bytes of the largest header accepted
    GN_NPY_WRITTEN_MAX = 2048   ///< bytes of the largest header written
};

/// What the header of an array says.
typedef struct gn_npy {
    char type[24];  ///< the dtype as NumPy writes it: '<f4'
    bool is_float;  ///< `dtype` and `big_endian` hold
    gn_dtype dtype;
    bool big_endian;
    bool shaped;          ///< what follows holds; only a structured dtype hides it
    unsigned dimensions;  ///< 0: a scalar
    uint64_t shape[GN_NPY_DIMENSIONS];
    bool fortran_order;     ///< the values are stored first index fastest
    uint64_t count;         ///< values: the product of the shape, 1 for a scalar
    uint64_t header_bytes;  ///< where the values begin
} gn_npy;

/// Reads a header up to the first value. The bytes are untrusted. Errors name the input and the
/// byte at fault. A dtype that is not floating point is such an error.
gn_status gn_npy_read_header(gn_input *input, gn_npy *npy, gn_error *error);

/// The same, for a file of many arrays: any dtype is good. `is_float` says whether it can be read.
gn_status gn_npy_read_any_header(gn_input *input, gn_npy *npy, gn_error *error);

/// The header as a tensor of a file. It borrows `npy->shape` and `name` (NULL: it has none).
gn_tensor gn_npy_tensor(gn_npy *npy, char *name);

/// Makes a header of version 1.0 for binary32, prefix included, with the same bytes as
/// numpy.save(). `dimensions` is at most GN_NPY_DIMENSIONS. @return its bytes
size_t gn_npy_format_header(char header[GN_NPY_WRITTEN_MAX], const uint64_t *shape, unsigned dimensions,
                            bool fortran_order);

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
