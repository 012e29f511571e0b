// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_CMODEL_PAYLOAD_H
#define GRADNIC_CMODEL_PAYLOAD_H
/// The transform of one L4 payload, without any packet around it. The result is: shim, verbatim
/// head, stream, verbatim tail.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/codec.h>
#include <gradnic/shim.h>

/// The result of encoding a payload.
typedef struct gn_encoded {
    size_t taken;   ///< payload bytes that went in
    size_t bytes;   ///< bytes that came out, shim included
    size_t values;  ///< values compressed; 0 when stored
    bool stored;
} gn_encoded;

/// Copies `length` bytes behind a shim of kind stored. `out` has room for `length` + GN_SHIM_BYTES.
gn_encoded gn_payload_store(const uint8_t *in, size_t length, uint8_t *out);

/// Compresses all `length` bytes (at most 65535), but keeps the first `head` verbatim. Stores them
/// when compression does not make them shorter. `out` has room for `length` + GN_SHIM_BYTES.
gn_encoded gn_payload_encode(const gn_codec *codec, size_t head, const uint8_t *in, size_t length, uint8_t *out);

/// Takes as many of `length` bytes (at most 65535) as fit into `room` bytes, shim included. They
/// are compressed, or stored when that takes as many. The bytes taken are all, or end between two
/// values. `out` has `room` bytes, which is more than GN_SHIM_BYTES + `head` + 4.
gn_encoded gn_payload_fill(const gn_codec *codec, size_t head, const uint8_t *in, size_t length, uint8_t *out,
                           size_t room);

#endif
