// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_TENSOR_H
#define GRADNIC_TOOLS_FILES_TENSOR_H
/// The tensors of a file: names, types and shapes. Every format that holds them makes such a list.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "dtype.h"
#include "net/error.h"
#include "tools/kit/label.h"

enum {
    GN_TENSOR_DIMENSIONS = 64,  ///< NumPy 2's limit
    GN_TENSOR_NAME_MAX = 1024,  ///< bytes of a name
    GN_TENSORS_MAX = 65536      ///< of a file
};

typedef struct gn_tensor {
    char *name;     ///< any bytes but 0; NULL: it has none
    char type[24];  ///< for people: "float32", "<i8"
    bool is_float;  ///< `dtype` holds; only such tensors can be read
    bool shaped;    ///< the shape is known; otherwise `count` alone is
    bool big_endian;
    bool fortran_order;  ///< the values are stored first index fastest
    gn_dtype dtype;
    unsigned dimensions;  ///< 0: a scalar
    uint64_t *shape;
    uint64_t count;   ///< values; UINT64_MAX: only the end of the file tells
    uint64_t place;   ///< for the reader of the format: number of a zip's member
    uint64_t offset;  ///< for the reader of the format: byte in the file or member
} gn_tensor;

typedef struct gn_tensor_list {
    gn_tensor *tensors;
    size_t count, room;
} gn_tensor_list;

/// The product of a shape; false if it is beyond 2^60, so that bytes fit 64 bits easily.
bool gn_shape_count(const uint64_t *shape, unsigned dimensions, uint64_t *count);

/// Whether a tensor's values are stored in another order than C's, the last index fastest. Without
/// its shape they would be others.
bool gn_tensor_by_columns(const gn_tensor *tensor);

/// Appends a copy of `tensor`. Name and shape are copied, too. `file` is for errors.
gn_status gn_tensor_add(gn_tensor_list *list, const gn_tensor *tensor, const char *file, gn_error *error);

/// Refuses two tensors with one name.
gn_status gn_tensor_check_names(const gn_tensor_list *list, const char *file, gn_error *error);

/// Keeps the tensors whose name is `pattern` or matches it as a glob; NULL: all of them.
/// `left_out` takes those of them that are not floating point; NULL: they stay as well. It is an
/// error if nothing stays.
gn_status gn_tensor_choose(gn_tensor_list *list, const char *pattern, gn_tensor_list *left_out, const char *file,
                           gn_error *error);

void gn_tensor_list_clear(gn_tensor_list *list);

/// "784 x 500"; "scalar"; "?" where the shape is not known.
void gn_tensor_shape_text(const gn_tensor *tensor, char *text, size_t room);

#endif
