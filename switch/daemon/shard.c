// SPDX-License-Identifier: Apache-2.0
// A shard's thread: what comes in goes to the switch, and what the switch says is done.
#include "switch/daemon/shard.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "net/clock.h"
#include "net/yield.h"
#include "switch/daemon/ps_channel.h"
#include "switch/daemon/shard_out.h"

enum { EVENTS = 64 };

/// Does what an action says.
static void carry_out(gn_shard *shard, const gn_action *action)
{
    if (action->kind == GN_TO_NOBODY) return;
    uint8_t *room = gn_outbox_room(shard->box, shard->bound);
    const size_t bytes = gn_action_write(&shard->sw, action, room, shard->bound);
    if (!bytes) return;
    gn_outbox_keep(shard->box, bytes);
    const gn_switch_job *job = gn_switch_job_at(&shard->sw, action->job_index);
    if (action->kind != GN_TO_GROUP) {
        gn_shard_seal(shard, action->port, room, bytes);
        gn_shard_send(shard, action->port, room, bytes);
        return;
    }
    gn_shard_seal(shard, job->port[0], room, bytes);  // all children have this key
    for (unsigned i = 0; i < job->children; i++) gn_shard_send(shard, job->port[i], room, bytes);
}

/// Sends a result of the engine.
static void send_result(void *context, uint16_t port, const uint8_t *datagram, size_t bytes)
{
    gn_shard *shard = context;
    uint8_t *room = gn_outbox_room(shard->box, bytes);
    memcpy(room, datagram, bytes);
    gn_outbox_keep(shard->box, bytes);
    gn_shard_seal(shard, port, room, bytes);
    gn_shard_send(shard, port, room, bytes);
}

/// @return whether the engine has taken the datagram, or has failed; then nobody takes any more
static bool engine_takes(gn_shard *shard, uint16_t port, const uint8_t *data, size_t bytes)
{
    bool taken = true;
    const gn_switch_sink sink = {send_result, shard};
    if (!shard->adds) return false;
    if (!shard->engine_error.status &&
        shard->engine->take(shard->adds, shard->now, port, data, bytes, &sink, &taken, &shard->engine_error))
        (void)kill(getpid(), SIGTERM);  // the main thread ends all, and says why
    return taken;
}

static void take_datagram(gn_shard *shard, const gn_source *from, const uint8_t *data, size_t bytes)
{
    gn_action actions[GN_SWITCH_ACTIONS_MAX];
    gn_channel *channel = gn_shard_channel(shard, from->port);
    if (channel->ps) {
        gn_ps_channel_take(shard, channel, data, bytes);
        return;
    }
    if (engine_takes(shard, from->port, data, bytes)) return;
    const unsigned count = gn_switch_rx(&shard->sw, shard->now, from->port, data, bytes, actions);
    for (unsigned i = 0; i < count; i++) carry_out(shard, &actions[i]);
}

/// What the bad link in lets through.
static void link_in(void *context, const void *to, const gn_wire_packet *packets, size_t count)
{
    const gn_source *from = to;
    for (size_t i = 0; i < count && from->used; i++)
        take_datagram(context, from, packets[i].head, packets[i].head_bytes);
}

/// Sets ECN in the packet's own header. So those above learn what a queue on the way has told the
/// kernel.
static void mark(uint8_t *data, size_t bytes)
{
    gn_agg_packet packet;
    if (gn_agg_parse(data, bytes, &packet) || packet.flags & GN_AGG_ECN) return;
    packet.flags |= GN_AGG_ECN;
    gn_agg_write_header(&packet, data + (packet.payload - data) - GN_AGG_HEADER);
}

/// Passes a datagram on, over the bad link if there is one.
static void pass_in(gn_shard *shard, const gn_source *from, const uint8_t *data, size_t bytes)
{
    const gn_wire_packet packet = {.head = data, .head_bytes = (uint32_t)bytes};
    if (gn_fault_active(shard->in))
        gn_fault_send(shard->in, &(gn_fault_sink){link_in, shard}, from, &packet, 1, shard->now);
    else
        take_datagram(shard, from, data, bytes);
}

/// Opens a datagram where they are sealed. @return whether it is from where its address says
static bool unseal(const gn_channel *channel, const gn_source *from, uint8_t *data, size_t bytes)
{
    const unsigned number = from->port % GN_SOURCES_MAX;
    if (!channel->keys.sealed) return true;
    return gn_agg_unseal(number < GN_AGG_WORKERS_MAX ? channel->keys.from[number] : channel->keys.from_above, data,
                         bytes);
}

