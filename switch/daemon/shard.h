// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_SHARD_H
#define GRADNIC_SWITCH_DAEMON_SHARD_H
/// A shard: a switch of its own (switch.h), a thread, and UDP ports, one for each channel that it
/// can take. A channel has a socket to itself, so a job that floods its socket fills no other job's
/// buffer. All sockets that can be read are read in turn.
///
/// The thread holds the lock while it works on one batch of datagrams, and never while it waits.
/// Others take it to change jobs and to read counters.

#include <pthread.h>
#include <stdatomic.h>

#include <gradnic/ps.h>
#include <gradnic/switch.h>

#include "net/clock.h"
#include "net/fault.h"
#include "net/udp_in.h"
#include "switch/daemon/engine.h"
#include "switch/daemon/outbox.h"

typedef struct gn_channel_counters {
    uint64_t batches, datagrams, bytes;  ///< came in, from anyone: UDP payloads
    uint64_t unregistered;               ///< datagrams from unknown addresses: dropped
    uint64_t forged;                     ///< datagrams with a wrong seal: dropped
    uint64_t overrun;                    ///< datagrams that the kernel dropped: the buffer was full
    uint64_t marked;                     ///< datagrams that a queue on the way has marked (ECN)
    uint64_t out_datagrams, out_bytes;   ///< copies for each child, before a bad link
} gn_channel_counters;

/// The keys of a channel's datagrams (gn_agg_seal()).
typedef struct gn_channel_keys {
    bool sealed;  ///< false: datagrams have a CRC, and there are no keys
    // Of what comes from each child, and goes to all of them; of what comes from above, and goes
    // there.
    uint8_t from[GN_AGG_WORKERS_MAX][GN_AGG_KEY], down[GN_AGG_KEY];
    uint8_t from_above[GN_AGG_KEY], up[GN_AGG_KEY];
} gn_channel_keys;

/// A channel: a part of a job's vectors that travels on its own. Or room for one.
typedef struct gn_channel {
    int fd;
    uint16_t udp_port;
    bool used;
    uint16_t job;           ///< its number in the switch
    uint16_t slots;         ///< that it has been granted
    uint32_t overrun_seen;  ///< the kernel's count, over the socket's whole life
    gn_ps *ps;              ///< the channel's own parameter server; NULL: in the role of a switch
    gn_channel_counters counters;
    gn_channel_keys keys;
    gn_sources sources;
} gn_channel;

typedef struct gn_shard {
    pthread_mutex_t lock;
    pthread_t thread;
    atomic_int wanted;  ///< how many wait for the lock
    atomic_bool *stop;
    int poll;  ///< epoll: stop_event and the sockets of channels in use
    int family;
    uint32_t slots_free;
    size_t bound;  ///< gn_agg_bound(slot_values)
    gn_switch sw;
    void *memory;
    const gn_switch_engine *engine;
    void *adds;             ///< the engine's state; NULL: the core adds
    gn_error engine_error;  ///< what ended the engine; to be read when the thread has ended
    gn_fault *in, *out;     ///< bad links
    unsigned channel_count;
    gn_channel *channels;
    gn_switch_counters ended;  ///< of jobs that have ended
    gn_channel_counters channels_ended;
    gn_ps_stats ps_ended;
    uint64_t now;  ///< gn_now() of the round
    gn_outbox *box;
    gn_udp_inbox *inbox;
} gn_shard;

/// What a shard is made with.
typedef struct gn_shard_config {
    gn_switch_config sw;
    const gn_switch_engine *engine;
    uint32_t places;     ///< slots, or chunks under way, that jobs can have here
    gn_endpoint listen;  ///< UDP address; port: of the first channel, 0: any
    unsigned channels;
    size_t buffer_bytes;
    gn_fault_config in, out;
    bool no_offload;
    int stop_event;
    atomic_bool *stop;
} gn_shard_config;

// channels.c: a shard's making, and its channels. Main thread only.

/// @return NULL with `error` set
gn_shard *gn_shard_new(const gn_shard_config *config, gn_error *error);
/// After its thread has ended. NULL allowed.
void gn_shard_free(gn_shard *shard);

/// A channel that is free, and not one of `taken`; -1: none.
int gn_shard_free_channel(const gn_shard *shard, uint64_t taken);

/// Gives a channel to a job. `job`: as for gn_switch_add_job(); its ports are filled in here.
/// `above` is the parent or parameter server (NULL: none).
gn_status gn_shard_add(gn_shard *shard, unsigned channel, gn_switch_job *job, const gn_far_end *children,
                       const gn_far_end *above, const gn_channel_keys *keys);
/// The same for a parameter server: `below` is the switch.
gn_status gn_shard_add_ps(gn_shard *shard, unsigned channel, const gn_ps_config *config, const gn_far_end *below,
                          const gn_channel_keys *keys);
/// Takes a channel back. Nothing of it that is under way comes out any more.
void gn_shard_remove(gn_shard *shard, unsigned channel);

/// Index in the switch of a channel's job, for gn_switch_job_at() and others. With the lock.
unsigned gn_shard_job_index(const gn_shard *shard, unsigned channel);

/// Adds all of `from`'s counters to `to`.
void gn_switch_counters_add(gn_switch_counters *to, const gn_switch_counters *from);
void gn_channel_counters_add(gn_channel_counters *to, const gn_channel_counters *from);
void gn_ps_stats_add(gn_ps_stats *to, const gn_ps_stats *from);

// shard.c: the thread.

/// The thread's function; its argument is the shard.
void *gn_shard_thread(void *shard);

/// For other threads, which the shard's own lets go first.
void gn_shard_lock(gn_shard *shard);
void gn_shard_unlock(gn_shard *shard);

#endif
