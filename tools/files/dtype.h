// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_DTYPE_H
#define GRADNIC_TOOLS_FILES_DTYPE_H
/// Types of floating-point values in files, in both byte orders, and how they become binary32.
/// gradnic works with binary32 alone. float16 and bfloat16 fit exactly. float64 is rounded to
/// nearest, and its largest values do not fit.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/container.h>

/// How a message ends that refuses another type: "only ...".
#define GN_DTYPES_READ "float16, bfloat16, float32 and float64 are read"

/// "float32", "float16", "bfloat16", "float64".
const char *gn_dtype_name(gn_dtype dtype);

/// Bytes of a value.
size_t gn_dtype_bytes(gn_dtype dtype);

/// What reading values of one type as binary32 did to them.
typedef struct gn_cast {
    uint64_t values;
    uint64_t beyond;       ///< finite values beyond binary32's range: they became infinite
    double first;          ///< the first of these
    double largest_error;  ///< of the other values: |binary32 - value|
} gn_cast;

/// Reads `count` values of `dtype` at `from` as binary32, and adds what happened to `cast`.
void gn_dtype_read(gn_dtype dtype, bool big_endian, const void *from, float *to, size_t count, gn_cast *cast);

#endif
