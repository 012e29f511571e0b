// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_HOST_COUNTER_H
#define GRADNIC_HOST_COUNTER_H
/// Names of counters: tables, JSON and Prometheus use the same.

#include <stddef.h>
#include <stdint.h>

typedef struct gn_counter {
    const char *name;  ///< for programs: lower case, underscores
    const char *text;  ///< for people: a few words
    size_t offset;     ///< of the uint64_t in its structure
} gn_counter;

/// The value of one counter. `counters` is the structure that the row belongs to.
static inline uint64_t gn_counter_value(const gn_counter *row, const void *counters)
{
    return *(const uint64_t *)(const void *)((const char *)counters + row->offset);
}

#endif
