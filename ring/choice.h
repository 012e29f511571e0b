// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_CHOICE_H
#define GRADNIC_RING_CHOICE_H
/// Algorithm auto: direct or ring, and whether to compress, by size of the vector. The first
/// allreduces of a size class try each way twice, and the second time counts. All ranks agree on
/// what each has taken, so all choose the same. They look again after GN_LOOK_AGAIN allreduces, and
/// then after twice as many each time: networks and gradients change.

#include "ring/group.h"

typedef enum gn_choice { GN_TAKE_DIRECT, GN_TAKE_RING, GN_TAKE_DIRECT_PLAIN, GN_TAKE_RING_PLAIN, GN_CHOICES } gn_choice;

/// Classes of vectors of 32 bits, and behind them those of vectors of 16 bits.
enum { GN_SIZE_CLASSES = 128, GN_LOOK_AGAIN = 1024 };

static inline bool gn_choice_goes_round(gn_choice choice)
{
    return choice == GN_TAKE_RING || choice == GN_TAKE_RING_PLAIN;
}

static inline bool gn_choice_is_plain(gn_choice choice)
{
    return choice == GN_TAKE_DIRECT_PLAIN || choice == GN_TAKE_RING_PLAIN;
}

/// What is known about vectors of 2^c to 2^(c+1) - 1 values.
typedef struct gn_size_class {
    uint8_t tries;
    int16_t cost[GN_CHOICES];  ///< own or agreed: logarithm of the time, as gn_choice_cost()
    bool decided;
    uint8_t looks;     ///< how often it was decided
    uint32_t uses;     ///< since then
    gn_choice choice;  ///< once decided
} gn_size_class;

/// The class of a vector with so many values, at least one.
unsigned gn_size_class_of(size_t count);
/// A span as a number to agree on: 256 times its binary logarithm.
int gn_choice_cost(uint64_t span);
/// The cheapest of the first `ways`. Where another is hardly better, the earlier one stays.
gn_choice gn_choice_of(const int16_t *cost, unsigned ways);

/// Finds how to run an allreduce of `count` values. It may wait for the others. `narrow`: they have
/// 16 bits.
/// @return GN_OK, or the status with which the communicator has failed
gn_status gn_choice_begin(gn_comm *comm, size_t count, bool narrow, gn_choice *choice);
/// That has taken from `start` until now.
void gn_choice_end(gn_comm *comm, size_t count, bool narrow, gn_choice choice, uint64_t start);

#endif
