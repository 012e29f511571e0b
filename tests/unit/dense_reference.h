// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TEST_DENSE_REFERENCE_H
#define GRADNIC_TEST_DENSE_REFERENCE_H
/// The bytes of profile dense a second time, bit by bit from the format's description. This code
/// shares nothing with the library.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/codec.h>

enum { DENSE_QUAD = 32, DENSE_CLASSES = 16, DENSE_RECORD_MAX = 134 };

/// What stands for a value: its integer q, as two's complement, or its own bits.
typedef struct dense_lane {
    bool raw;
    uint32_t word;
} dense_lane;

/// Payload bytes and bit planes of each class.
extern const uint8_t dense_bytes[DENSE_CLASSES], dense_planes[DENSE_CLASSES];

/// The class that the canonical encoding gives 8 lanes.
unsigned dense_class(const dense_lane lanes[8]);

/// The planes of 8 lanes in any class, also in one that is too small for them. Returns the bytes.
size_t dense_write_group(const dense_lane lanes[8], unsigned class, uint8_t *payload);

/// Writes the canonical stream. `stream` has room for the bound. Returns its bytes. ends[g] (may be
/// NULL) takes the bytes of the stream of all groups up to and with g.
size_t dense_write(const dense_lane *lanes, size_t count, uint8_t *stream, size_t *ends);

/// Reads any bytes as a stream of `count` values. `classes` (may be NULL) takes the number of
/// groups of each class. `*fault` takes where the wrong item begins. `lanes` is unspecified for a
/// bad stream.
gn_status dense_read(const uint8_t *stream, size_t bytes, size_t count, dense_lane *lanes, uint64_t *classes,
                     size_t *fault);

/// A lane's value as the bits of a binary32, at bound 2^-k.
uint32_t dense_value(dense_lane lane, int k);

#endif
