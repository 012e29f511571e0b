// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_COLLECTIVES_STAGED_H
#define GRADNIC_RING_COLLECTIVES_STAGED_H
/// Collectives whose values do not fit the caller's buffers on their way: 16-bit floats, which are
/// summed in binary32, and vectors of which a rank gets only a part.

#include "ring/exchange.h"

/// Counts exponents of `count` values of a type, as gn_histogram_add() does.
void gn_staged_histogram(uint64_t *histogram, gn_type type, const void *values, size_t count);

/// Runs an allreduce, reduce_scatter, reduce, or lossy all_gather.
gn_status gn_staged_run(gn_exchange *exchange, const gn_call *call, int exponent);

/// Runs an all_gather or broadcast in the caller's own buffer.
gn_status gn_gathered_run(gn_exchange *exchange, const gn_call *call);

#endif
