// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_H
#define GRADNIC_SWITCH_H
/// @file switch.h
/// A switch that adds gradients: the slot logic alone. A packet goes in, a list of actions comes out. No allocation, no floating point, no
/// clock, no I/O: the caller brings memory, time and a network, be it a daemon, a simulator or a test bench. Same packets,
/// same actions.
///
///     size_t bytes = gn_switch_bytes(&config);            // one piece of memory holds everything
///     gn_switch_init(&sw, &config, malloc(bytes), bytes);
///     gn_switch_add_job(&sw, &job);
///     ... for every datagram:
///     count = gn_switch_rx(&sw, now_ns, port, datagram, bytes, actions);
///     for (i < count) send(gn_action_write(&sw, &actions[i], out, room) bytes to where actions[i] says);
///
/// Memory mode *partitioned* (Sapio et al., "Scaling Distributed Machine Learning with In-Network Aggregation", Algorithms 1 to 4): a job
/// has slots of its own, each in two copies. Chunk psn goes to slot psn mod slots, copy (psn / slots) mod 2. A worker sends
/// a slot's next chunk when it has the result of the one before it; so when all have contributed to one copy, all have the other's result,
/// and it can be overwritten.
///
/// Memory modes *shared* (Lao et al., "ATP: In-network Aggregation for Multi-tenant Learning") and *preemptive* (Wang et al., DSA): one array of
/// slots for all jobs; a chunk's slot follows from a hash of job and psn. Sums that are whole, and contributions that find no slot, go to the job's
/// parameter server (ps.h), which gives out all results. docs/switch.md has the pictures. Above a switch that shares its slots all switches
/// do: sums of any set of contributions go up, to be added to others at the parent, and the parameter server is the root's.
///
/// One object belongs to one thread. Every packet is untrusted: it changes nothing unless job, generation, level, fan-in, port, slot and psn fit.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/aggregate.h>
#include <gradnic/codec.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GN_SWITCH_JOBS_MAX = 64,
    GN_SWITCH_ACTIONS_MAX = 2  ///< that one packet can cause
};

typedef struct gn_switch_config {
    uint32_t slots;        ///< all slots; mode partitioned: each in two copies
    uint16_t slot_values;  ///< most values of a packet, at most GN_AGG_VALUES_MAX
    uint16_t jobs;         ///< most jobs at a time, at most GN_SWITCH_JOBS_MAX
    gn_memory_mode mode;
    uint32_t
        windows;  ///< modes shared, preemptive: chunks that may be under way, in all jobs (their `slots`); 16 bytes each. 0: 4 * slots
} gn_switch_config;

/// A job as one switch sees it. Its children are workers, or the switches below.
typedef struct gn_switch_job {
    uint16_t job;
    uint16_t gen;
    gn_agg_format format;
    int bound_exp;     ///< k of the compressed formats
    uint16_t slots;    ///< chunks under way, a power of two, at most GN_AGG_SLOTS_MAX
    uint8_t level;     ///< 0: children are workers
    uint8_t children;  ///< 1 to 64
    bool has_parent;   ///< a whole sum goes up, and its result comes from there; otherwise this is the root
    uint16_t parent_port;
    uint8_t parent_bit;    ///< at the parent: this switch's bit; where both share slots, the first of its bits
    uint8_t parent_fanin;  ///< bits that make a chunk whole at the parent: as many as it has children, or its `bits`
    uint16_t port[GN_AGG_WORKERS_MAX];  ///< of each child: where its packets come from, and results go to
    uint8_t leader;                     ///< child on the way to the worker that sums what cannot be summed as integers
    uint16_t ps_port;  ///< modes shared, preemptive, without a parent: where the parameter server is, and no child
    /// Modes shared, preemptive, with children that are switches in these modes, too: they pass on contributions of their own children, so each has as many
    /// bits as there are below it, child i those from first_bit[i] (0 for the first, ascending) to the next one's, `bits` in all, at most 64. `level` is
    /// theirs. 0: each child contributes for itself, with its own bit.
    uint8_t bits;
    uint8_t first_bit[GN_AGG_WORKERS_MAX];
} gn_switch_job;

/// Where a packet goes.
typedef enum gn_action_kind {
    GN_TO_PORT,   ///< one packet
    GN_TO_GROUP,  ///< a copy to every child of the job
    GN_TO_PARENT,
    GN_TO_PS,     ///< to the job's parameter server
    GN_TO_NOBODY  ///< dropped, see `reason`
} gn_action_kind;

/// Why a packet led to nothing. Each has a counter.
typedef enum gn_drop {
    GN_DROP_NONE,
    GN_DROP_MALFORMED,   ///< see gn_agg_fault
    GN_DROP_TYPE,        ///< not for a switch
    GN_DROP_JOB,         ///< no such job
    GN_DROP_GEN,         ///< of another start of the job
    GN_DROP_PORT,        ///< came from where this contributor is not
    GN_DROP_LEVEL,       ///< level or fan-in are not this switch's
    GN_DROP_SLOT,        ///< slot and version are not those of the psn
    GN_DROP_STALE,       ///< its chunk's copy has been given to a later chunk
    GN_DROP_EARLY,       ///< more than one phase ahead: no worker that obeys sends it
    GN_DROP_DUPLICATE,   ///< has been added, and the result is not there yet
    GN_DROP_FORMAT,      ///< not the job's format, bound, exponent or number of values
    GN_DROP_STREAM,      ///< a compressed stream that the codec refuses
    GN_DROP_UNEXPECTED,  ///< a result that nobody waits for
    GN_DROPS
} gn_drop;

