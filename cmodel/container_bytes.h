// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_CONTAINER_BYTES_H
#define GRADNIC_CONTAINER_BYTES_H
/// Internal: shared by container*.c.

#include <stdbool.h>

#include <gradnic/container.h>

#include "little_endian.h"

/// zlib's CRC-32.
uint32_t gn_container_crc(const void *data, size_t bytes);

/// Fills `*fault` (NULL allowed) and returns `status`.
gn_status gn_container_fail(gn_container_fault *fault, gn_status status, uint64_t block, uint64_t offset,
                            const char *format, ...) __attribute__((format(printf, 5, 6)));

/// The directory of a file of version 2, in memory.
typedef struct gn_container_directory {
    gn_container_tensor *tensors;
    uint64_t *shapes;  // of all tensors
    char *names;
    size_t count;
    uint64_t value_count;  // of all tensors
} gn_container_directory;

/// Makes the bytes of a directory. The caller frees `*bytes`.
/// @return GN_OK; GN_INVALID, GN_NO_MEMORY
gn_status gn_container_encode_directory(const gn_container_tensor *tensors, size_t count, uint8_t **bytes, size_t *size,
                                        uint64_t *value_count);

/// Reads the `size` bytes behind the header. They are untrusted.
/// @return GN_OK; GN_CORRUPT, and `*fault` is filled; GN_NO_MEMORY
gn_status gn_container_decode_directory(const uint8_t *bytes, size_t size, uint64_t value_count,
                                        gn_container_directory *directory, gn_container_fault *fault);

void gn_container_directory_clear(gn_container_directory *directory);

#endif
