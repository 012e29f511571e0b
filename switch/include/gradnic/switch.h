// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_H
#define GRADNIC_SWITCH_H
/// @file switch.h
/// A switch that adds gradients: the slot logic alone. A packet goes in, a list of actions comes
/// out. There is no allocation, no floating point, no clock and no I/O. The caller brings memory,
/// time and a network: a daemon, a simulator or a test bench. The same packets give the same
/// actions.
///
///     size_t bytes = gn_switch_bytes(&config);            // one piece of memory holds everything
///     gn_switch_init(&sw, &config, malloc(bytes), bytes);
///     gn_switch_add_job(&sw, &job);
///     ... for every datagram:
///     count = gn_switch_rx(&sw, now_ns, port, datagram, bytes, actions);
///     for (i < count) send(out, gn_action_write(&sw, &actions[i], out, room), to where it says);
///
/// There are three memory modes. docs/switch.md has pictures of them.
///
/// - *partitioned* (Sapio et al., "Scaling Distributed Machine Learning with In-Network
///   Aggregation", Algorithms 1 to 4): a job has slots of its own, each in two copies. Chunk psn
///   goes to slot psn mod slots, copy (psn / slots) mod 2. A worker sends a slot's next chunk when
///   it has the result of the one before. So when all have contributed to one copy, all have the
///   result in the other, and that copy can be overwritten.
/// - *shared* (Lao et al., "ATP: In-network Aggregation for Multi-tenant Learning"): one array of
///   slots serves all jobs. A hash of job and psn gives a chunk's slot. Whole sums, and
///   contributions that find no slot, go to the job's parameter server (ps.h), which gives out all
///   results.
/// - *preemptive* (Wang et al., DSA): the same, but a chunk of higher priority takes the slot of
///   one of lower priority.
///
/// Above a switch that shares its slots, all switches share theirs. Sums of any set of
/// contributions go up, and the parent adds them to others. The parameter server is the root's.
///
/// One object belongs to one thread. Every packet is untrusted: it changes nothing unless job,
/// generation, level, fan-in, port, slot and psn fit.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/aggregate.h>
#include <gradnic/codec.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GN_SWITCH_JOBS_MAX = 64,   ///< most jobs of a switch
    GN_SWITCH_ACTIONS_MAX = 2  ///< most actions that one packet causes
};

/// Modes shared and preemptive, at the root: what becomes of a whole sum.
typedef enum gn_results {
    GN_RESULTS_SERVER,  ///< it goes to the parameter server, and its slot is free
    /// As in ATP: its slot stays taken until the parameter server's result passes.
    GN_RESULTS_HELD,
    /// As in DSA: it goes to all workers, and a copy to the parameter server, which answers those
    /// who ask. No packet may be lost: a result that is missed both by a worker and by the
    /// parameter server is gone. For simulations.
    GN_RESULTS_DIRECT,
    GN_RESULTS_WAYS  ///< the number of ways, not a way
} gn_results;

/// Mode preemptive: who takes a slot that another chunk holds. The last two are what Wang et al.
/// compare with. For simulations.
typedef enum gn_preempting {
    GN_PREEMPT_BY_PRIORITY,  ///< the chunk of higher priority
    GN_PREEMPT_ALWAYS,       ///< whoever comes
    GN_PREEMPT_ALTERNATELY,  ///< at every other collision whoever comes
    GN_PREEMPTINGS           ///< the number of policies, not a policy
} gn_preempting;

/// How much memory a switch has, and how jobs share it.
typedef struct gn_switch_config {
    uint32_t slots;        ///< slots for all jobs; mode partitioned: each in two copies
    uint16_t slot_values;  ///< most values of a packet, at most GN_AGG_VALUES_MAX
    uint16_t jobs;         ///< most jobs at a time, at most GN_SWITCH_JOBS_MAX
    gn_memory_mode mode;   ///< how jobs share slots
    /// Modes shared, preemptive: chunks that may be under way in all jobs, 16 bytes each. 0: 4 *
    /// slots.
    uint32_t windows;
    gn_results results;        ///< what becomes of a whole sum; not in mode partitioned
    gn_preempting preempting;  ///< mode preemptive
} gn_switch_config;