/// A few words for a reason.
GN_API const char *gn_drop_string(gn_drop reason);

/// Of GN_TO_NOBODY, kind and reason are all that is set.
typedef struct gn_action {
    gn_action_kind kind;
    gn_drop reason;        ///< GN_TO_NOBODY
    uint16_t port;         ///< GN_TO_PORT, GN_TO_PARENT, GN_TO_PS
    uint16_t job_index;    ///< of gn_switch_job_at(): whose children a group is
    gn_agg_packet header;  ///< of the packet to send
    uint32_t
        slot_index;  ///< where in the switch's memory the sums are that are its payload, when it has values and does not `forward`
    bool forward;  ///< the packet that came in goes on with this header and its own payload
} gn_action;

typedef struct gn_switch_counters {
    uint64_t packets, added;            ///< came in; were added to a slot
    uint64_t results, repeated;         ///< sums that became whole; results sent again to one child
    uint64_t partials, partials_again;  ///< sent to the parent or parameter server; again
    uint64_t overflows, forwarded;  ///< chunks that cannot be integers; packets of binary32 that went round the slots
    uint64_t values;                ///< added
    uint64_t up_bytes, down_bytes;  ///< datagrams that came in from children, and from the parent or parameter server
    uint64_t collisions;            ///< found the slot held by another chunk
    uint64_t evictions;             ///< chunks of this job that lost their slot to one of higher priority
    uint64_t to_ps;    ///< contributions that went on to the parameter server, or the parent that shares slots, unadded
    uint64_t fetched;  ///< partial sums that the parameter server asked for
    uint64_t drop[GN_DROPS];
} gn_switch_counters;

/// The switch: a view of its memory. The memory holds no pointers, so it can be copied, hashed and compared.
typedef struct gn_switch {
    struct gn_switch_state *state;
    gn_codec codec[GN_SWITCH_JOBS_MAX];  ///< by job index; int32: for its kernel alone
    gn_codec exact
        [GN_SWITCH_JOBS_MAX];  ///< of sums between switches, and for the parameter server: dense, which has all of int32
} gn_switch;

/// 0 for a configuration that is out of range.
GN_API size_t gn_switch_bytes(const gn_switch_config *config);

/// `memory`: gn_switch_bytes() bytes, aligned as malloc() does (to 64: faster); the caller's, and only to be freed after the last call. @return GN_INVALID, GN_NO_SPACE
GN_API gn_status gn_switch_init(gn_switch *sw, const gn_switch_config *config, void *memory, size_t bytes);

/// Admission. @return GN_OK; GN_INVALID for fields out of range; GN_NO_SPACE when there is no room for its slots (in one piece) or for one more
/// job; GN_MISMATCH when the job is there, with this generation or a later one. An earlier generation is replaced.
GN_API gn_status gn_switch_add_job(gn_switch *sw, const gn_switch_job *job);

/// @return GN_INVALID when there is none.
GN_API gn_status gn_switch_remove_job(gn_switch *sw, uint16_t job);

/// NULL for an index without a job; indices are below config.jobs.
GN_API const gn_switch_job *gn_switch_job_at(const gn_switch *sw, unsigned index);
GN_API const gn_switch_counters *gn_switch_job_counters(const gn_switch *sw, unsigned index);

/// Of all packets that no job can be blamed for.
GN_API const gn_switch_counters *gn_switch_get_counters(const gn_switch *sw);

/// One datagram (UDP payload) that came in on `port` at `now_ns` (any monotonic clock). `actions` has room for GN_SWITCH_ACTIONS_MAX; they are to be carried
/// out (gn_action_write()) before the next call, for slots change. @return their number, at least 1.
GN_API unsigned gn_switch_rx(gn_switch *sw, uint64_t now_ns, uint16_t port, const void *datagram, size_t bytes,
                             gn_action *actions);

/// Makes an action's datagram. @return its bytes, at most gn_agg_bound(slot_values); 0 when `capacity` is less than that, or for GN_TO_NOBODY.
GN_API size_t gn_action_write(const gn_switch *sw, const gn_action *action, void *out, size_t capacity);

/// What a slot's copy waits for: for people who ask why a job is stuck.
typedef struct gn_slot_status {
    uint32_t psn;
    uint64_t seen, missing;  ///< children, as bits
    uint64_t absent;         ///< what is missing of them: the packets' bits, of contributions (otherwise the same)
    uint64_t at_ps;          ///< children whose contributions went on, to the parameter server or the parent
    uint64_t since_ns;       ///< of the first contribution
    bool waits_for_parent;
} gn_slot_status;

/// The first copy, from number `from` on (0 at first), of the job at `index` that waits. @return its number, for the next call plus 1; -1 when there is none.
GN_API int gn_switch_waiting(const gn_switch *sw, unsigned index, unsigned from, gn_slot_status *status);

/// A number for jobs, slots and sums, without counters: equal states have equal hashes.
GN_API uint64_t gn_switch_hash(const gn_switch *sw);

#ifdef __cplusplus
}
#endif
#endif
