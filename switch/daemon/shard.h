// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_SHARD_H
#define GRADNIC_SWITCH_DAEMON_SHARD_H
/// A shard: a switch of its own (switch.h), a thread, and UDP ports, one for each stream of a job that it can take. A stream has
/// a socket to itself, so that a job that floods its own fills nobody else's buffer, and all that can be read are read in turn.
///
/// The thread holds the lock while it works on one round of batches, never while it waits. Others take it to change jobs and to
/// read counters.

#include <pthread.h>
#include <stdatomic.h>

#include <gradnic/ps.h>
#include <gradnic/switch.h>

#include "net/clock.h"
#include "net/fault.h"
#include "switch/daemon/outbox.h"

enum {
    GN_SHARD_BATCH = 32,      ///< messages in one call
    GN_SHARD_MESSAGE = 65536  ///< bytes of a message: many datagrams, with UDP_GRO

};

typedef struct gn_stream_counters {
    uint64_t batches, datagrams, bytes;  ///< came in, from anyone: UDP payloads
    uint64_t unregistered;               ///< datagrams from addresses that nobody has said are theirs: dropped
    uint64_t overrun;                    ///< datagrams that the kernel dropped since the buffer was full
    uint64_t marked;                     ///< datagrams that a queue on the way has marked (ECN)
    uint64_t out_datagrams, out_bytes;   ///< copies for each child, before a bad link
} gn_stream_counters;

/// One stream of one job, or room for one.
typedef struct gn_stream {
    int fd;
    uint16_t udp_port;
    bool used;
    uint16_t job;           ///< its number in the switch
    uint16_t slots;         ///< that it has been granted
    uint32_t overrun_seen;  ///< the kernel's count, of the socket's whole life
    gn_ps *ps;              ///< in the role of a parameter server: the stream's own; NULL: the stream is the switch's
    gn_stream_counters counters;
    gn_sources sources;
} gn_stream;

typedef struct gn_shard {
    pthread_mutex_t lock;
    pthread_t thread;
    atomic_int wanted;  ///< who waits for the lock
    atomic_bool *stop;
    int poll;  ///< epoll: stop_event and the sockets of streams that are used
    int family;
    uint32_t slots_free;
    size_t bound;  ///< gn_agg_bound(slot_values)
    gn_switch sw;
    void *memory;
    gn_fault *in, *out;  ///< bad links
    unsigned stream_count;
    gn_stream *streams;
    gn_switch_counters ended;  ///< of jobs that have ended
    gn_stream_counters streams_ended;
    gn_ps_stats ps_ended;
    uint64_t now;  ///< gn_now() of the round
    gn_outbox *box;
    struct mmsghdr message[GN_SHARD_BATCH];
    struct iovec vector[GN_SHARD_BATCH];
    struct sockaddr_storage from[GN_SHARD_BATCH];
    union {
        char bytes[3 * CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control[GN_SHARD_BATCH];
    uint8_t *buffer;  ///< GN_SHARD_BATCH * GN_SHARD_MESSAGE
} gn_shard;

/// What a shard is made with.
typedef struct gn_shard_config {
    gn_switch_config sw;
    uint32_t places;     ///< slots, or chunks under way, that jobs can have here
    gn_endpoint listen;  ///< UDP address; port: of the first stream, 0: any
    unsigned streams;
    size_t buffer_bytes;
    gn_fault_config in, out;
    bool no_offload;
    int stop_event;
    atomic_bool *stop;
} gn_shard_config;

/// @return NULL with `error` set
gn_shard *gn_shard_new(const gn_shard_config *config, gn_error *error);
/// After its thread has ended. NULL allowed.
void gn_shard_free(gn_shard *shard);
void *gn_shard_thread(void *shard);

void gn_shard_lock(gn_shard *shard);
void gn_shard_unlock(gn_shard *shard);

/// A stream that is free; -1: none. Main thread only.
int gn_shard_free_stream(const gn_shard *shard, uint64_t taken);

/// Gives a stream to a job: `job` as for gn_switch_add_job(), with ports filled in here; children's endpoints, and the parent's or
/// parameter server's (NULL: none).
gn_status gn_shard_add(gn_shard *shard, unsigned stream, gn_switch_job *job, const gn_endpoint *children,
                       const gn_endpoint *above);
/// The same for a parameter server: `below` is the switch.
gn_status gn_shard_add_ps(gn_shard *shard, unsigned stream, const gn_ps_config *config, const gn_endpoint *below);
/// Takes it back; nothing that is under way comes out any more.
void gn_shard_remove(gn_shard *shard, unsigned stream);

/// Index in the switch of a stream's job, for gn_switch_job_at() and others. With the lock.
unsigned gn_shard_job_index(const gn_shard *shard, unsigned stream);

// ps_stream.c: a stream that belongs to a parameter server. With the lock.

void gn_ps_stream_take(gn_shard *shard, gn_stream *stream, const uint8_t *data, size_t bytes);
/// Sends what is due in all streams. @return nanoseconds until something will be though nothing comes in; UINT64_MAX: never
uint64_t gn_ps_streams_send(gn_shard *shard);
void gn_ps_stats_add(gn_ps_stats *to, const gn_ps_stats *from);

/// Sends one datagram, which lies in the outbox's room, to source `port`: over the bad link, if there is one.
void gn_shard_send(gn_shard *shard, unsigned port, const uint8_t *data, size_t bytes);

/// Adds all of `from`'s counters to `to`.
void gn_switch_counters_add(gn_switch_counters *to, const gn_switch_counters *from);
void gn_stream_counters_add(gn_stream_counters *to, const gn_stream_counters *from);

#endif
