// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TEST_DENSE_MADE_H
#define GRADNIC_TEST_DENSE_MADE_H
/// Lanes and streams of profile dense made for a purpose.

#include "dense_reference.h"

/// Makes 8 random lanes whose canonical class is this one. Raw lanes have random bits of which no
/// integer is made at 2^-10.
void dense_make_lanes(unsigned class, dense_lane lanes[8], uint64_t *state);

/// The values that quantise to these lanes at bound 2^-k (integers within 16 bits).
void dense_make_values(const dense_lane *lanes, size_t count, int k, float *values);

/// Makes a legal stream, mostly not canonical: random classes, planes and runs. `starts` takes
/// where its items begin, and where it ends. Returns the number of items.
size_t dense_make_stream(size_t count, uint8_t *stream, size_t *starts, uint64_t *state);

#endif
