// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_COUNTERS_H
#define GRADNIC_DRIVER_COUNTERS_H
/// The packet counters of frame.h by name, so that tables, JSON and the NIC's statistics call them the same.

#include <stddef.h>
#include <stdint.h>

#include <gradnic/frame.h>

typedef struct gn_counter {
    const char *name;  ///< for programs: lower case, underscores
    const char *text;  ///< for people: a few words
    size_t offset;     ///< of the uint64_t in its structure
} gn_counter;

/// Rows of gn_tx_counters (without the rules'), gn_tx_rule_counters and gn_rx_counters, each ended by a NULL name.
extern const gn_counter gn_tx_counter_rows[];
extern const gn_counter gn_tx_rule_counter_rows[];
extern const gn_counter gn_rx_counter_rows[];

/// One counter's value; `counters` is the structure that the row belongs to.
static inline uint64_t gn_counter_value(const gn_counter *row, const void *counters)
{
    return *(const uint64_t *)(const void *)((const char *)counters + row->offset);
}

#endif
