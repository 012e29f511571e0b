// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_LAYOUT_H
#define GRADNIC_LAYOUT_H
/// @file layout.h
/// How the compiler has laid out the structures of this library. Programs in other languages
/// declare these structures a second time. They compare their own declaration with this one when
/// they start, and refuse a library that differs. The Python package does.

#include <stddef.h>

#include <gradnic/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A field of a structure, or a structure as a whole.
typedef struct gn_layout {
    const char *structure;  ///< "gn_codec"
    const char *field;      ///< "bound_exp"; "" for the whole structure
    size_t offset;          ///< in bytes; 0 for the whole structure
    size_t size;            ///< in bytes
} gn_layout;

/// The row of a whole structure, for tables like those below.
#define GN_LAYOUT(structure)                                                                                           \
    {                                                                                                                  \
#structure, "", 0, sizeof(structure)                                                                           \
    }
/// The row of one of its fields.
#define GN_LAYOUT_FIELD(structure, field)                                                                              \
    {                                                                                                                  \
#structure, #field, offsetof(structure, field), sizeof(((structure *)0)->field)                                \
    }

/// Gives the structures of codec.h, container.h, index.h and this file: `*count` rows. A
/// structure's own row comes ahead of those of its fields. Static storage.
GN_API const gn_layout *gn_codec_layout(size_t *count);

#ifdef __cplusplus
}
#endif
#endif
