// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_LOOKS_H
#define GRADNIC_DRIVER_LOOKS_H
/// Whether bytes look like gradients: little-endian binary32 values of which most are of similar
/// size. Pure functions. `bench/guard` measures how often they err (docs/guard.md).

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum gn_looks {
    GN_LOOKS_UNDECIDED,  ///< too few values that say anything
    GN_LOOKS_GRADIENT,
    GN_LOOKS_OTHER
} gn_looks;

enum {
    GN_EVIDENCE_ENOUGH = 24,  ///< values that are needed to tell gradients
    GN_EVIDENCE_MAX = 64      ///< values that are looked at
};

/// The first values of a flow that say anything. Zeros, NaN and infinities are left out: they occur
/// in gradients and elsewhere. Zeros are evidence that has seen nothing.
typedef struct gn_evidence {
    uint32_t count;
    uint32_t words[GN_EVIDENCE_MAX];
} gn_evidence;

/// Adds the values that `count` words at `bytes` hold, up to GN_EVIDENCE_MAX in all. Any alignment.
void gn_evidence_add(gn_evidence *evidence, const uint8_t *bytes, size_t count);

/// The judgment so far. `*why` says in words what the bytes look like, with GN_LOOKS_OTHER.
gn_looks gn_evidence_judge(const gn_evidence *evidence, const char **why);

/// Whether every profile carries these words exactly: they are +0, NaN or infinite.
bool gn_words_travel_exactly(const uint8_t *bytes, size_t count);

#endif
