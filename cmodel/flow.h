// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_CMODEL_FLOW_H
#define GRADNIC_CMODEL_FLOW_H
/// The TCP phase table: the initial sequence number of each flow of one direction. It tells where a
/// segment lies in the flow's sequence of 4-byte values (docs/wire.md, "TCP").

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/packet.h>

typedef struct gn_flow_table gn_flow_table;

/// Takes all memory that the table will need. @return NULL when out of memory, or when the kernel
/// gives no random bytes
gn_flow_table *gn_flow_new(size_t capacity);

/// As hardware has it: 2^log2 flows in sets of four. A flow gives way only to flows of its own set.
/// `seed` chooses the hash that says which set that is (docs/wire.md, "TCP").
enum { GN_FLOW_WAYS_LOG2 = 2, GN_FLOW_LOG2_MIN = 3, GN_FLOW_LOG2_MAX = 16 };
/// @return NULL also for an impossible `log2`
gn_flow_table *gn_flow_new_sets(unsigned log2, uint32_t seed);

void gn_flow_free(gn_flow_table *table);

typedef enum gn_flow_added {
    GN_FLOW_NEW,
    GN_FLOW_AGAIN,   ///< the flow was known: the SYN or the port came again
    GN_FLOW_EVICTED  ///< new, in the place of the least recently used flow (of its set)
} gn_flow_added;

/// Remembers that the flow of `headers` begins with `isn`. Replaces an older entry of that flow.
gn_flow_added gn_flow_add(gn_flow_table *table, const uint8_t *packet, const gn_headers *headers, uint32_t isn);

/// Looks a flow up, which makes it the most recently used one. @return false for an unknown flow
bool gn_flow_find(gn_flow_table *table, const uint8_t *packet, const gn_headers *headers, uint32_t *isn);

/// Forgets a flow. @return whether it was known
bool gn_flow_remove(gn_flow_table *table, const uint8_t *packet, const gn_headers *headers);

/// How many flows are remembered now.
size_t gn_flow_count(const gn_flow_table *table);

#endif
