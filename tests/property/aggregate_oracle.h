// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_AGGREGATE_ORACLE_H
#define GRADNIC_TESTS_AGGREGATE_ORACLE_H
/// What an aggregation must give, value by value, without packets or slots.

#include "aggregate_net.h"

/// The values of a full chunk.
size_t oracle_chunk(const net *n, bool halves);

/// The sum of send[0 .. ranks) as workers must get it. `halves`: it travels in 16 bits.
/// @return chunks that had to be summed in binary32
size_t oracle_sum(const net *n, float *const *send, size_t count, bool halves, float *sum);

#endif
