// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_PS_H
#define GRADNIC_PS_H
/// @file ps.h
/// The parameter server of aggregation in the network, for one job. The memory modes shared and
/// preemptive of switch.h need it. It merges what finds no slot in the switch. It remembers results
/// and gives them to everyone. It sees to it that every chunk is finished. This is the protocol
/// alone, without sockets, clock or threads: the caller brings datagrams and time.
///
///     while (job is there) {
///         while ((bytes = gn_ps_send(ps, now, out, room))) transmit(out, bytes);  // to the switch
///         if (receive(in, &bytes, until gn_ps_deadline(ps))) gn_ps_rx(ps, now, in, bytes);
///     }
///
/// It hears of every chunk, because the switch sends it whole sums, too. So it remembers every
/// result that a worker has. It keeps the result of a slot until all workers have contributed to
/// the slot's next chunk; then all have it. That is two chunks a slot. So its memory is bounded by
/// 2 * slots * (4 * packet_values + 120) bytes.
///
/// It adds only disjoint sets of contributions. When two sets overlap, after losses, it keeps the
/// larger one, and asks again for what was only in the other. It asks for what is not whole after a
/// time that follows the usual spread of contributions: first the switch, then the workers.
///
/// One object belongs to one thread. Every packet is untrusted.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/aggregate.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The parameter server of one job. Opaque.
typedef struct gn_ps gn_ps;

/// A job, as in the switch's gn_switch_job.
typedef struct gn_ps_config {
    uint16_t job, gen;        ///< number and generation of the job
    gn_agg_format format;     ///< how values travel
    int bound_exp;            ///< k of the compressed formats
    uint16_t slots;           ///< chunks under way, a power of two
    uint16_t packet_values;   ///< most values of a packet
    uint8_t level, children;  ///< of the switch
    /// The least and the longest time until a reminder. 0: 1 ms, 1 s. The least must exceed the
    /// usual spread of stragglers.
    uint64_t rto_min_ns, rto_max_ns;
} gn_ps_config;

/// What a parameter server has done.
typedef struct gn_ps_stats {
    uint64_t received, ignored, sent;  ///< packets
    uint64_t in_bytes, out_bytes;      ///< bytes of datagrams
    /// Chunks that the switch had summed; chunks that came in parts.
    uint64_t whole, merged;
    uint64_t overflows;                           ///< chunks without a sum of integers
    uint64_t answers;                             ///< results told again, to one worker
    uint64_t reminders_switch, reminders_worker;  ///< reminders sent
    /// Partial sums given up because they shared contributions.
    uint64_t overlaps;
    uint64_t duplicates;        ///< packets that had nothing new
    double smoothed_spread_ns;  ///< time from a chunk's first part to its last
} gn_ps_stats;

/// Makes a parameter server. The caller frees it with gn_ps_free().
/// @return GN_OK, GN_INVALID, GN_NO_MEMORY.
GN_API gn_status gn_ps_new(gn_ps **ps, const gn_ps_config *config);

/// Frees a parameter server. NULL is allowed.
GN_API void gn_ps_free(gn_ps *ps);

/// Takes a datagram from the switch. What does not fit is counted and ignored.
/// @return whether it changed anything.
GN_API bool gn_ps_rx(gn_ps *ps, int64_t now_ns, const void *datagram, size_t bytes);

/// Writes the next datagram that is due at `now_ns`, for the switch. gn_agg_bound(packet_values)
/// bytes of `capacity` suffice.
/// @return its bytes; 0 when nothing is due.
GN_API size_t gn_ps_send(gn_ps *ps, int64_t now_ns, void *out, size_t capacity);

/// Returns when to call gn_ps_send() though nothing comes in. -1 when there is no such time.
GN_API int64_t gn_ps_deadline(const gn_ps *ps);

/// Finds the chunk that has been incomplete for longest: its psn, who is missing, and since when.
/// @return false when there is none.
GN_API bool gn_ps_waits_for(const gn_ps *ps, uint32_t *psn, uint64_t *missing, int64_t *since_ns);

/// Returns the counters so far.
GN_API gn_ps_stats gn_ps_get_stats(const gn_ps *ps);

#ifdef __cplusplus
}
#endif
#endif
