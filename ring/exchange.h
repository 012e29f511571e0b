// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_EXCHANGE_H
#define GRADNIC_RING_EXCHANGE_H
/// One collective while it runs: what happens to the values (quantise.c). It does not depend on the
/// way they travel (ring.c, worker_aggregator.c, switched_run.c). Everything works on ranges, so
/// that it is done where the data is touched anyway.

#include "ring/choice.h"
#include "ring/group.h"

/// What of a ring's two legs runs. In each leg alone, rank r ends or begins with block r.
typedef enum gn_legs { GN_LEGS_BOTH, GN_LEG_REDUCE, GN_LEG_GATHER } gn_legs;

/// The owner sets `legs`, `starts`, `type` and `exact` before gn_exchange_prepare(). Zeros are an
/// allreduce of binary32.
typedef struct gn_exchange {
    gn_comm *comm;
    const gn_bucket *bucket;  ///< its buffers hold elements of `type`
    gn_legs legs;             ///< the ring only
    gn_choice choice;         ///< algorithm auto
    const gn_circle *circle;  ///< who exchanges; NULL: all ranks
    const size_t *starts;     ///< the ring only: block b begins at starts[b]; NULL: equal blocks
    gn_type type;             ///< a staged one (collectives/types.h)
    bool narrow;              ///< the caller's vector has 16-bit floats
    bool exact;               ///< no codec: elements travel as they are
    bool by_messages;         ///< on the connections for messages (peers/), not on those for values
    size_t width;             ///< bytes of an element
    /// Moves the values, once prepared, as the communicator's algorithm does it.
    gn_status (*move)(struct gn_exchange *exchange);
    bool own_pass;  ///< contributions are changed before they are summed
    bool sum_pass;  ///< paper: a reduced block goes through the codec before it is sent back
    int shift;      ///< contributions are multiplied by 2^shift
    float scale, unscale;
    float divisor;        ///< 1, or the number of contributions
    bool finish_pass;     ///< results are divided or scaled back
    uint64_t *histogram;  ///< [4][256] of exponents, for the next scale; NULL: not wanted
    bool offered;
    uint64_t quantising, reducing;  ///< time spent so far
} gn_exchange;

/// Who exchanges.
static inline const gn_circle *gn_exchange_circle(const gn_exchange *exchange)
{
    return exchange->circle ? exchange->circle : &exchange->comm->whole;
}

/// Ranks that may send this one their values, where it is an aggregator; otherwise 0
/// (groups/groups.c).
size_t gn_comm_workers(const gn_comm *comm);

/// Bytes of staging that a communicator needs, from its own size and segment.
size_t gn_ring_memory(const gn_comm *comm);
size_t gn_ring_coded_memory(const gn_comm *comm);
size_t gn_aggregator_memory(const gn_comm *comm);
size_t gn_aggregator_coded_memory(const gn_comm *comm);
size_t gn_direct_memory(const gn_comm *comm);
size_t gn_direct_coded_memory(const gn_comm *comm);

gn_status gn_ring_run(gn_exchange *exchange);
gn_status gn_ring_coded_run(gn_exchange *exchange);
gn_status gn_aggregator_run(gn_exchange *exchange);
gn_status gn_aggregator_coded_run(gn_exchange *exchange);
gn_status gn_direct_run(gn_exchange *exchange);
gn_status gn_direct_coded_run(gn_exchange *exchange);
gn_status gn_switched_run(gn_exchange *exchange);

/// Numbers of a histogram.
enum { GN_HISTOGRAM = 4 * 256 };

/// Largest value a scale exponent may have, so that scaling is exact for every value that matters.
enum { GN_SHIFT_MAX = 64 };

/// Exponent of the RMS of what the histogram has counted: the floor of its base-2 logarithm.
/// Without a finite value other than 0 it is GN_EXPONENT_NONE. The order in which values came does
/// not matter.
int gn_histogram_exponent(const uint64_t *histogram);
void gn_histogram_add(uint64_t *histogram, const float *values, size_t count);

/// Decides what `bucket` needs. `exponent`: the agreed RMS exponent, or GN_EXPONENT_NONE.
void gn_exchange_prepare(gn_exchange *exchange, gn_comm *comm, const gn_bucket *bucket, int exponent);

/// Whether `send` can be coded as it is: gn_exchange_own() would change nothing that a code keeps.
bool gn_exchange_is_plain(const gn_exchange *exchange, size_t first, size_t count);

/// recv[first..+count) = this rank's contribution. Each value exactly once.
void gn_exchange_own(gn_exchange *exchange, size_t first, size_t count);

/// recv[first..+count) = this rank's contribution + incoming.
void gn_exchange_own_add(gn_exchange *exchange, size_t first, size_t count, const float *incoming);

/// recv[first..+count) += incoming.
void gn_exchange_add(gn_exchange *exchange, size_t first, size_t count, const float *incoming);

/// All contributions of this rank have been made. What it says about the next scale goes round
/// beside the data.
void gn_exchange_offer(gn_exchange *exchange);

/// The sum is whole. Does what its owner does before sending it back.
void gn_exchange_settle(gn_exchange *exchange, size_t first, size_t count);

/// The values have been sent on for the last time. Scales back, divides.
void gn_exchange_finish(gn_exchange *exchange, size_t first, size_t count);

#endif
