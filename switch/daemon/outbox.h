// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_OUTBOX_H
#define GRADNIC_SWITCH_DAEMON_OUTBOX_H
/// Datagrams on their way out. They are collected while a batch that came in is worked on. There is
/// one copy of each in the arena, however many children it goes to.
///
/// They leave in as few system calls as possible (net/udp_out.h). Only datagrams of one length go
/// together. So those to one destination are sorted by length: within a batch, their order means
/// nothing.

#include "net/udp_out.h"
#include "switch/daemon/sources.h"

enum {
    GN_OUTBOX_BYTES = 256 << 10,  ///< of datagrams
    GN_OUTBOX_ITEMS = 4096,       ///< datagrams times destinations
    GN_OUTBOX_MESSAGES = 64,      ///< in one call
    GN_OUTBOX_MESSAGE_BYTES = 65000,
    GN_OUTBOX_WAIT_MS = 20  ///< once a flush, for room in a socket's buffer; then datagrams drop
};

typedef struct gn_outbox_item {
    const uint8_t *data;
    uint32_t bytes;
    uint16_t next;  ///< index + 1 of the next for the same destination; 0: the last
} gn_outbox_item;

typedef struct gn_outbox_queue {
    gn_source *to;
    int fd;
    uint16_t first, last;  ///< index + 1; 0: none
} gn_outbox_queue;

typedef struct gn_outbox_counters {
    uint64_t datagrams, bytes;  ///< UDP payloads that the kernel took
    uint64_t calls, messages;   ///< system calls, and what they were given
    uint64_t errors;            ///< datagrams that the kernel refused
    uint64_t full;              ///< datagrams dropped because the socket's buffer stayed full
} gn_outbox_counters;

typedef struct gn_outbox {
    gn_outbox_counters counters;
    bool no_segmentation;  ///< the kernel or a device has none
    size_t used;           ///< of the arena
    unsigned items, active;
    int fd;       ///< the socket that the batch leaves through
    bool waited;  ///< this flush has waited for room
    gn_outbox_item item[GN_OUTBOX_ITEMS];
    uint32_t order[GN_OUTBOX_ITEMS];  ///< of one destination: bytes << 16 | index
    /// By port: index + 1 of its queue; 0: none.
    uint16_t queue_of[GN_AGG_WORKERS_MAX * GN_SOURCES_MAX];
    gn_outbox_queue queue[GN_AGG_WORKERS_MAX * GN_SOURCES_MAX];
    gn_udp_batch batch;
    gn_source *to[GN_OUTBOX_MESSAGES];  ///< each message's destination
    gn_udp_message message[GN_OUTBOX_MESSAGES];
    struct mmsghdr header[GN_OUTBOX_MESSAGES];
    struct iovec piece[GN_OUTBOX_MESSAGES * GN_UDP_SEGMENTS_MAX];
    uint8_t arena[GN_OUTBOX_BYTES];
} gn_outbox;

/// Room for a datagram of at most `bytes` bytes. What is in the way is sent first.
uint8_t *gn_outbox_room(gn_outbox *box, size_t bytes);
/// Keeps the first `bytes` bytes of that room.
void gn_outbox_keep(gn_outbox *box, size_t bytes);

/// Sends `data`, which lies in the arena, to one destination: now, or at gn_outbox_flush().
void gn_outbox_post(gn_outbox *box, int fd, gn_source *to, const uint8_t *data, size_t bytes);

/// Sends everything. Drops what finds no room within GN_OUTBOX_WAIT_MS.
void gn_outbox_flush(gn_outbox *box);

#endif
