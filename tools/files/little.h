// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_LITTLE_H
#define GRADNIC_TOOLS_FILES_LITTLE_H
/// Little-endian integers in files, at any alignment.

#include <stdint.h>

/// `bytes` is 1 to 8.
static inline uint64_t gn_little(const uint8_t *from, unsigned bytes)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < bytes; i++) n |= (uint64_t)from[i] << 8 * i;
    return n;
}

#endif
