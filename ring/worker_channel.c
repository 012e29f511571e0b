// SPDX-License-Identifier: Apache-2.0
#include "ring/worker_channel.h"

#include <stdlib.h>
#include <string.h>

#include "net/clock.h"
#include "net/socket.h"
#include "ring/part_socket.h"

enum { BATCHES_MAX = 64 };

/// The worker is about to look at these values for the first time. This rank's contribution is made
/// now, while they are in the cache.
static void make_own(void *context, size_t first, size_t count)
{
    gn_worker_channel *channel = context;
    if (channel->x.own_pass) gn_exchange_own(&channel->x, channel->first + first, count);
}

/// Values that can be coded as they are need no pass of their own.
static const float *plain(void *context, size_t first, size_t count)
{
    const gn_worker_channel *channel = context;
    const size_t at = channel->first + first;
    return gn_exchange_is_plain(&channel->x, at, count) ? channel->x.bucket->send + at : NULL;
}

static void finish(void *context, size_t first, size_t count)
{
    gn_worker_channel *channel = context;
    gn_exchange_finish(&channel->x, channel->first + first, count);
    atomic_fetch_add_explicit(&channel->finished, count, memory_order_relaxed);
}

gn_status gn_worker_channel_open(gn_worker_channel *channel, const gn_worker_config *config, uint8_t tos)
{
    gn_worker_config mine = *config;
    mine.before = make_own;
    mine.plain = plain;
    mine.after = finish;
    mine.context = channel;
    channel->packet_values = config->packet_values;
    channel->tos = config->nic ? tos : 0;
    channel->io = gn_part_socket_new(channel->fd, gn_agg_bound(config->packet_values));
    return channel->io ? gn_worker_new(&channel->worker, &mine) : GN_NO_MEMORY;
}

void gn_worker_channel_close(gn_worker_channel *channel)
{
    gn_worker_free(channel->worker);
    gn_part_socket_free(channel->io);
    gn_close(&channel->fd);
    channel->keys = (gn_datagram_keys){0};
    free(channel->histogram);
    channel->worker = NULL;
    channel->io = NULL;
    channel->histogram = NULL;
}

gn_status gn_worker_channel_post(gn_worker_channel *channel, const gn_exchange *exchange, size_t first, size_t count)
{
    channel->x = *exchange;
    if (exchange->histogram && !channel->histogram)
        channel->histogram = malloc(GN_HISTOGRAM * sizeof *channel->histogram);
    if (exchange->histogram && !channel->histogram) return GN_NO_MEMORY;
    if (exchange->histogram) {
        memset(channel->histogram, 0, GN_HISTOGRAM * sizeof *channel->histogram);
        channel->x.histogram = channel->histogram;
    }
    channel->x.quantising = channel->x.reducing = 0;
    channel->first = first;
    channel->before = gn_worker_get_stats(channel->worker);
    atomic_store(&channel->finished, 0);
    atomic_store(&channel->failed, 0);
    atomic_store(&channel->moved, gn_now());
    atomic_store(&channel->fell, false);
    atomic_store(&channel->done, !count);
    const gn_bucket *bucket = exchange->bucket;
    const float *send = exchange->own_pass ? bucket->recv : bucket->send;
    return gn_worker_post(channel->worker, count ? send + first : NULL, count ? bucket->recv + first : NULL, count);
}

typedef struct arrival {
    gn_worker_channel *channel;
    uint64_t now;
    bool useful;
    unsigned count;
} arrival;

static void take(void *context, void *datagram, size_t bytes)
{
    arrival *a = context;
    const gn_datagram_keys *keys = &a->channel->keys;
    a->count++;
    if (keys->sealed && !gn_agg_unseal(keys->down, datagram, bytes)) return;  // not from our switch
    a->useful |= gn_worker_rx(a->channel->worker, (int64_t)a->now, datagram, bytes);
}

static uint8_t tos_of(const gn_worker_channel *channel, const void *datagram, size_t bytes)
{
    gn_agg_packet packet;
    if (!channel->tos || gn_agg_parse(datagram, bytes, &packet)) return 0;
    return packet.flags & GN_AGG_FLOAT || !packet.values ? 0 : channel->tos;
}

/// Sends one batch. Not more, because `now` is to be the time at which it leaves: a chunk that
/// seems to be older is soon asked for again. @return whether a datagram went out
static bool send_some(gn_worker_channel *channel, uint64_t now)
{
    const size_t room = gn_agg_bound(channel->packet_values);
    int failed;
    size_t bytes, written = 0;
    if (gn_part_socket_flush(channel->io, &failed)) {  // what the socket had no room for
        void *out;
        while ((out = gn_part_socket_room(channel->io)) &&
               (bytes = gn_worker_send(channel->worker, (int64_t)now, out, room))) {
            const uint8_t tos = tos_of(channel, out, bytes);
            if (channel->keys.sealed) gn_agg_seal(channel->keys.up, out, bytes);
            gn_part_socket_put(channel->io, bytes, tos);
            written++;
        }
        gn_part_socket_flush(channel->io, &failed);
    }
    if (failed) atomic_store(&channel->failed, failed);
    return written;
}

bool gn_worker_channel_move(gn_worker_channel *channel, uint64_t now)
{
    arrival a = {channel, now, false, 0};
    // All that is there is taken before anything is judged to be late: a thread that has waited for
    // a processor finds a queue.
    for (int batch = 0; gn_part_socket_receive(channel->io, take, &a) && batch < BATCHES_MAX; batch++) continue;
    if (a.useful) atomic_store_explicit(&channel->moved, now, memory_order_relaxed);
    const bool sent = send_some(channel, now);
    if (!atomic_load_explicit(&channel->done, memory_order_relaxed) && gn_worker_done(channel->worker)) {
        const gn_worker_stats stats = gn_worker_get_stats(channel->worker);
        atomic_store(&channel->fell, stats.fallback_chunks > channel->before.fallback_chunks);
        atomic_store(&channel->done, true);
    }
    return a.count || sent;
}

short gn_worker_channel_events(const gn_worker_channel *channel)
{
    return (short)(POLLIN | (gn_part_socket_is_full(channel->io) ? POLLOUT : 0));
}

int gn_worker_channel_wait_ms(const gn_worker_channel *channel, uint64_t now)
{
    const int64_t deadline = gn_worker_deadline(channel->worker);
    return gn_ms_until(deadline == GN_NEVER ? GN_FOREVER : (uint64_t)deadline, now);
}
