// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_WORKER_H
#define GRADNIC_WORKER_H
/// @file worker.h
/// A worker of aggregation in the network. It sums one vector after the other over all workers of a
/// job, through switches (switch.h). This is the protocol alone, without sockets, clock or threads:
/// the caller brings datagrams and time.
///
///     gn_worker_post(worker, send, recv, count);
///     while (!gn_worker_done(worker)) {
///         while ((bytes = gn_worker_send(worker, now, out, room))) transmit(out, bytes);
///         if (receive(in, &bytes, until gn_worker_deadline(worker)))
///             gn_worker_rx(worker, now, in, bytes);
///     }
///
/// Slots. psn = slot + slots * uses: each slot counts its own uses, and goes on counting from
/// vector to vector. A chunk is sent when the result before it in the slot is there. That is all
/// the flow control there is. What is not answered in time is sent again. The time follows the
/// round trips (RFC 6298), and doubles after each attempt.
///
/// Results are the same bits at all workers. They are sums of integers. A chunk with a value that
/// has no integer (NaN, infinite, out of range) is summed by rank 0, in binary32, in the order of
/// ranks.
///
/// Congestion. A result with GN_AGG_ECN halves the window, at most once for all chunks that are
/// under way. Each other result widens it, by one chunk a round trip. The window begins as wide as
/// there are slots. The oldest chunk may always be sent.
///
/// One object belongs to one thread.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/aggregate.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One worker of one job. Opaque.
typedef struct gn_worker gn_worker;

enum {
    GN_WORKER_RANKS_MAX = 1024,  ///< most workers of a job; where they ask for it, see admission.h
    GN_NEVER = -1                ///< no deadline
};

/// What gn_worker_new() needs. Most of it comes from admission.h.
typedef struct gn_worker_config {
    uint16_t job, gen;       ///< number and generation of the job
    uint16_t rank, ranks;    ///< of all workers of the job
    uint8_t bit, children;   ///< this worker's bit at its switch, and that switch's children
    gn_agg_format format;    ///< how values travel
    int bound_exp;           ///< k of the compressed formats
    uint16_t slots;          ///< as granted by the switches
    uint16_t packet_values;  ///< values of a full chunk: the same at all workers
    uint16_t first_window;   ///< chunks that may be under way at first (congestion); 0: all slots
    /// The least and the longest time until a packet is sent again. 0: 1 ms, 1 s. The least must
    /// exceed the usual spread of stragglers.
    uint64_t rto_min_ns, rto_max_ns;
    gn_memory_mode mode;  ///< of the switch that this worker is connected to
    uint16_t priority;    ///< mode preemptive, to begin with; see gn_priority()
    /// Compressed formats: values leave as binary32, and a NIC of this host compresses them
    /// (docs/wire.md, a rule with head 32). The caller marks all packets but those with
    /// GN_AGG_FLOAT.
    bool nic;
    /// Compressed formats: values leave as binary32 behind a shim of kind stored, as a NIC sends
    /// what it cannot compress. Nobody compresses them. Results come as streams all the same.
    bool stored;
    /// Called, when not NULL, once for each value of a vector, in runs, ahead of the first look at
    /// them. It may write them into `send`.
    void (*before)(void *context, size_t first, size_t count);
    /// Asked, when not NULL, ahead of `before`, about a chunk that leaves as a stream. Returns
    /// values that make the same stream as those that `before` would write, or NULL where there
    /// are none. They must stay until the chunk's result is there. `before` is then called only if
    /// the chunk is summed in binary32. So a pass over the values is saved.
    const float *(*plain)(void *context, size_t first, size_t count);
    /// Called, when not NULL, once for each value of a vector, in runs, when their results are in
    /// `recv`. It may change them there.
    void (*after)(void *context, size_t first, size_t count);
    void *context;  ///< for `before`, `plain` and `after`
} gn_worker_config;

