// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_EXAMPLES_TRAIN_GATHER_H
#define GRADNIC_EXAMPLES_TRAIN_GATHER_H
/// Exact words over an exchange that is lossy by design: how workers compare hashes and collect results without a second
/// network beside the one they test.

#include <stddef.h>
#include <stdint.h>

#include <gradnic/comm.h>

/// Every rank passes `count` words, `mine`; `all` receives size * count, rank by rank. Each bit travels as a value of its
/// own, +2^40 or -2^40 at the rank that owns it and 0 elsewhere: powers of two above every bound, which no profile and no scale
/// changes.
/// @return what the collective returned; GN_CORRUPT when a value arrived that was never sent.
gn_status gn_gather_words(gn_comm *comm, const uint64_t *mine, size_t count, uint64_t *all);

#endif
