// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_CHOICE_H
#define GRADNIC_RING_CHOICE_H
/// Algorithm auto: direct or ring, and whether to compress, by size of the vector. The first
/// allreduces of a size class try each way twice, and the second time counts. All ranks agree on
/// what each has taken, so all choose the same.

#include "ring/group.h"

typedef enum gn_choice { GN_TAKE_DIRECT, GN_TAKE_RING, GN_TAKE_DIRECT_PLAIN, GN_CHOICES } gn_choice;

enum { GN_SIZE_CLASSES = 64 };

/// What is known about vectors of 2^c to 2^(c+1) - 1 values.
typedef struct gn_size_class {
    uint8_t tries;
    int16_t cost[GN_CHOICES];  ///< own or agreed: logarithm of the time, as gn_choice_cost()
    bool decided;
    gn_choice choice;  ///< once decided
} gn_size_class;

/// The class of a vector with so many values, at least one.
unsigned gn_size_class_of(size_t count);
/// A span as a number to agree on: 256 times its binary logarithm.
int gn_choice_cost(uint64_t span);
/// The cheapest of the first `ways`. Where another is hardly better, the earlier one stays.
gn_choice gn_choice_of(const int16_t *cost, unsigned ways);

/// Finds how to run an allreduce of `count` values. It may wait for the others.
/// @return GN_OK, or the status with which the communicator has failed
gn_status gn_choice_begin(gn_comm *comm, size_t count, gn_choice *choice);
/// That has taken from `start` until now.
void gn_choice_end(gn_comm *comm, size_t count, gn_choice choice, uint64_t start);

#endif