/// What a worker has done.
typedef struct gn_worker_stats {
    uint64_t sent, resent, received, ignored;  ///< packets
    uint64_t up_bytes, down_bytes;             ///< bytes of datagrams
    uint64_t late;                             ///< packets sent again though nothing had been lost
    uint64_t fallback_chunks;                  ///< chunks summed in binary32
    double smoothed_rtt_ns;                    ///< round trip
    /// Questions to the parameter server, after three timeouts.
    uint64_t queries;
    /// Contributions that the parameter server asked for.
    uint64_t reminded;
    uint64_t marked;  ///< results with GN_AGG_ECN
    uint64_t cuts;    ///< how often the window was halved
    double window;    ///< how many chunks may be under way
} gn_worker_stats;

/// Makes a worker. The caller frees it with gn_worker_free().
/// @return GN_OK, GN_INVALID, GN_NO_MEMORY.
GN_API gn_status gn_worker_new(gn_worker **worker, const gn_worker_config *config);

/// Frees a worker. NULL is allowed.
GN_API void gn_worker_free(gn_worker *worker);

/// Begins a vector of `count` values. The one before it must be done. `send == recv` is in place;
/// otherwise they must not overlap. Both stay the caller's, and must stay until gn_worker_done().
/// All workers post vectors of the same lengths in the same order.
/// @return GN_OK; GN_INVALID when a vector is under way.
GN_API gn_status gn_worker_post(gn_worker *worker, const float *send, float *recv, size_t count);

/// Says whether the vectors that are posted from now on travel in 16 bits (GN_AGG_HALVES), with
/// format GN_AGG_HALF: the same at all workers. At first they do not. A full chunk then has
/// packet_values values, otherwise half of them, rounded up. Sums keep 11 significant bits.
GN_API void gn_worker_set_halves(gn_worker *worker, bool halves);

/// Sets the priority of what is sent from now on (mode preemptive).
GN_API void gn_worker_set_priority(gn_worker *worker, uint16_t priority);

/// Returns a priority for gn_worker_set_priority(): P = (1/T) * (L/l) * (Comm/Comp), after Wang et
/// al.
///
/// - T is `remaining`, the time that the job still has to go, in any unit that all jobs at a switch
///   share. The less is left, the higher the priority. (docs/deviations.md says what the paper's T
///   is.)
/// - l of L is `layer` of `layers`. 1 is the front layer, which the next iteration needs first.
/// - Comm and Comp are the times of an iteration, as measured.
/// @return P in 16 bits: P = 1 is 256. At least 1 and at most 65535, also for arguments that are
/// out of range, zero or not finite.
GN_API uint16_t gn_priority(double remaining, unsigned layers, unsigned layer, double communication,
                            double computation);

/// Returns true when all results are there.
GN_API bool gn_worker_done(const gn_worker *worker);

/// Writes the next datagram that is due at `now_ns`, for the worker's switch.
/// gn_agg_bound(packet_values) bytes of `capacity` suffice.
/// @return its bytes; 0 when nothing is due.
GN_API size_t gn_worker_send(gn_worker *worker, int64_t now_ns, void *out, size_t capacity);

/// Returns when to call gn_worker_send() though nothing comes in. GN_NEVER when there is no such
/// time.
GN_API int64_t gn_worker_deadline(const gn_worker *worker);

/// Takes a datagram from the switch. It is untrusted: what does not fit is counted and ignored.
/// @return whether it changed anything.
GN_API bool gn_worker_rx(gn_worker *worker, int64_t now_ns, const void *datagram, size_t bytes);

/// Finds the chunk that the worker has waited for longest: its psn, and since when.
/// @return false when it waits for nothing.
GN_API bool gn_worker_waits_for(const gn_worker *worker, uint32_t *psn, int64_t *since_ns);

/// Returns the counters so far.
GN_API gn_worker_stats gn_worker_get_stats(const gn_worker *worker);

#ifdef __cplusplus
}
#endif
#endif