/// A job as one switch sees it. Its children are workers, or the switches below.
typedef struct gn_switch_job {
    uint16_t job;          ///< its number
    uint16_t gen;          ///< its generation
    gn_agg_format format;  ///< how values travel
    int bound_exp;         ///< k of the compressed formats
    /// Chunks under way, a power of two, at most GN_AGG_SLOTS_MAX.
    uint16_t slots;
    uint8_t level;     ///< 0: children are workers
    uint8_t children;  ///< 1 to 64
    /// A whole sum goes up, and its result comes down; false: the root.
    bool has_parent;
    uint16_t parent_port;  ///< where the parent is
    /// This switch's bit at the parent; where both share slots, its first bit.
    uint8_t parent_bit;
    /// Bits of a whole chunk at the parent: its children, or its `bits`.
    uint8_t parent_fanin;
    uint16_t port[GN_AGG_WORKERS_MAX];  ///< of each child: packets come from it, results go to it
    /// Child on the way to rank 0, which sums what has no integers.
    uint8_t leader;
    /// Modes shared, preemptive, at the root: the parameter server, not a child.
    uint16_t ps_port;
    /// 0: each child contributes for itself, with its own bit.
    ///
    /// Otherwise, in modes shared and preemptive, the children are switches in these modes. They
    /// pass on contributions of their own children, so each has as many bits as contributors below
    /// it. Child i has the bits from first_bit[i] to the next one's. first_bit[0] is 0, the others
    /// ascend, and there are `bits` in all, at most 64. `level` is that of the children.
    uint8_t bits;
    uint8_t first_bit[GN_AGG_WORKERS_MAX];  ///< see `bits`
} gn_switch_job;

/// Where a packet goes.
typedef enum gn_action_kind {
    GN_TO_PORT,   ///< one packet
    GN_TO_GROUP,  ///< a copy to every child of the job
    GN_TO_PARENT,
    GN_TO_PS,     ///< to the job's parameter server
    GN_TO_NOBODY  ///< it is dropped, see `reason`
} gn_action_kind;

/// Why a packet led to nothing. Each has a counter.
typedef enum gn_drop {
    GN_DROP_NONE,        ///< not dropped
    GN_DROP_MALFORMED,   ///< see gn_agg_fault
    GN_DROP_TYPE,        ///< not for a switch
    GN_DROP_JOB,         ///< no such job
    GN_DROP_GEN,         ///< from another start of the job
    GN_DROP_PORT,        ///< did not come from where this contributor is
    GN_DROP_LEVEL,       ///< not this switch's level or fan-in
    GN_DROP_SLOT,        ///< slot and version do not fit the psn
    GN_DROP_STALE,       ///< a later chunk has its copy
    GN_DROP_EARLY,       ///< more than one use ahead; no worker that obeys sends it
    GN_DROP_DUPLICATE,   ///< was added before, and the result is not there yet
    GN_DROP_FORMAT,      ///< not the job's format, bound, exponent or number of values
    GN_DROP_STREAM,      ///< a compressed stream that the codec refuses
    GN_DROP_UNEXPECTED,  ///< a result that nobody waits for
    GN_DROPS             ///< the number of reasons, not a reason
} gn_drop;

/// Returns a few words for a reason.
GN_API const char *gn_drop_string(gn_drop reason);

/// What to do because of a packet. With GN_TO_NOBODY only `kind` and `reason` are set.
typedef struct gn_action {
    gn_action_kind kind;   ///< where a packet goes
    gn_drop reason;        ///< GN_TO_NOBODY
    uint16_t port;         ///< GN_TO_PORT, GN_TO_PARENT, GN_TO_PS
    uint16_t job_index;    ///< for gn_switch_job_at(): the job
    gn_agg_packet header;  ///< of the packet to send
    /// Where in the switch's memory the payload's sums are, when the packet has values and
    /// `forward` is false.
    uint32_t slot_index;
    bool forward;  ///< the packet that came in goes on, with this header and its own payload
} gn_action;

/// What a switch has done, for one job.
typedef struct gn_switch_counters {
    uint64_t packets, added;            ///< packets that came in; that were added to a slot
    uint64_t results, repeated;         ///< sums that became whole; results sent again to one child
    uint64_t partials, partials_again;  ///< sums sent to the parent or parameter server; sent again
    /// Chunks without integers; packets of binary32 that went past the slots.
    uint64_t overflows, forwarded;
    uint64_t values;  ///< values added
    /// Bytes of datagrams from children; from the parent or parameter server.
    uint64_t up_bytes, down_bytes;
    uint64_t collisions;  ///< packets that found their slot held by another chunk
    /// Chunks of this job that lost their slot to a higher priority.
    uint64_t evictions;
    /// Contributions that went on without being added: to the parameter server, or to a parent that
    /// shares slots.
    uint64_t to_ps;
    uint64_t fetched;         ///< partial sums that the parameter server asked for
    uint64_t drop[GN_DROPS];  ///< packets dropped, by reason
} gn_switch_counters;

