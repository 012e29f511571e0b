// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_KERNEL_H
#define GRADNIC_KERNEL_H
/// Internal: a kernel is one way to execute the codec, as a table of functions per profile. All
/// kernels give the same bytes. stream.c checks arguments and statuses, so a kernel only moves
/// data.

#include <stdbool.h>

#include <gradnic/sum.h>

typedef struct gn_kernel_row {
    /// gn_stream_encode_fit(). Never writes outside [stream, stream + capacity). `*bytes` is the
    /// length of the stream. @return values taken
    size_t (*encode)(const gn_codec *codec, const uint8_t *values, size_t count, uint8_t *stream, size_t capacity,
                     size_t *bytes);
    /// gn_stream_decode(), without saying what is wrong. @return false exactly when the profile's
    /// walk() fails
    bool (*decode)(const gn_codec *codec, const uint8_t *stream, size_t bytes, uint8_t *values, size_t count);
    /// gn_quantise(); `residual` may be NULL.
    void (*quantise)(const gn_codec *codec, const float *values, float *quantised, float *residual, size_t count);
    /// gn_stream_add() of a stream that walk() has passed.
    void (*add)(const gn_codec *codec, const uint8_t *stream, size_t bytes, float *sums, size_t count);
    /// gn_stream_add_integers() of a stream that walk() has passed. This and the next two are NULL
    /// when the profile's values are not integers. @return the flags
    unsigned (*add_integers)(const gn_codec *codec, const uint8_t *stream, size_t bytes, int32_t *sums, size_t count);
    /// gn_stream_get_integers(), without saying what is wrong. Sets `*flags`. @return false exactly
    /// when the profile's walk() fails
    bool (*get_integers)(const gn_codec *codec, const uint8_t *stream, size_t bytes, int32_t *integers, size_t count,
                         unsigned *flags);
    /// gn_stream_encode_integers(), in the way of encode(). @return integers taken
    size_t (*encode_integers)(const gn_codec *codec, const int32_t *integers, size_t count, uint8_t *stream,
                              size_t capacity, size_t *bytes);
    /// gn_stream_sum(), without saying what is wrong; NULL: this profile has none. @return false
    /// when a stream is bad, or the result's does not fit
    bool (*sum)(const gn_codec *codec, const gn_sum *sum, size_t *bytes);
} gn_kernel_row;

/// The calls of words.h.
typedef struct gn_words_row {
    bool (*add)(int32_t *sums, const uint8_t *words, size_t count);
    uint32_t (*largest)(const float *values, size_t count, bool *finite);  ///< @return its bits
    bool (*from_values)(const float *values, size_t count, float scale, int32_t limit, int32_t *words);
    void (*to_values)(const uint8_t *words, size_t count, float step, float *values);
    bool (*add_halves)(int32_t *sums, const uint8_t *halves, size_t count);
    void (*to_halves)(const uint8_t *words, size_t count, uint8_t *halves);
} gn_words_row;

struct gn_kernel {
    const char *name;
    bool (*runs_here)(void);  ///< whether this machine has the instructions
    const gn_words_row *words;
    const gn_kernel_row *rows[GN_PROFILE_COUNT];  ///< NULL: this kernel lacks that profile
};

/// The kernel of that name; NULL or "auto" means the fastest. @return NULL when no such kernel runs
/// here and has the profile
const gn_kernel *gn_kernel_find(const char *name, gn_profile profile);

#endif
