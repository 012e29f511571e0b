// SPDX-License-Identifier: Apache-2.0
// A shard's thread: what comes in goes to the switch, and what the switch says is done.
#include "switch/daemon/shard.h"

#include <errno.h>
#include <linux/udp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>

#include "switch/daemon/ps_channel.h"
#include "switch/daemon/shard_out.h"

enum { EVENTS = 64, STOP_EVENT = -1 };

/// Does what an action says.
static void carry_out(gn_shard *shard, const gn_action *action)
{
    if (action->kind == GN_TO_NOBODY) return;
    uint8_t *room = gn_outbox_room(shard->box, shard->bound);
    const size_t bytes = gn_action_write(&shard->sw, action, room, shard->bound);
    if (!bytes) return;
    gn_outbox_keep(shard->box, bytes);
    if (action->kind != GN_TO_GROUP) {
        gn_shard_send(shard, action->port, room, bytes);
        return;
    }
    const gn_switch_job *job = gn_switch_job_at(&shard->sw, action->job_index);
    for (unsigned i = 0; i < job->children; i++) gn_shard_send(shard, job->port[i], room, bytes);
}

static void take_datagram(gn_shard *shard, const gn_source *from, const uint8_t *data, size_t bytes)
{
    gn_action actions[GN_SWITCH_ACTIONS_MAX];
    gn_channel *channel = gn_shard_channel(shard, from->port);
    if (channel->ps) {
        gn_ps_channel_take(shard, channel, data, bytes);
        return;
    }
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

/// What the kernel says about a message.
typedef struct notes {
    size_t segment;  ///< bytes of each datagram in it; the last may have fewer
    bool marked;     ///< ECN: congestion experienced
    uint8_t dscp;    ///< the other bits of the same byte
} notes;

static int int_of(const struct cmsghdr *header)
{
    int value = 0;  // IP_TOS is one byte
    const size_t bytes = header->cmsg_len - CMSG_LEN(0);
    memcpy(&value, CMSG_DATA(header), bytes < sizeof value ? bytes : sizeof value);
    return value;
}

static notes read_notes(gn_channel *channel, struct msghdr *message, size_t bytes)
{
    notes n = {.segment = bytes};
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
        const int level = header->cmsg_level, type = header->cmsg_type, value = int_of(header);
        if (level == IPPROTO_UDP && type == UDP_GRO && value > 0) n.segment = (size_t)value;
        if ((level == IPPROTO_IP && type == IP_TOS) || (level == IPPROTO_IPV6 && type == IPV6_TCLASS))
            n.marked = (value & 3) == 3, n.dscp = (uint8_t)(value & 0xfc);
        if (level == SOL_SOCKET && type == SO_RXQ_OVFL) {
            channel->counters.overrun += (uint32_t)value - channel->overrun_seen;
            channel->overrun_seen = (uint32_t)value;
        }
    }
    return n;
}

/// Sets ECN in the packet's own header: so those above learn what a queue on the way told the
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

static void take_message(gn_shard *shard, gn_channel *channel, unsigned index)
{
    uint8_t *data = shard->vector[index].iov_base;
    const size_t bytes = shard->message[index].msg_len;
    const notes n = read_notes(channel, &shard->message[index].msg_hdr, bytes);
    gn_source *from = gn_sources_find(&channel->sources, &shard->from[index]);
    size_t at = 0;
    if (from && n.dscp) from->tos = n.dscp;
    channel->counters.bytes += bytes;
    do {  // at least once: a datagram may be empty
        const size_t left = bytes - at, one = left < n.segment ? left : n.segment;
        channel->counters.datagrams++;
        channel->counters.marked += n.marked;
        channel->counters.unregistered += !from;
        if (from && n.marked) mark(data + at, one);
        if (from) pass_in(shard, from, data + at, one);
        at += n.segment;
    } while (at < bytes);
}

static void receive(gn_shard *shard, gn_channel *channel)
{
    for (unsigned i = 0; i < GN_SHARD_BATCH; i++)
        shard->message[i].msg_hdr = (struct msghdr){.msg_name = &shard->from[i],
                                                    .msg_namelen = sizeof shard->from[i],
                                                    .msg_iov = &shard->vector[i],
                                                    .msg_iovlen = 1,
                                                    .msg_control = shard->control[i].bytes,
                                                    .msg_controllen = sizeof shard->control[i].bytes};
    const int got = recvmmsg(channel->fd, shard->message, GN_SHARD_BATCH, MSG_DONTWAIT, NULL);
    if (got <= 0) return;
    channel->counters.batches++;
    for (int i = 0; i < got; i++) take_message(shard, channel, (unsigned)i);
    gn_outbox_flush(shard->box);
}

/// Sends what is due without anything coming in. @return nanoseconds until there is more
static uint64_t release(gn_shard *shard)
{
    const uint64_t in = gn_fault_release(shard->in, &(gn_fault_sink){link_in, shard}, shard->now),
                   out = gn_shard_release_out(shard);
    const uint64_t ps = gn_ps_channels_send(shard);
    gn_outbox_flush(shard->box);
    const uint64_t link = in < out ? in : out;
    return link < ps ? link : ps;
}

/// Takes the lock, but lets the other threads go first: they come seldom.
static void lock_last(gn_shard *shard)
{
    while (atomic_load_explicit(&shard->wanted, memory_order_relaxed)) sched_yield();
    pthread_mutex_lock(&shard->lock);
}

/// Waits for datagrams, for `due` nanoseconds at most (UINT64_MAX: for ever).
static int wait_for(const gn_shard *shard, struct epoll_event *events, uint64_t due)
{
    if (due == UINT64_MAX) return epoll_wait(shard->poll, events, EVENTS, -1);
    const struct timespec limit = {.tv_sec = (time_t)(due / 1000000000u), .tv_nsec = (long)(due % 1000000000u)};
    (void)ppoll(&(struct pollfd){.fd = shard->poll, .events = POLLIN}, 1, &limit, NULL);
    return epoll_wait(shard->poll, events, EVENTS, 0);
}

void *gn_shard_thread(void *argument)
{
    gn_shard *shard = argument;
    struct epoll_event events[EVENTS];
    uint64_t due = UINT64_MAX;
    while (!atomic_load_explicit(shard->stop, memory_order_relaxed)) {
        const int count = wait_for(shard, events, due);
        lock_last(shard);
        shard->now = gn_now();
        for (int i = 0; i < count; i++)
            if (events[i].data.fd >= 0 && shard->channels[events[i].data.fd].used)
                receive(shard, &shard->channels[events[i].data.fd]);
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
