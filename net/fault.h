// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_FAULT_H
#define GRADNIC_NET_FAULT_H
/// A bad link: seeded loss, duplication, reordering and delay of datagrams. What happens to the
/// n-th datagram depends on the seed alone, not on timing.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/clock.h"

/// A datagram, in pieces that need not lie together.
typedef struct gn_wire_packet {
    const uint8_t *head;  ///< first piece
    uint32_t head_bytes;
    uint32_t body_bytes;  ///< second piece, may be 0
    const uint8_t *body;
} gn_wire_packet;

static inline size_t gn_wire_packet_bytes(const gn_wire_packet *packet)
{
    return (size_t)packet->head_bytes + packet->body_bytes;
}

typedef struct gn_fault_config {
    uint64_t seed;
    double loss, duplicate, reorder;  ///< probabilities for each datagram
    uint64_t delay_ns, jitter_ns;     ///< every datagram waits delay +- jitter (uniform)
    uint64_t reorder_ns;              ///< a reordered one waits so much longer: others overtake it
} gn_fault_config;

enum {
    GN_FAULT_QUEUE_BYTES = 16 << 20,  ///< of datagrams that wait; more are dropped, as overflow
    GN_FAULT_REORDER_NS = 1000000,    ///< default of reorder_ns
    GN_FAULT_SECONDS_MAX = 10         ///< the longest of these times: more is a link that is down
};

static inline bool gn_fault_time_possible(uint64_t nanoseconds)
{
    return nanoseconds <= GN_FAULT_SECONDS_MAX * GN_SECOND;
}

/// Whether both say the same.
static inline bool gn_fault_same(const gn_fault_config *a, const gn_fault_config *b)
{
    return a->seed == b->seed && a->loss == b->loss && a->duplicate == b->duplicate && a->reorder == b->reorder &&
           a->delay_ns == b->delay_ns && a->jitter_ns == b->jitter_ns && a->reorder_ns == b->reorder_ns;
}

typedef struct gn_fault_counters {
    uint64_t lost, duplicated, reordered, delayed, overflow;
} gn_fault_counters;

typedef struct gn_fault gn_fault;

/// @return NULL when out of memory. Free with gn_fault_free() (NULL allowed): what waits is lost.
gn_fault *gn_fault_new(const gn_fault_config *config);
void gn_fault_free(gn_fault *fault);
/// New settings from the next datagram on; the seed starts anew. What waits keeps its time, so a
/// shorter delay overtakes it.
void gn_fault_set(gn_fault *fault, const gn_fault_config *config);
const gn_fault_config *gn_fault_get(const gn_fault *fault);
const gn_fault_counters *gn_fault_get_counters(const gn_fault *fault);
/// Whether datagrams must pass through here at all. What waits is released even when they need not.
bool gn_fault_active(const gn_fault *fault);

/// What lies behind the bad link. `to` is what gn_fault_send() was given; it must outlive what
/// waits for it.
typedef struct gn_fault_sink {
    void (*send)(void *context, const void *to, const gn_wire_packet *packets, size_t count);
    void *context;
} gn_fault_sink;

/// Sends packets as the bad link does: now, later, twice or never.
void gn_fault_send(gn_fault *fault, const gn_fault_sink *sink, const void *to, const gn_wire_packet *packets,
                   size_t count, uint64_t now);
/// Sends what is due. @return nanoseconds until the next one is; UINT64_MAX when nothing waits
uint64_t gn_fault_release(gn_fault *fault, const gn_fault_sink *sink, uint64_t now);

#endif