/// Takes one datagram from a known address.
static void take_one(gn_shard *shard, gn_channel *channel, gn_source *from, const gn_udp_arrival *arrival, size_t at)
{
    const uint8_t dscp = arrival->tos & (uint8_t)~GN_ECN_MASK;
    uint8_t *data = arrival->data + at;
    const size_t bytes = gn_udp_piece(arrival, at);
    if (!unseal(channel, from, data, bytes)) {
        channel->counters.forged++;
        return;
    }
    if (dscp) from->tos = dscp;
    if ((arrival->tos & GN_ECN_MASK) == GN_ECN_MARKED) mark(data, bytes);
    pass_in(shard, from, data, bytes);
}

static void take_arrival(gn_shard *shard, gn_channel *channel, const gn_udp_arrival *arrival)
{
    const bool marked = (arrival->tos & GN_ECN_MASK) == GN_ECN_MARKED;
    gn_source *from = gn_sources_find(&channel->sources, arrival->from);
    size_t at = 0;
    if (arrival->has_dropped) {
        channel->counters.overrun += arrival->dropped - channel->overrun_seen;
        channel->overrun_seen = arrival->dropped;
    }
    channel->counters.bytes += arrival->bytes;
    do {  // at least once: a datagram may be empty
        channel->counters.datagrams++;
        channel->counters.marked += marked;
        channel->counters.unregistered += !from;
        if (from) take_one(shard, channel, from, arrival, at);
        at += arrival->segment;
    } while (at < arrival->bytes);
}

static void receive(gn_shard *shard, gn_channel *channel)
{
    // A simulation needs milliseconds for one datagram, and a message holds up to 64 of them.
    const unsigned most = shard->adds ? 1 : GN_UDP_INBOX_MESSAGES;
    const int got = gn_udp_inbox_receive(shard->inbox, channel->fd, most);
    if (got <= 0) return;
    channel->counters.batches++;
    for (int i = 0; i < got; i++) {
        const gn_udp_arrival arrival = gn_udp_inbox_at(shard->inbox, i);
        take_arrival(shard, channel, &arrival);
    }
    gn_outbox_flush(shard->box);
}

/// Sends what is due without anything coming in. @return nanoseconds until there is more
static uint64_t release(gn_shard *shard)
{
    const uint64_t in = gn_fault_release(shard->in, &(gn_fault_sink){link_in, shard}, shard->now);
    const uint64_t ps = gn_ps_channels_send(shard);
    // last: what the others have sent may wait on the bad link out
    const uint64_t out = gn_shard_release_out(shard);
    gn_outbox_flush(shard->box);
    const uint64_t link = in < out ? in : out;
    return link < ps ? link : ps;
}

/// Takes the lock, but lets the other threads go first: they come seldom.
static void lock_last(gn_shard *shard)
{
    const struct timespec moment = gn_timespec(GN_MILLISECOND / 50);
    while (atomic_load_explicit(&shard->wanted, memory_order_relaxed))
        if (!gn_yield()) (void)nanosleep(&moment, NULL);
    pthread_mutex_lock(&shard->lock);
}

/// Waits for datagrams, for `due` nanoseconds at most.
static int wait_for(const gn_shard *shard, struct epoll_event *events, uint64_t due)
{
    if (due == GN_FOREVER) return epoll_wait(shard->poll, events, EVENTS, -1);
    const struct timespec limit = gn_timespec(due);
    (void)ppoll(&(struct pollfd){.fd = shard->poll, .events = POLLIN}, 1, &limit, NULL);
    return epoll_wait(shard->poll, events, EVENTS, 0);
}

void *gn_shard_thread(void *argument)
{
    gn_shard *shard = argument;
    struct epoll_event events[EVENTS];
    uint64_t due = GN_FOREVER;
    while (!atomic_load_explicit(shard->stop, memory_order_relaxed)) {
        const int count = wait_for(shard, events, due);
        for (int i = 0; i < count; i++) {
            lock_last(shard);
            shard->now = gn_now();
            if (events[i].data.fd >= 0 && shard->channels[events[i].data.fd].used)
                receive(shard, &shard->channels[events[i].data.fd]);
            pthread_mutex_unlock(&shard->lock);
        }
        lock_last(shard);
        shard->now = gn_now();
        due = release(shard);
        pthread_mutex_unlock(&shard->lock);
    }
    return NULL;
}

void gn_shard_lock(gn_shard *shard)
{
    atomic_fetch_add(&shard->wanted, 1);
    pthread_mutex_lock(&shard->lock);
    atomic_fetch_sub(&shard->wanted, 1);
}

void gn_shard_unlock(gn_shard *shard)
{
    pthread_mutex_unlock(&shard->lock);
}
