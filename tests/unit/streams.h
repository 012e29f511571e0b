// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TEST_STREAMS_H
#define GRADNIC_TEST_STREAMS_H
/// For tests of the codec: values of chosen classes, streams made one lane at a time, and buffers
/// that notice a stray write.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/codec.h>

#include "dense_reference.h"

/// A number generator with a state of the caller's (SplitMix64).
uint64_t stream_random(uint64_t *state);

/// A value that `codec` gives this tag, with a random sign and magnitude.
float stream_value(const gn_codec *codec, unsigned tag, uint64_t *state);

/// `count` values, tags uniformly random out of the set bits of `classes`.
void stream_mixed(const gn_codec *codec, unsigned classes, float *values, size_t count, uint64_t *state);

/// What dense writes of `values`, by gn_lane_encode() alone.
void stream_lanes(const gn_codec *codec, const float *values, size_t count, dense_lane *lanes);

/// Writes the stream of `values` by gn_lane_encode() alone, or with dense_write(). `stream` has
/// room for the bound. Returns its bytes. ends[g] (may be NULL) takes the bytes of the stream of
/// all groups up to and with g.
size_t stream_reference(const gn_codec *codec, const float *values, size_t count, uint8_t *stream, size_t *ends);

/// What the stream decodes to, by gn_lane_decode() alone.
void stream_seen(const gn_codec *codec, const float *values, size_t count, uint32_t *seen);

/// A buffer of `size` bytes. It starts `shift` bytes behind a 64-byte boundary, with known bytes
/// before and behind it.
typedef struct fence {
    uint8_t *at;
    size_t size;
    uint8_t *block;
    size_t block_size;
} fence;

fence fence_new(size_t size, size_t shift);
bool fence_intact(const fence *f);
void fence_free(fence *f);

/// Calls `check` with every kernel of this machine at bound 2^-k: for one profile, or for all of
/// them.
void stream_each_kernel_of(gn_profile profile, int k, void (*check)(const gn_codec *codec));
void stream_each_kernel(int k, void (*check)(const gn_codec *codec));

/// All float values of a gzipped .npy file; the caller frees them.
float *stream_load_npy(const char *path, size_t *count);

#endif
