// SPDX-License-Identifier: Apache-2.0
// A shard's thread: what comes in goes to the switch, what the switch says is done.
#include "switch/daemon/shard.h"

#include <errno.h>
#include <linux/udp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>

enum { EVENTS = 64, STOP_EVENT = -1 };

static gn_stream *stream_of(gn_shard *shard, const gn_source *source)
{
    return &shard->streams[source->port / GN_SOURCES_MAX];
}

static void post(gn_shard *shard, const gn_source *to, const uint8_t *data, size_t bytes)
{
    gn_outbox_post(shard->box, stream_of(shard, to)->fd, (gn_source *)(uintptr_t)to, data, bytes);
}

/// Behind the bad link out. What had to wait lies in memory that is freed next.
static void link_out(void *context, const void *to, const gn_wire_packet *packets, size_t count)
{
    gn_shard *shard = context;
    const gn_source *source = to;
    for (size_t i = 0; i < count && source->used; i++) {
        const size_t bytes = packets[i].head_bytes;
        const uint8_t *data = packets[i].head;
        if (data < shard->box->arena || data >= shard->box->arena + GN_OUTBOX_BYTES) {
            uint8_t *room = gn_outbox_room(shard->box, bytes);
            memcpy(room, data, bytes);
            gn_outbox_keep(shard->box, bytes);
            data = room;
        }
        post(shard, source, data, bytes);
    }
}

void gn_shard_send(gn_shard *shard, unsigned port, const uint8_t *data, size_t bytes)
{
    gn_stream *stream = &shard->streams[port / GN_SOURCES_MAX];
    const gn_source *to = &stream->sources.source[port % GN_SOURCES_MAX];
    stream->counters.out_datagrams++;
    stream->counters.out_bytes += bytes;
    if (!gn_fault_active(shard->out)) {
        post(shard, to, data, bytes);
        return;
    }
    const gn_wire_packet packet = {.head = data, .head_bytes = (uint32_t)bytes};
    gn_fault_send(shard->out, &(gn_fault_sink){link_out, shard}, to, &packet, 1, shard->now);
}

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
    gn_stream *stream = stream_of(shard, from);
    if (stream->ps) {
        gn_ps_stream_take(shard, stream, data, bytes);
        return;
    }
    const unsigned count = gn_switch_rx(&shard->sw, shard->now, from->port, data, bytes, actions);
    for (unsigned i = 0; i < count; i++) carry_out(shard, &actions[i]);
}

/// Behind the bad link in.
static void link_in(void *context, const void *to, const gn_wire_packet *packets, size_t count)
{
    const gn_source *from = to;
    for (size_t i = 0; i < count && from->used; i++)
        take_datagram(context, from, packets[i].head, packets[i].head_bytes);
}

/// What the kernel says of a message beside its bytes.
typedef struct notes {
    size_t segment;  ///< bytes of each datagram in it; the last may have fewer
    bool marked;     ///< ECN: congestion experienced
    uint8_t dscp;    ///< the rest of the same byte
} notes;

static int int_of(const struct cmsghdr *header)
{
    int value = 0;  // IP_TOS is one byte
    const size_t bytes = header->cmsg_len - CMSG_LEN(0);
    memcpy(&value, CMSG_DATA(header), bytes < sizeof value ? bytes : sizeof value);
    return value;
}

static notes read_notes(gn_stream *stream, struct msghdr *message, size_t bytes)
{
    notes n = {.segment = bytes};
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
        const int level = header->cmsg_level, type = header->cmsg_type, value = int_of(header);
        if (level == IPPROTO_UDP && type == UDP_GRO && value > 0) n.segment = (size_t)value;
        if ((level == IPPROTO_IP && type == IP_TOS) || (level == IPPROTO_IPV6 && type == IPV6_TCLASS))
            n.marked = (value & 3) == 3, n.dscp = (uint8_t)(value & 0xfc);
        if (level == SOL_SOCKET && type == SO_RXQ_OVFL) {
            stream->counters.overrun += (uint32_t)value - stream->overrun_seen;
            stream->overrun_seen = (uint32_t)value;
        }
    }
    return n;
}

/// Tells those above what a queue on the way has told the kernel, in the packet's own header.
static void mark(uint8_t *data, size_t bytes)
{
    gn_agg_packet packet;
    if (gn_agg_parse(data, bytes, &packet) || packet.flags & GN_AGG_ECN) return;
    packet.flags |= GN_AGG_ECN;
    gn_agg_write_header(&packet, data + (packet.payload - data) - GN_AGG_HEADER);
}

static void pass_in(gn_shard *shard, const gn_source *from, const uint8_t *data, size_t bytes)
{
    const gn_wire_packet packet = {.head = data, .head_bytes = (uint32_t)bytes};
    if (gn_fault_active(shard->in))
        gn_fault_send(shard->in, &(gn_fault_sink){link_in, shard}, from, &packet, 1, shard->now);
    else
        take_datagram(shard, from, data, bytes);
}

static void take_message(gn_shard *shard, gn_stream *stream, unsigned index)
{
    uint8_t *data = shard->vector[index].iov_base;
    const size_t bytes = shard->message[index].msg_len;
    const notes n = read_notes(stream, &shard->message[index].msg_hdr, bytes);
    gn_source *from = gn_sources_find(&stream->sources, &shard->from[index]);
    size_t at = 0;
    if (from && n.dscp) from->tos = n.dscp;
    stream->counters.bytes += bytes;
    do {  // an empty datagram is one, too
        const size_t left = bytes - at, one = left < n.segment ? left : n.segment;
        stream->counters.datagrams++;
        stream->counters.marked += n.marked;
        stream->counters.unregistered += !from;
        if (from && n.marked) mark(data + at, one);
        if (from) pass_in(shard, from, data + at, one);
        at += n.segment;
    } while (at < bytes);
}

static void receive(gn_shard *shard, gn_stream *stream)
{
    for (unsigned i = 0; i < GN_SHARD_BATCH; i++)
        shard->message[i].msg_hdr = (struct msghdr){.msg_name = &shard->from[i],
                                                    .msg_namelen = sizeof shard->from[i],
                                                    .msg_iov = &shard->vector[i],
                                                    .msg_iovlen = 1,
                                                    .msg_control = shard->control[i].bytes,
                                                    .msg_controllen = sizeof shard->control[i].bytes};
    const int got = recvmmsg(stream->fd, shard->message, GN_SHARD_BATCH, MSG_DONTWAIT, NULL);
    if (got <= 0) return;
    stream->counters.batches++;
    for (int i = 0; i < got; i++) take_message(shard, stream, (unsigned)i);
    gn_outbox_flush(shard->box);
}

static uint64_t release(gn_shard *shard)
{
    const uint64_t in = gn_fault_release(shard->in, &(gn_fault_sink){link_in, shard}, shard->now),
                   out = gn_fault_release(shard->out, &(gn_fault_sink){link_out, shard}, shard->now);
    const uint64_t ps = gn_ps_streams_send(shard);
    gn_outbox_flush(shard->box);
    const uint64_t link = in < out ? in : out;
    return link < ps ? link : ps;
}

/// Waits for the lock as the others do, but lets them go first: they come seldom.
static void lock_last(gn_shard *shard)
{
    while (atomic_load_explicit(&shard->wanted, memory_order_relaxed)) sched_yield();
    pthread_mutex_lock(&shard->lock);
}

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
            if (events[i].data.fd >= 0 && shard->streams[events[i].data.fd].used)
                receive(shard, &shard->streams[events[i].data.fd]);
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
