// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_COLLECTIVES_TYPES_H
#define GRADNIC_RING_COLLECTIVES_TYPES_H
/// Elements of vectors: their sizes, and what is computed with them. Pure functions.

#include <gradnic/comm.h>

/// Bytes of an element.
size_t gn_type_bytes(gn_type type);
/// The type that an exchange computes with: binary32 for the 16-bit floats, else the type itself.
gn_type gn_type_staged(gn_type type);

/// to = values, in the staged type. The 16-bit floats are widened, which loses nothing.
void gn_type_load(gn_type type, const void *values, void *to, size_t count);
/// The other way. The 16-bit floats are rounded to nearest, ties to even.
void gn_type_store(gn_type type, const void *values, void *to, size_t count);

/// to = a op b, for a staged type. Average adds. `to` may be `a` or `b`. Integers wrap. The minimum
/// and maximum of a NaN and anything is one NaN, and -0 is below +0. So no order of ranks matters.
void gn_type_combine(gn_type type, gn_op op, const void *a, const void *b, void *to, size_t count);
/// values /= divisor, for floats of a staged type.
void gn_type_divide(gn_type type, void *values, size_t count, double divisor);

/// Whether a vector travels as it is, whatever the codec: what is not a sum or an average of f32,
/// bf16 or f16.
bool gn_type_is_exact(gn_type type, gn_op op);

#endif
