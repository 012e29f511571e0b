// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_RANKS_H
#define GRADNIC_SWITCH_DAEMON_RANKS_H
/// Sets of ranks, and how people read them.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/admission.h>

typedef struct gn_ranks {
    uint64_t bits[GN_ADMISSION_RANKS_MAX / 64];
} gn_ranks;

static inline bool gn_ranks_have(const gn_ranks *ranks, unsigned rank)
{
    return ranks->bits[rank / 64] >> rank % 64 & 1;
}

static inline bool gn_ranks_any(const gn_ranks *ranks)
{
    uint64_t any = 0;
    for (unsigned i = 0; i < sizeof ranks->bits / sizeof *ranks->bits; i++) any |= ranks->bits[i];
    return any;
}

static inline void gn_ranks_add(gn_ranks *ranks, unsigned rank)
{
    ranks->bits[rank / 64] |= 1ull << rank % 64;
}

/// A rank that is in both sets; -1: none is.
int gn_ranks_common(const gn_ranks *a, const gn_ranks *b);

/// Writes the set as a list: "1-3, 7". What does not fit becomes "...". @return whether the set has
/// more than one rank
bool gn_ranks_list(const gn_ranks *set, char *text, size_t room);

/// Writes the numbers of the bits that are set as such a list. @return text
const char *gn_bits_list(uint64_t bits, char *text, size_t room);

#endif
