// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_WORKER_H
#define GRADNIC_SWITCH_WORKER_H
/// The inside of a worker. The protocol is in worker.c, its window in congestion.c, what rank 0
/// does beside it in leader.c, and what these three do with slots in slots.h.

#include <gradnic/worker.h>

#include "rtt.h"

typedef enum gn_slot_phase {
    GN_SLOT_FREE,
    GN_SLOT_LOOK,  ///< block floating point: the worker asks for the unit of its first chunk, without values
    GN_SLOT_DATA,
    GN_SLOT_FLOAT  ///< the chunk has no sum of integers: rank 0 sums binary32
} gn_slot_phase;

/// A chunk that rank 0 sums in binary32.
typedef struct gn_leading gn_leading;

typedef struct gn_worker_slot {
    gn_slot_phase phase;
    uint32_t uses;     ///< psn = slot + slots * uses
    size_t chunk;      ///< of the vector
    int8_t unit;       ///< block floating point: of this chunk's integers
    int8_t next_unit;  ///< of the next chunk, as an OVERFLOW said
    bool is_due;
    bool tell_result;  ///< rank 0: the sum in binary32 is to be sent (first, or again)
    bool reminded;     ///< the parameter server has asked for the contribution
    bool held;         ///< it could be sent, but the window is full
    bool opens;        ///< the vector's first chunk in this slot: others may not have begun
    /// This chunk comes later than those of others: the result before it had to be asked for again,
    /// or the window held it.
    bool lags;
    const float *plain;  ///< what its stream is made of, as config.plain has said; NULL: `send`
    unsigned attempts;
    /// When it was first sent (GN_NEVER: not yet), last sent, and is to be sent again.
    int64_t since_ns, sent_ns, deadline_ns;
    gn_leading *leading;  ///< rank 0: of this chunk, or of an earlier one that is still asked for
} gn_worker_slot;

struct gn_worker {
    gn_worker_config config;
    gn_codec codec;
    const float *send;
    float *recv;
    size_t count, chunks, remaining;  ///< values, chunks, chunks without a result
    bool next_halves, halves;         ///< of the next vector, of this one
    uint16_t chunk_values;            ///< of a full chunk of this vector
    gn_worker_slot *slots;
    uint16_t *due;  ///< a queue of slots, each at most once
    unsigned due_first, due_count;
    int32_t *integers;      ///< of one chunk
    int64_t next_deadline;  ///< no slot's is earlier
    gn_rtt rtt;
    uint16_t priority;
    double window;       ///< chunks that may be under way
    size_t base, limit;  ///< the oldest chunk without a result; the first that may not be sent yet
    size_t sent_until;   ///< this chunk, and those after it, have not been sent
    size_t cut_until;    ///< a mark on a chunk before this one has had its cut already
    gn_worker_stats stats;
};

// congestion.c

/// The window at the beginning of a job, and of a vector.
void gn_congestion_new(gn_worker *worker);
void gn_congestion_begin(gn_worker *worker);

/// Whether the window has room for the slot's chunk. If not, the slot becomes due once it has.
bool gn_congestion_admits(gn_worker *worker, gn_worker_slot *slot);

/// A chunk's result has come.
void gn_congestion_result(gn_worker *worker, size_t chunk, bool marked);

// leader.c

/// Whether this worker has to send its values of a chunk in GN_SLOT_FLOAT. Rank 0 does not, for it
/// has them.
bool gn_leader_must_ask(const gn_worker *worker, const gn_worker_slot *slot);

/// Rank 0: takes its own values of a chunk.
void gn_leader_own(gn_worker *worker, gn_worker_slot *slot);

/// Rank 0: takes another rank's values. @return whether they were of use
bool gn_leader_take(gn_worker *worker, gn_worker_slot *slot, const gn_agg_packet *packet);

/// Rank 0: writes the result as a datagram. @return its bytes
size_t gn_leader_write(const gn_worker *worker, const gn_worker_slot *slot, void *out, size_t capacity);

void gn_leader_free(gn_leading *leading);

/// For tests that copy and compare workers.
size_t gn_leading_bytes(const gn_worker_config *config);
unsigned gn_leading_present(const gn_leading *leading);

#endif
