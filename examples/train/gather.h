// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_EXAMPLES_TRAIN_GATHER_H
#define GRADNIC_EXAMPLES_TRAIN_GATHER_H
/// Sends exact words over an exchange that may be lossy. So workers can compare hashes and
/// collect results without a second network.

#include <stddef.h>
#include <stdint.h>

#include <gradnic/comm.h>

/// Every rank passes `count` words in `mine`. `all` receives size * count words, rank by rank.
/// Each bit travels as one value: +2^40 or -2^40 from the rank that owns it, 0 from the others.
/// No profile and no scale changes these powers of two, because they are above every bound.
/// @return what the collective returned; GN_CORRUPT if a value arrived that no rank sent
gn_status gn_gather_words(gn_comm *comm, const uint64_t *mine, size_t count, uint64_t *all);

#endif
