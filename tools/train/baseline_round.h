// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_TRAIN_BASELINE_ROUND_H
#define GRADNIC_TOOLS_TRAIN_BASELINE_ROUND_H
/// What other compressors leave of a gradient. gradnic's own codecs are compared with these; nobody
/// sends them. Each function works in place on one tensor, and returns how many bits its simplest
/// encoding takes.

#include <stddef.h>
#include <stdint.h>

#include "examples/train/random.h"

enum { GN_QSGD_BUCKET = 512 };  ///< values that share a norm, as in the QSGD paper's experiments

/// Truncation (INCEPTIONN, Fig. 4): the `bits` lowest bits of each binary32 become zero. At most
/// 31.
uint64_t gn_baseline_truncate(float *values, size_t count, unsigned bits);

/// Top-k (Aji and Heafield, EMNLP 2017): keeps the `share` (0 to 1) of values that are largest, at
/// least one. The first of equal ones stay. An index and a value travel, with 32 bits each.
uint64_t gn_baseline_top_k(float *values, size_t count, double share, float *room);

/// QSGD (Alistarh et al., NIPS 2017): each value becomes one of 2^(bits - 1) - 1 levels of its
/// bucket's norm, up or down at random, so that the mean is right. `bits` is 2 to 16.
uint64_t gn_baseline_qsgd(float *values, size_t count, unsigned bits, gn_random *random);

/// Uniform: the nearest of 2^(bits - 1) - 1 levels of the tensor's largest value, and the sign.
uint64_t gn_baseline_uniform(float *values, size_t count, unsigned bits);

#endif
