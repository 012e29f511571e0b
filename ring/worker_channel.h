// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_WORKER_CHANNEL_H
#define GRADNIC_RING_WORKER_CHANNEL_H
/// A channel of the algorithm switch: a run of every vector, with a UDP socket and a protocol
/// worker (gradnic/worker.h) of its own. One thread runs it: that of the collective, or one of its
/// own. No other thread touches what is not atomic.

#include <pthread.h>
#include <stdatomic.h>

#include <gradnic/worker.h>

#include "ring/exchange.h"

typedef struct gn_part_socket gn_part_socket;

/// Keys of sealed datagrams, as aggregate.h has them.
typedef struct gn_datagram_keys {
    bool sealed;  ///< false: datagrams have a CRC, and there are no keys
    uint8_t up[GN_AGG_KEY], down[GN_AGG_KEY];
} gn_datagram_keys;

typedef struct gn_worker_channel {
    int fd;
    gn_datagram_keys keys;  ///< the owner sets them before it opens the channel
    gn_worker *worker;
    gn_part_socket *io;
    uint16_t packet_values;
    uint8_t tos;             ///< of values that a NIC is to compress; other datagrams have 0
    gn_exchange x;           ///< of this channel: its own histogram, its own account of time
    uint64_t *histogram;     ///< NULL until one is wanted
    size_t first;            ///< its first value in the vector
    gn_worker_stats before;  ///< as this collective began
    pthread_t thread;
    atomic_size_t finished;       ///< values that have their results
    atomic_uint_least64_t moved;  ///< when a datagram last was of use
    atomic_int failed;            ///< errno of a socket that cannot be used any more
    atomic_bool done;             ///< all results are there...
    atomic_bool fell;             ///< ... some summed by rank 0, whom others may still ask
} gn_worker_channel;

/// Opens it on the socket `fd`, which is there already. `config` is the worker's, but for before,
/// after and context. `tos` is for config.nic. @return GN_OK, GN_NO_MEMORY, GN_INVALID
gn_status gn_worker_channel_open(gn_worker_channel *channel, const gn_worker_config *config, uint8_t tos);
void gn_worker_channel_close(gn_worker_channel *channel);

/// Begins values [first, first + count) of the exchange's bucket. With `count` 0 this collective
/// has nothing for it. @return GN_OK, GN_NO_MEMORY
gn_status gn_worker_channel_post(gn_worker_channel *channel, const gn_exchange *exchange, size_t first, size_t count);

/// Receives and sends what there is. @return whether there was something
bool gn_worker_channel_move(gn_worker_channel *channel, uint64_t now);

/// What to wait for, and until when: milliseconds, rounded up, or -1.
short gn_worker_channel_events(const gn_worker_channel *channel);
int gn_worker_channel_wait_ms(const gn_worker_channel *channel, uint64_t now);

#endif
