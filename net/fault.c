// SPDX-License-Identifier: Apache-2.0
#include "net/fault.h"

#include <stdlib.h>
#include <string.h>

#include "net/splitmix.h"

enum { AT_ONCE = 256 };

typedef struct waiting {
    uint64_t due, order;  // equal times leave in the order they came
    const void *to;
    uint32_t bytes;
    uint8_t packet[];
} waiting;

struct gn_fault {
    gn_fault_config config;
    gn_fault_counters counters;
    uint64_t state, order;
    size_t queued_bytes;
    waiting **heap;  // binary heap, the one due first on top
    size_t count, room;
};

gn_fault *gn_fault_new(const gn_fault_config *config)
{
    gn_fault *fault = calloc(1, sizeof *fault);
    if (fault) gn_fault_set(fault, config);
    return fault;
}

void gn_fault_free(gn_fault *fault)
{
    if (!fault) return;
    for (size_t i = 0; i < fault->count; i++) free(fault->heap[i]);
    free(fault->heap);
    free(fault);
}

void gn_fault_set(gn_fault *fault, const gn_fault_config *config)
{
    fault->config = *config;
    fault->state = config->seed;
}

const gn_fault_config *gn_fault_get(const gn_fault *fault)
{
    return &fault->config;
}
const gn_fault_counters *gn_fault_get_counters(const gn_fault *fault)
{
    return &fault->counters;
}

bool gn_fault_active(const gn_fault *fault)
{
    const gn_fault_config *c = &fault->config;
    return c->loss > 0 || c->duplicate > 0 || c->reorder > 0 || c->delay_ns || c->jitter_ns;
}

static uint64_t draw(gn_fault *fault)
{
    return splitmix64(&fault->state);
}

static double fraction(gn_fault *fault)
{
    return (double)(draw(fault) >> 11) * 0x1p-53;
}

static bool before(const waiting *a, const waiting *b)
{
    return a->due != b->due ? a->due < b->due : a->order < b->order;
}

static void swap(waiting **a, waiting **b)
{
    waiting *kept = *a;
    *a = *b;
    *b = kept;
}

static void enqueue(gn_fault *fault, const void *to, const gn_wire_packet *packet, uint64_t due)
{
    const size_t bytes = gn_wire_packet_bytes(packet);
    waiting *item = NULL;
    if (fault->queued_bytes + bytes > GN_FAULT_QUEUE_BYTES) goto full;
    if (fault->count == fault->room) {
        const size_t room = fault->room ? 2 * fault->room : 256;
        waiting **heap = realloc(fault->heap, room * sizeof(waiting *));
        if (!heap) goto full;
        fault->heap = heap;
        fault->room = room;
    }
    item = malloc(sizeof *item + bytes);
    if (!item) goto full;
    *item = (waiting){.due = due, .order = fault->order++, .to = to, .bytes = (uint32_t)bytes};
    memcpy(item->packet, packet->head, packet->head_bytes);
    if (packet->body_bytes) memcpy(item->packet + packet->head_bytes, packet->body, packet->body_bytes);
    fault->queued_bytes += bytes;
    fault->counters.delayed++;
    size_t at = fault->count++;
    fault->heap[at] = item;
    for (; at && before(fault->heap[at], fault->heap[(at - 1) / 2]); at = (at - 1) / 2)
        swap(&fault->heap[at], &fault->heap[(at - 1) / 2]);
    return;
full:
    fault->counters.overflow++;
}

static waiting *dequeue(gn_fault *fault)
{
    waiting *top = fault->heap[0];
    fault->heap[0] = fault->heap[--fault->count];
    for (size_t at = 0;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < fault->count; child++)
            if (before(fault->heap[child], fault->heap[least])) least = child;
        if (least == at) break;
        swap(&fault->heap[at], &fault->heap[least]);
        at = least;
    }
    fault->queued_bytes -= top->bytes;
    return top;
}

// Always the same number of draws, so that the fate of a datagram does not depend on that of the
// ones before.
static unsigned fate(gn_fault *fault, uint64_t *delay)
{
    const gn_fault_config *c = &fault->config;
    const double loss = fraction(fault), duplicate = fraction(fault), reorder = fraction(fault),
                 jitter = fraction(fault);
    const double offset = (2 * jitter - 1) * (double)c->jitter_ns, wait = (double)c->delay_ns + offset;
    *delay = wait > 0 ? (uint64_t)wait : 0;
    if (loss < c->loss) {
        fault->counters.lost++;
        return 0;
    }
    if (reorder < c->reorder) {
        fault->counters.reordered++;
        *delay += c->reorder_ns ? c->reorder_ns : GN_FAULT_REORDER_NS;
    }
    if (duplicate >= c->duplicate) return 1;
    fault->counters.duplicated++;
    return 2;
}

void gn_fault_send(gn_fault *fault, const gn_fault_sink *sink, const void *to, const gn_wire_packet *packets,
                   size_t count, uint64_t now)
{
    gn_wire_packet direct[AT_ONCE + 1];
    size_t ready = 0;
    const bool ordered = fault->config.delay_ns || fault->config.jitter_ns;
    for (size_t i = 0; i < count; i++) {
        uint64_t delay;
        for (unsigned copies = fate(fault, &delay); copies; copies--) {
            if (delay || ordered)
                enqueue(fault, to, &packets[i], now + delay);
            else
                direct[ready++] = packets[i];
        }
        if (ready < AT_ONCE) continue;
        sink->send(sink->context, to, direct, ready);
        ready = 0;
    }
    if (ready) sink->send(sink->context, to, direct, ready);
}

uint64_t gn_fault_release(gn_fault *fault, const gn_fault_sink *sink, uint64_t now)
{
    while (fault->count) {
        if (fault->heap[0]->due > now) return fault->heap[0]->due - now;
        waiting *item = dequeue(fault);
        const gn_wire_packet packet = {.head = item->packet, .head_bytes = item->bytes};
        sink->send(sink->context, item->to, &packet, 1);
        free(item);
    }
    return UINT64_MAX;
}