/// The switch: a view of its memory. The memory holds no pointers, so it can be copied, hashed and
/// compared.
typedef struct gn_switch {
    struct gn_switch_state *state;       ///< the memory
    gn_codec codec[GN_SWITCH_JOBS_MAX];  ///< by job index; int32: only its kernel counts
    /// For sums between switches and for the parameter server: dense, which has all of int32.
    gn_codec exact[GN_SWITCH_JOBS_MAX];
} gn_switch;

/// Returns the bytes of memory that a switch needs; 0 for a configuration that is out of range.
GN_API size_t gn_switch_bytes(const gn_switch_config *config);

/// Makes a switch in `memory`: gn_switch_bytes() bytes, aligned as by malloc(); 64 is faster. The
/// caller owns the memory, and frees it after the last call.
/// @return GN_OK, GN_INVALID, GN_NO_SPACE.
GN_API gn_status gn_switch_init(gn_switch *sw, const gn_switch_config *config, void *memory, size_t bytes);

/// Admits a job. An earlier generation of the same job is replaced.
/// @return GN_OK; GN_INVALID for fields out of range; GN_NO_SPACE when its slots (in one piece) or
/// one more job do not fit; GN_MISMATCH when the job is there with this generation or a later one.
GN_API gn_status gn_switch_add_job(gn_switch *sw, const gn_switch_job *job);

/// Removes a job. @return GN_OK; GN_INVALID when there is no such job.
GN_API gn_status gn_switch_remove_job(gn_switch *sw, uint16_t job);

/// Returns the job at an index below config.jobs; NULL when there is none. Owned by the switch.
GN_API const gn_switch_job *gn_switch_job_at(const gn_switch *sw, unsigned index);

/// Returns the counters of the job at an index; NULL when there is none. Owned by the switch.
GN_API const gn_switch_counters *gn_switch_job_counters(const gn_switch *sw, unsigned index);

/// Returns the counters of packets that belong to no job. Owned by the switch.
GN_API const gn_switch_counters *gn_switch_get_counters(const gn_switch *sw);

/// Takes one datagram (UDP payload) that came in on `port` at `now_ns` (any monotonic clock).
/// `actions` has room for GN_SWITCH_ACTIONS_MAX. Carry them out with gn_action_write() before the
/// next call, because slots change.
/// @return the number of actions, at least 1.
GN_API unsigned gn_switch_rx(gn_switch *sw, uint64_t now_ns, uint16_t port, const void *datagram, size_t bytes,
                             gn_action *actions);

/// Writes an action's datagram. gn_agg_bound(slot_values) bytes of `capacity` suffice.
/// @return its bytes; 0 when `capacity` is too small, or for GN_TO_NOBODY.
GN_API size_t gn_action_write(const gn_switch *sw, const gn_action *action, void *out, size_t capacity);

/// What a slot's copy waits for. For people who ask why a job is stuck.
typedef struct gn_slot_status {
    uint32_t psn;            ///< number of the chunk
    uint64_t seen, missing;  ///< children, as bits
    uint64_t absent;         ///< missing contributions, as the bits of packets
    /// Children whose contributions went on, to the parameter server or the parent.
    uint64_t at_ps;
    uint64_t since_ns;      ///< time of the first contribution
    bool waits_for_parent;  ///< the sum is whole, and its result has not come
} gn_slot_status;

/// Finds the first copy that waits, of the job at `index`, from number `from` on. Begin with 0.
/// @return its number, which plus 1 is `from` of the next call; -1 when there is none.
GN_API int gn_switch_waiting(const gn_switch *sw, unsigned index, unsigned from, gn_slot_status *status);

/// Returns a hash of jobs, slots and sums, without counters. Equal states have equal hashes.
GN_API uint64_t gn_switch_hash(const gn_switch *sw);

#ifdef __cplusplus
}
#endif
#endif
