// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SHIM_H
#define GRADNIC_SHIM_H
/// @file shim.h
/// The 8-byte header at the start of a transformed L4 payload (docs/wire.md, "The shim header").
/// For programs that read and write it themselves, as the switch does. Thread-safe.

#include <stdbool.h>
#include <stdint.h>

#include <gradnic/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GN_SHIM_BYTES = 8,       ///< bytes of the shim; a packet never grows by more
    GN_SHIM_MAGIC = 0x474e,  ///< "GN"
    GN_SHIM_VERSION = 1,     ///< of the wire format
    GN_KIND_STORED = 0       ///< the payload verbatim; kind n > 0 is profile n - 1
};

/// The fields of a shim.
typedef struct gn_shim {
    uint8_t version;   ///< 4 bits
    uint8_t kind;      ///< 4 bits
    int8_t bound_exp;  ///< k; 0 when stored
    uint16_t length;   ///< payload bytes before compression
    uint8_t head;      ///< verbatim bytes ahead of the stream; 0 when stored
} gn_shim;

/// Writes GN_SHIM_BYTES bytes.
GN_API void gn_shim_write(const gn_shim *shim, uint8_t *out);

/// Reads GN_SHIM_BYTES bytes. Returns false when the magic or the check byte is wrong: the payload
/// is foreign.
GN_API bool gn_shim_read(const uint8_t *in, gn_shim *shim);

#ifdef __cplusplus
}
#endif
#endif
