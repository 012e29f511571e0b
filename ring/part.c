// SPDX-License-Identifier: Apache-2.0
#include "part.h"

#include <stdlib.h>
#include <string.h>

#include "net/clock.h"
#include "part_socket.h"

enum { BATCHES_MAX = 64 };

/// Values that the worker is about to look at for the first time: this rank's contribution is made, while it is in the cache.
static void make_own(void *context, size_t first, size_t count)
{
    gn_part *part = context;
    if (part->x.own_pass) gn_exchange_own(&part->x, part->first + first, count);
}

static void finish(void *context, size_t first, size_t count)
{
    gn_part *part = context;
    gn_exchange_finish(&part->x, part->first + first, count);
    atomic_fetch_add_explicit(&part->finished, count, memory_order_relaxed);
}

gn_status gn_part_open(gn_part *part, const gn_worker_config *config, uint8_t tos)
{
    gn_worker_config mine = *config;
    mine.before = make_own;
    mine.after = finish;
    mine.context = part;
    part->packet_values = config->packet_values;
    part->tos = config->nic ? tos : 0;
    part->io = gn_part_socket_new(part->fd, gn_agg_bound(config->packet_values));
    return part->io ? gn_worker_new(&part->worker, &mine) : GN_NO_MEMORY;
}

void gn_part_close(gn_part *part)
{
    gn_worker_free(part->worker);
    gn_part_socket_free(part->io);
    gn_close(&part->fd);
    free(part->histogram);
    part->worker = NULL;
    part->io = NULL;
    part->histogram = NULL;
}

gn_status gn_part_post(gn_part *part, const gn_exchange *exchange, size_t first, size_t count)
{
    part->x = *exchange;
    if (exchange->histogram && !part->histogram) part->histogram = malloc(GN_HISTOGRAM * sizeof *part->histogram);
    if (exchange->histogram && !part->histogram) return GN_NO_MEMORY;
    if (exchange->histogram) {
        memset(part->histogram, 0, GN_HISTOGRAM * sizeof *part->histogram);
        part->x.histogram = part->histogram;
    }
    part->x.quantising = part->x.reducing = 0;
    part->first = first;
    part->before = gn_worker_get_stats(part->worker);
    atomic_store(&part->finished, 0);
    atomic_store(&part->failed, 0);
    atomic_store(&part->moved, gn_now());
    atomic_store(&part->fell, false);
    atomic_store(&part->done, !count);
    const gn_bucket *bucket = exchange->bucket;
    const float *send = exchange->own_pass ? bucket->recv : bucket->send;
    return gn_worker_post(part->worker, count ? send + first : NULL, count ? bucket->recv + first : NULL, count);
}

typedef struct arrival {
    gn_part *part;
    uint64_t now;
    bool useful;
    unsigned count;
} arrival;

static void take(void *context, const void *datagram, size_t bytes)
{
    arrival *a = context;
    a->count++;
    a->useful |= gn_worker_rx(a->part->worker, (int64_t)a->now, datagram, bytes);
}

static uint8_t tos_of(const gn_part *part, const void *datagram, size_t bytes)
{
    gn_agg_packet packet;
    if (!part->tos || gn_agg_parse(datagram, bytes, &packet)) return 0;
    return packet.flags & GN_AGG_FLOAT || !packet.values ? 0 : part->tos;
}

/// One batch. Not more, for `now` is to be the time at which it leaves: a chunk that seems to be older is soon asked for again.
/// @return whether a datagram went out.
static bool send_some(gn_part *part, uint64_t now)
{
    const size_t room = gn_agg_bound(part->packet_values);
    int failed;
    size_t bytes, written = 0;
    if (gn_part_socket_flush(part->io, &failed)) {  // what the socket had no room for
        void *out;
        while ((out = gn_part_socket_room(part->io)) &&
               (bytes = gn_worker_send(part->worker, (int64_t)now, out, room))) {
            gn_part_socket_put(part->io, bytes, tos_of(part, out, bytes));
            written++;
        }
        gn_part_socket_flush(part->io, &failed);
    }
    if (failed) atomic_store(&part->failed, failed);
    return written;
}

bool gn_part_move(gn_part *part, uint64_t now)
{
    arrival a = {part, now, false, 0};
    // All that is there, before anything is judged to be late: a thread that has waited for a processor finds a queue.
    for (int batch = 0; gn_part_socket_receive(part->io, take, &a) && batch < BATCHES_MAX; batch++) continue;
    if (a.useful) atomic_store_explicit(&part->moved, now, memory_order_relaxed);
    const bool sent = send_some(part, now);
    if (!atomic_load_explicit(&part->done, memory_order_relaxed) && gn_worker_done(part->worker)) {
        const gn_worker_stats stats = gn_worker_get_stats(part->worker);
        atomic_store(&part->fell, stats.fallback_chunks > part->before.fallback_chunks);
        atomic_store(&part->done, true);
    }
    return a.count || sent;
}

short gn_part_events(const gn_part *part)
{
    return (short)(POLLIN | (gn_part_socket_is_full(part->io) ? POLLOUT : 0));
}

int gn_part_wait_ms(const gn_part *part, uint64_t now)
{
    const int64_t deadline = gn_worker_deadline(part->worker);
    return gn_ms_until(deadline == GN_NEVER ? GN_FOREVER : (uint64_t)deadline, now);
}
