// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_PS_H
#define GRADNIC_PS_H
/// @file ps.h
/// The parameter server of aggregation in the network, for one job: memory modes shared and preemptive of switch.h. It merges what finds no slot
/// in the switch, remembers results and gives them to everyone, and sees to it that every chunk is finished. The protocol alone, without sockets,
/// clock or threads: the caller brings datagrams and time.
///
///     while (job is there) {
///         while ((bytes = gn_ps_send(ps, now, out, room))) transmit(out, bytes);      // all of it to the switch
///         if (receive(in, &bytes, until gn_ps_deadline(ps))) gn_ps_rx(ps, now, in, bytes);
///     }
///
/// It hears of every chunk: the switch sends it whole sums, too, so no worker has a result that it does not remember. It remembers a
/// slot's result until all have contributed to the slot's next chunk, when all have got it: two chunks a slot, so its memory is bounded
/// by 2 * slots * (4 * packet_values + 120) bytes.
///
/// Only disjoint sets of contributions are added up. When two overlap (after losses), the larger is kept, and whoever was only in the other is asked for
/// its contribution. What is not whole after a time that follows the usual spread of contributions is asked for: at the switch first, then at the workers.
///
/// One object belongs to one thread. Every packet is untrusted.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/aggregate.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gn_ps gn_ps;

/// As the switch's gn_switch_job has it.
typedef struct gn_ps_config {
    uint16_t job, gen;
    gn_agg_format format;
    int bound_exp;            ///< k of the compressed formats
    uint16_t slots;           ///< chunks under way, a power of two
    uint16_t packet_values;   ///< most values of a packet
    uint8_t level, children;  ///< of the switch
    uint64_t rto_min_ns,
        rto_max_ns;  ///< until a reminder; 0: 1 ms, 1 s. The least must exceed the usual spread of stragglers.
} gn_ps_config;

typedef struct gn_ps_stats {
    uint64_t received, ignored, sent;  ///< packets
    uint64_t in_bytes, out_bytes;      ///< datagrams
    uint64_t whole, merged;            ///< chunks that the switch had summed; chunks that came in parts
    uint64_t overflows;                ///< chunks without a sum of integers
    uint64_t answers;                  ///< results told again, to one worker
    uint64_t reminders_switch, reminders_worker;
    uint64_t overlaps;    ///< partial sums that were given up because they shared contributions
    uint64_t duplicates;  ///< that had nothing new
    double smoothed_spread_ns;
} gn_ps_stats;

/// @return GN_OK, GN_INVALID, GN_NO_MEMORY. The caller frees with gn_ps_free() (NULL allowed).
GN_API gn_status gn_ps_new(gn_ps **ps, const gn_ps_config *config);
GN_API void gn_ps_free(gn_ps *ps);

/// A datagram from the switch. What does not fit is counted and ignored. @return whether anything came of it.
GN_API bool gn_ps_rx(gn_ps *ps, int64_t now_ns, const void *datagram, size_t bytes);

/// The next datagram that is due at `now_ns`, to the switch. @return its bytes; 0 when nothing is due. `capacity`: gn_agg_bound(packet_values).
GN_API size_t gn_ps_send(gn_ps *ps, int64_t now_ns, void *out, size_t capacity);

/// When something will be due though nothing comes in: to call gn_ps_send() then. -1 when there is no such time.
GN_API int64_t gn_ps_deadline(const gn_ps *ps);

/// The chunk that has been incomplete for longest: its psn, who is missing, since when. False when there is none.
GN_API bool gn_ps_waits_for(const gn_ps *ps, uint32_t *psn, uint64_t *missing, int64_t *since_ns);

GN_API gn_ps_stats gn_ps_get_stats(const gn_ps *ps);

#ifdef __cplusplus
}
#endif
#endif
