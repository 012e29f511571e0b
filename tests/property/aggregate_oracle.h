// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_AGGREGATE_ORACLE_H
#define GRADNIC_TESTS_AGGREGATE_ORACLE_H
/// What an aggregation must give, value by value, without packets or slots.

#include "aggregate_net.h"

/// The sum of send[0 .. ranks) as workers must get it.
/// @return chunks that had to be summed in binary32
size_t oracle_sum(const net *n, float *const *send, size_t count, float *sum);

#endif
