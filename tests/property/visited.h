// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_VISITED_H
#define GRADNIC_TESTS_VISITED_H
/// States that a search has been in. Each is a number of 64 bits, into which all parts of the state
/// are blended. Two states with the same number are taken for one.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Begins as zeros; the caller frees `id`.
typedef struct visited_set {
    uint64_t *id;  ///< a table with `places`, a power of two; 0: free
    uint64_t places, count;
} visited_set;

/// @return whether it was not there. `id` is not 0.
bool visited_add(visited_set *set, uint64_t id);

uint64_t blend_bytes(uint64_t id, const void *bytes, size_t count);

static inline uint64_t blend(uint64_t id, uint64_t more)
{
    id = (id ^ more) * 0xbf58476d1ce4e5b9u;
    return id ^ id >> 31;
}

#endif
