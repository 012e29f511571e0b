// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_CODEC_H
#define GRADNIC_CODEC_H
/// @file codec.h
/// gradnic's gradient codec: a lossy compressor for IEEE-754 binary32 with a guaranteed error
/// bound.
///
/// The codec maps each value to a small integer, or, rarely, keeps it raw. It works on *groups* of
/// 8 values. There are two ways to write a group:
///
/// - `paper` and `lattice` write one *record* per group. A record has a *tag* of 2 bits per value,
///   and 0, 1, 2 or 4 *payload* bytes per value.
/// - `dense` writes one record per *quad* of 4 groups. The record has a *class* of 4 bits per group
///   and the bit planes of that class. A run code stands for quads of zeros.
///
/// Records back to back are a *stream*. Hardware does a group in a clock cycle. Software runs at
/// the speed of memory.
///
/// The codec is not an entropy coder, not an archive (see container.h), and not a packet format
/// (see frame.h).
///
/// A newcomer needs three functions. `examples/codec.c` is the whole program:
///
///     gn_codec codec;
///     gn_codec_init(&codec, GN_DENSE, 10);                      // |error| <= 2^-10
///     size_t bytes, room = gn_stream_bound(GN_DENSE, count);
///     gn_stream_encode(&codec, values, count, stream, room, &bytes);
///     gn_stream_decode(&codec, stream, bytes, values, count, NULL);
///
/// The same input and codec give the same bytes on every machine, with every kernel and in
/// hardware. docs/codec.md describes the format.
///
/// Every function here is thread-safe. A gn_codec is not written after gn_codec_init(), and there
/// are no globals. Vector kernels need the default floating-point environment: round to nearest,
/// subnormals not flushed.

#include <stddef.h>
#include <stdint.h>

#include <gradnic/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The rule that maps a value to its code. Files and packets carry these numbers.
typedef enum gn_profile {
    GN_PAPER = 0,         ///< INCEPTIONN (MICRO 2018), Algorithms 2 and 3 as printed; k is 1 to 126
    GN_LATTICE = 1,       ///< multiples of 2^(1-k); the bound holds, sums are exact; k is -31 to 31
    GN_DENSE = 2,         ///< the values of lattice in fewer bytes, as bit planes; k is -31 to 31
    GN_PROFILE_COUNT = 3  ///< the number of profiles, not a profile
} gn_profile;

enum {
    GN_GROUP = 8,        ///< values in a group
    GN_RECORD_MAX = 34,  ///< bytes of the largest record: 2 of tags, 8 * 4 of payload
    GN_CLASS_COUNT = 16  ///< classes that dense has for a group
};

/// One way to execute the codec (scalar, avx2, gfni, avx512, avx512-gfni, neon). Opaque.
typedef struct gn_kernel gn_kernel;

/// A profile, its bound, and the kernel that executes it. A plain value: copy it freely and share
/// it between threads. There is nothing to free.
typedef struct gn_codec {
    gn_profile profile;       ///< the rule
    int bound_exp;            ///< k; the error bound is 2^-k
    const gn_kernel *kernel;  ///< chosen by gn_codec_init()
} gn_codec;

/// Prepares `codec` with the fastest kernel of this machine.
/// @return GN_OK; GN_INVALID when `bound_exp` is out of the profile's range; GN_UNSUPPORTED when
/// this version does not have the profile.
GN_API gn_status gn_codec_init(gn_codec *codec, gn_profile profile, int bound_exp);

/// Does what gn_codec_init() does, with a kernel chosen by name, such as "scalar" or "avx2" (see
/// gn_kernel_name()). "auto" and NULL choose the fastest.
/// @return as gn_codec_init(); also GN_UNSUPPORTED when this build or machine lacks the kernel.
GN_API gn_status gn_codec_init_kernel(gn_codec *codec, gn_profile profile, int bound_exp, const char *kernel);

/// Returns the name of the kernel that executes `codec`. Static storage.
GN_API const char *gn_codec_kernel_name(const gn_codec *codec);

/// Returns the name of a kernel that runs on this machine. Kernels are in order, slowest first;
/// index 0 is "scalar". NULL past the last one.
GN_API const char *gn_kernel_name(unsigned index);

/// Returns "paper", "lattice" or "dense"; NULL for any other number.
GN_API const char *gn_profile_name(gn_profile profile);

/// The inverse of gn_profile_name().
/// @return GN_OK; GN_INVALID for an unknown name, and `*profile` is unchanged.
GN_API gn_status gn_profile_parse(const char *name, gn_profile *profile);

/// Gives the smallest and the largest bound_exp of a profile.
/// @return GN_OK; GN_UNSUPPORTED when this version does not have the profile.
GN_API gn_status gn_profile_range(gn_profile profile, int *lowest, int *highest);

/// Returns the most bytes that a stream of `count` values can have. It is 0 for 0 values, and for a
/// profile that gn_codec_init() refuses. It is SIZE_MAX when the number does not fit a size_t.
GN_API size_t gn_stream_bound(gn_profile profile, size_t count);

/// Compresses `count` little-endian binary32 values (any alignment) to `stream`. gn_stream_bound()
/// bytes of `capacity` always suffice. Less is allowed, and is never overrun. `values` and `stream`
/// must not overlap. `*bytes` is the length of the stream.
/// @return GN_OK; GN_NO_SPACE when the stream does not fit (`*bytes` is then 0).
GN_API gn_status gn_stream_encode(const gn_codec *codec, const void *values, size_t count, void *stream,
                                  size_t capacity, size_t *bytes);

