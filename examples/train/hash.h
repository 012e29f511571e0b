// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_EXAMPLES_TRAIN_HASH_H
#define GRADNIC_EXAMPLES_TRAIN_HASH_H
/// FNV-1a (RFC 9923), 64 bits: shows that two things differ. It is not for security.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static const uint64_t GN_HASH_START = UINT64_C(0xcbf29ce484222325);

static inline uint64_t gn_hash_step(uint64_t hash, uint64_t input)
{
    return (hash ^ input) * UINT64_C(0x100000001b3);
}

static inline uint64_t gn_hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) hash = gn_hash_step(hash, ((const uint8_t *)bytes)[i]);
    return hash;
}

/// One value at a time, by its bits. A step is a bijection, so one different bit always shows.
static inline uint64_t gn_hash_floats(uint64_t hash, const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        hash = gn_hash_step(hash, bits);
    }
    return hash;
}

#endif
