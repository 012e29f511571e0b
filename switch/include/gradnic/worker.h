// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_WORKER_H
#define GRADNIC_WORKER_H
/// @file worker.h
/// A worker of aggregation in the network: sums one vector after the other over all workers of a job, through switches (switch.h). The
/// protocol alone, without sockets, clock or threads: the caller brings datagrams and time.
///
///     gn_worker_post(worker, send, recv, count);
///     while (!gn_worker_done(worker)) {
///         while ((bytes = gn_worker_send(worker, now, out, room))) transmit(out, bytes);
///         if (receive(in, &bytes, until gn_worker_deadline(worker))) gn_worker_rx(worker, now, in, bytes);
///     }
///
/// Slots: psn = slot + slots * uses, so each slot counts for itself and goes on counting from vector to vector. A chunk is sent when the slot's
/// result before it is there, which is all the flow control there is. What is not answered within a time that follows the round trips
/// (RFC 6298's estimate, doubled after each attempt) is sent again.
///
/// Results are the same bits at all workers: sums of integers, or, for chunks with a value that has no integer (NaN, infinite, out of range), sums in
/// binary32 in the order of ranks, made by rank 0.
///
/// Congestion: a result with GN_AGG_ECN halves the window, at most once for all chunks that are under way, others widen it by one chunk a round trip. It
/// begins as wide as there are slots, and the oldest chunk may always be sent.
///
/// One object belongs to one thread.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/aggregate.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gn_worker gn_worker;

enum {
    GN_WORKER_RANKS_MAX = 256,
    GN_NEVER = -1  ///< no deadline
};

typedef struct gn_worker_config {
    uint16_t job, gen;
    uint16_t rank, ranks;   ///< of all workers of the job
    uint8_t bit, children;  ///< this worker's bit at its switch, and that switch's children
    gn_agg_format format;
    int bound_exp;                    ///< k of the compressed formats
    uint16_t slots;                   ///< as the job has at the switches
    uint16_t packet_values;           ///< of a full chunk: the same at all workers
    uint64_t rto_min_ns, rto_max_ns;  ///< 0: 1 ms, 1 s. The least must exceed the usual spread of stragglers.
    gn_memory_mode mode;              ///< of the switch that this worker is connected to
    uint16_t priority;                ///< mode preemptive, to begin with: see gn_priority()
    /// Compressed formats: values leave as binary32, for a NIC of this host (docs/wire.md, a rule with head 32) to compress. All but GN_AGG_FLOAT's
    /// are to be marked for it.
    bool nic;
    /// Called, where not NULL, once for each value of a vector, in runs: `before` ahead of the first look at them, which may write them into
    /// `send`; `after` when their results are in `recv`, which may change them there.
    void (*before)(void *context, size_t first, size_t count);
    void (*after)(void *context, size_t first, size_t count);
    void *context;
} gn_worker_config;

typedef struct gn_worker_stats {
    uint64_t sent, resent, received, ignored;  ///< packets
    uint64_t up_bytes, down_bytes;             ///< datagrams
    uint64_t late;                             ///< resent, and it turned out that nothing had been lost
    uint64_t fallback_chunks;                  ///< summed in binary32
    double smoothed_rtt_ns;
    uint64_t queries;   ///< to the parameter server, after three timeouts
    uint64_t reminded;  ///< contributions that the parameter server asked for
    uint64_t marked;    ///< results with GN_AGG_ECN
    uint64_t cuts;      ///< of the window
    double window;      ///< chunks: how many may be under way
} gn_worker_stats;

/// @return GN_OK, GN_INVALID, GN_NO_MEMORY. The caller frees with gn_worker_free() (NULL allowed).
GN_API gn_status gn_worker_new(gn_worker **worker, const gn_worker_config *config);
GN_API void gn_worker_free(gn_worker *worker);

/// Begins a vector of `count` values; the one before it is done. `send == recv` is in place, otherwise no overlap; both stay the caller's and
/// have to stay until gn_worker_done(). All workers post vectors of the same lengths in the same order. @return GN_INVALID when one is under way.
GN_API gn_status gn_worker_post(gn_worker *worker, const float *send, float *recv, size_t count);

/// The priority of what is sent from now on (mode preemptive).
GN_API void gn_worker_set_priority(gn_worker *worker, uint16_t priority);

/// A priority for gn_worker_set_priority(): Wang et al.'s P = (1/T) * (L/l) * (Comm/Comp). `remaining` is the time T that the job still has to go (the
/// less, the sooner it is done), in any unit that all jobs at a switch share; layer l of L, 1 is the front one, which the next iteration needs
/// first; `communication` and `computation` are the times of an iteration as measured. Quantised to 16 bits: P = 1 is 256, at least 1, at most 65535 (out of
/// range, zero and not finite included).
GN_API uint16_t gn_priority(double remaining, unsigned layers, unsigned layer, double communication,
                            double computation);

/// Whether all results are there.
GN_API bool gn_worker_done(const gn_worker *worker);

/// The next datagram that is due at `now_ns`, to the worker's switch. @return its bytes; 0 when nothing is due. `capacity`: gn_agg_bound(packet_values).
GN_API size_t gn_worker_send(gn_worker *worker, int64_t now_ns, void *out, size_t capacity);

/// When something will be due though nothing comes in: to call gn_worker_send() then. GN_NEVER when there is no such time.
GN_API int64_t gn_worker_deadline(const gn_worker *worker);

/// A datagram from the switch. Untrusted: what does not fit is counted and ignored. @return whether anything came of it.
GN_API bool gn_worker_rx(gn_worker *worker, int64_t now_ns, const void *datagram, size_t bytes);

/// What the worker has waited for longest: its psn, and since when. False when it waits for nothing.
GN_API bool gn_worker_waits_for(const gn_worker *worker, uint32_t *psn, int64_t *since_ns);

GN_API gn_worker_stats gn_worker_get_stats(const gn_worker *worker);

#ifdef __cplusplus
}
#endif
#endif