/// Compresses as many of `count` values as fit in `capacity` bytes. Senders use it to fill a
/// packet. `*taken` values go to `*bytes` bytes. `*taken` is a multiple of GN_GROUP, or it is
/// `count`. The stream is what gn_stream_encode() makes of the first `*taken` values. One more
/// group would not fit.
/// @return GN_OK, also when nothing fits (`*taken` is then 0).
GN_API gn_status gn_stream_encode_fit(const gn_codec *codec, const void *values, size_t count, void *stream,
                                      size_t capacity, size_t *taken, size_t *bytes);

/// Decompresses a stream of exactly `bytes` bytes to exactly `count` values (any alignment). The
/// bytes may come from anywhere: nothing outside the two buffers is read or written. They must not
/// overlap, here and in what follows.
///
/// On failure the content of `values` is unspecified. `*error_offset` (may be NULL) is then the
/// offset of the record or run at fault.
/// @return GN_OK; GN_TRUNCATED when the stream ends early; GN_CORRUPT for bytes after the last
/// record, for a lane or group that stands for no value and is not empty, and (dense) for a run of
/// zeros that is longer than what is left.
GN_API gn_status gn_stream_decode(const gn_codec *codec, const void *stream, size_t bytes, void *values, size_t count,
                                  size_t *error_offset);

/// Computes what the receiver will see, without making bytes: quantised[i] =
/// decode(encode(values[i])). residual[i] is values[i] - quantised[i], or 0 where that is not
/// finite. `quantised` may be `values`. `residual` may be NULL. Arrays have `count` floats. A
/// worker passes its own contribution through the codec in this way (quantise once, error
/// feedback).
GN_API gn_status gn_quantise(const gn_codec *codec, const float *values, float *quantised, float *residual,
                             size_t count);

/// Decodes a stream and adds its values to `sums`, in binary32. The stream is checked first, as by
/// gn_stream_decode(). Nothing is added when it is bad.
///
/// With lattice and dense, a sum of streams of one bound is exact, and so does not depend on their
/// order. This holds while the sum stays below 2^24 steps and no value was raw.
GN_API gn_status gn_stream_add(const gn_codec *codec, const void *stream, size_t bytes, float *sums, size_t count,
                               size_t *error_offset);

/// Flags: what gn_stream_add_integers() could not add.
enum {
    GN_SUM_RAW = 1,      ///< raw values (out of range, infinite, NaN); their sums are unchanged
    GN_SUM_OVERFLOW = 2  ///< a sum left int32 and wrapped
};

/// Adds the integers q of a stream to `sums`, without floating point. A value is q * 2^(1-k). This
/// is what a switch does. Only for lattice and dense. The stream is checked first; nothing is added
/// when it is bad. `*flags` (may be NULL) gets GN_SUM_ bits.
/// @return as gn_stream_decode(); GN_UNSUPPORTED for profile paper.
GN_API gn_status gn_stream_add_integers(const gn_codec *codec, const void *stream, size_t bytes, int32_t *sums,
                                        size_t count, unsigned *flags, size_t *error_offset);

/// Writes the integers q of a stream to `integers`; the integer of a raw value is 0. Only for
/// lattice and dense. `*flags` (may be NULL) gets GN_SUM_RAW or 0. On failure the content of
/// `integers` is unspecified.
/// @return as gn_stream_decode(); GN_UNSUPPORTED for profile paper.
GN_API gn_status gn_stream_get_integers(const gn_codec *codec, const void *stream, size_t bytes, int32_t *integers,
                                        size_t count, unsigned *flags, size_t *error_offset);

/// Makes the stream of integers q, such as sums. dense keeps every int32. lattice writes |q| >
/// 32767 as raw values, which are exact up to 2^24. `capacity` as for gn_stream_encode().
/// @return GN_OK; GN_NO_SPACE when the stream does not fit (`*bytes` is then 0); GN_UNSUPPORTED for
/// profile paper.
GN_API gn_status gn_stream_encode_integers(const gn_codec *codec, const int32_t *integers, size_t count, void *stream,
                                           size_t capacity, size_t *bytes);

/// What a stream is made of.
typedef struct gn_tally {
    uint64_t values;                   ///< lanes that stand for values (padding is not counted)
    uint64_t groups;                   ///< groups of 8; the last one may be partial
    uint64_t tags[4];                  ///< paper, lattice: values by tag
    uint64_t classes[GN_CLASS_COUNT];  ///< dense: groups by class
    uint64_t stream_bytes;             ///< all bytes
} gn_tally;

/// Adds the content of a stream to `*tally`. The stream is checked as by gn_stream_decode();
/// `*tally` is unchanged when it is bad.
GN_API gn_status gn_stream_tally(const gn_codec *codec, const void *stream, size_t bytes, size_t count,
                                 gn_tally *tally);

/// Adds `more` to `*tally`.
GN_API void gn_tally_add(gn_tally *tally, const gn_tally *more);

/// Returns the bytes of the payloads alone, without tag words, quad headers and runs of zeros.
GN_API uint64_t gn_tally_payload_bytes(const gn_tally *tally);

/// The code of one value. dense has no codes for single values: it uses those of lattice, whose
/// integers it writes.
typedef struct gn_code {
    unsigned tag;      ///< 0 to 3
    uint32_t payload;  ///< in the low 0, 8, 16 or 32 bits
} gn_code;

/// Encodes one value, given as its bits. This is the specification in C (lane.c), and slow. `codec`
/// must be initialised.
GN_API gn_code gn_lane_encode(const gn_codec *codec, uint32_t value_bits);

/// Decodes one code to the bits of its value, as gn_lane_encode().
GN_API uint32_t gn_lane_decode(const gn_codec *codec, gn_code code);

#ifdef __cplusplus
}
#endif
#endif
