// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_CMODEL_FLOW_H
#define GRADNIC_CMODEL_FLOW_H
/// The TCP phase table: which initial sequence number each flow of this direction began with, so that a
/// segment's place within the stream of 4-byte values is known (docs/wire.md, "TCP").

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/packet.h>

typedef struct gn_flow_table gn_flow_table;

/// NULL when out of memory or when the kernel gives no random bytes. All memory is taken here.
gn_flow_table *gn_flow_new(size_t capacity);
void gn_flow_free(gn_flow_table *table);

typedef enum gn_flow_added {
    GN_FLOW_NEW,
    GN_FLOW_AGAIN,   ///< the flow was known: a SYN sent again, or a port used again
    GN_FLOW_EVICTED  ///< new, and the least recently used flow had to give way
} gn_flow_added;

/// Remembers that the flow of `headers` begins with `isn`, whatever was known of it before.
gn_flow_added gn_flow_add(gn_flow_table *table, const uint8_t *packet, const gn_headers *headers, uint32_t isn);

/// False for an unknown flow. A flow that is looked up is the most recently used one.
bool gn_flow_find(gn_flow_table *table, const uint8_t *packet, const gn_headers *headers, uint32_t *isn);

/// True when the flow was there.
bool gn_flow_remove(gn_flow_table *table, const uint8_t *packet, const gn_headers *headers);

/// Flows remembered now.
size_t gn_flow_count(const gn_flow_table *table);

#endif
