// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_CONTAINER_BYTES_H
#define GRADNIC_CONTAINER_BYTES_H
/// Internal: shared by container.c and container_io.c.

#include <stdbool.h>

#include <gradnic/container.h>

#include "little_endian.h"

/// zlib's CRC-32.
uint32_t gn_container_crc(const void *data, size_t bytes);

/// Fills `*fault` (NULL allowed) and returns `status`.
gn_status gn_container_fail(gn_container_fault *fault, gn_status status, uint64_t block, uint64_t offset,
                            const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
