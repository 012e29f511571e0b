// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_CODEC_H
#define GRADNIC_CODEC_H
/// @file codec.h
/// gradnic's gradient codec: a lossy compressor for IEEE-754 binary32 with a guaranteed error bound.
///
/// What it is: a rule that maps one value to a small integer or, rarely, keeps it raw, applied to *groups* of
/// 8 values; and two ways to write groups down. `paper` and `lattice`: a *record* per group, with a *tag* (2
/// bits) and 0, 1, 2 or 4 *payload* bytes per value. `dense`: a record per *quad* of 4 groups, with a *class*
/// (4 bits) and that class's bit planes per group, and runs for quads of zeros. Records back to back are a
/// *stream*. It is made so that hardware does a group in a clock cycle and software does it at the speed of memory.
/// What it is not: an entropy coder, an archive (see container.h) or a packet format (see frame.h).
///
/// A newcomer calls three functions:
///
///     gn_codec codec;
///     gn_codec_init(&codec, GN_DENSE, 10);                      // |error| <= 2^-10
///     size_t bytes, room = gn_stream_bound(GN_DENSE, count);
///     gn_stream_encode(&codec, values, count, stream, room, &bytes);
///     gn_stream_decode(&codec, stream, bytes, values, count, NULL);
///
/// The same input and codec give the same bytes on every machine, with every kernel and in hardware.
/// docs/codec.md is the format's own document. Everything here is thread-safe: a gn_codec is never
/// written after gn_codec_init(), and there are no globals. Vector kernels expect the default
/// floating-point environment (round to nearest, subnormals not flushed).

#include <stddef.h>
#include <stdint.h>

#include <gradnic/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The rule that maps a value to its code. The numbers are those of files and packets.
typedef enum gn_profile {
    GN_PAPER = 0,    ///< INCEPTIONN (MICRO 2018) Algorithms 2 and 3 as printed; 1 <= bound_exp <= 126
    GN_LATTICE = 1,  ///< multiples of 2^(1-k), bound holds, sums are exact; -31 <= bound_exp <= 31
    GN_DENSE = 2,    ///< lattice's values, as bit planes of 32 values: fewer bytes; -31 <= bound_exp <= 31
    GN_PROFILE_COUNT = 3
} gn_profile;

enum {
    GN_GROUP = 8,        ///< values in a group
    GN_RECORD_MAX = 34,  ///< bytes of the largest record: 2 of tags, 8 * 4 of payload
    GN_CLASS_COUNT = 16  ///< classes that dense has for a group
};

/// One way to execute the codec (scalar, avx2, ...). Opaque.
typedef struct gn_kernel gn_kernel;

/// A profile with its bound and the kernel that executes it. A plain value: copy it freely, share it
/// between threads, nothing to free.
typedef struct gn_codec {
    gn_profile profile;
    int bound_exp;            ///< k; the error bound is 2^-k
    const gn_kernel *kernel;  ///< chosen by gn_codec_init()
} gn_codec;

/// Prepares `codec` with the fastest kernel of this machine.
/// @return GN_OK; GN_INVALID for a bound_exp out of the profile's range; GN_UNSUPPORTED for a profile
/// that this version does not have.
GN_API gn_status gn_codec_init(gn_codec *codec, gn_profile profile, int bound_exp);

/// As gn_codec_init(), with a kernel chosen by name ("scalar", "avx2", "avx512", see gn_kernel_name();
/// "auto" or NULL for the fastest).
/// @return also GN_UNSUPPORTED when this build or machine lacks that kernel.
GN_API gn_status gn_codec_init_kernel(gn_codec *codec, gn_profile profile, int bound_exp, const char *kernel);

/// Name of the kernel that executes `codec`. Static storage.
GN_API const char *gn_codec_kernel_name(const gn_codec *codec);

/// Name of the index-th kernel that runs on this machine, slowest first ("scalar" is index 0); NULL past
/// the last one.
GN_API const char *gn_kernel_name(unsigned index);

/// "paper", "lattice", "dense"; NULL for a number that is no profile.
GN_API const char *gn_profile_name(gn_profile profile);

/// The inverse of gn_profile_name(). @return GN_INVALID for an unknown name, and `*profile` is left alone.
GN_API gn_status gn_profile_parse(const char *name, gn_profile *profile);

/// Smallest and largest bound_exp of a profile. @return GN_UNSUPPORTED as gn_codec_init().
GN_API gn_status gn_profile_range(gn_profile profile, int *lowest, int *highest);

/// Bytes that a stream of `count` values can have at most; 0 for 0 values and for a profile that this build
/// does not have (gn_codec_init() refuses it). SIZE_MAX when that does not fit a size_t.
GN_API size_t gn_stream_bound(gn_profile profile, size_t count);

/// Compresses `count` little-endian binary32 values (any alignment) to `stream`.
/// `capacity` >= gn_stream_bound() always suffices; less is allowed, and never overrun.
/// `values` and `stream` must not overlap. `*bytes`: length of the stream.
/// @return GN_OK; GN_NO_SPACE when the stream does not fit (`*bytes` is 0).
GN_API gn_status gn_stream_encode(const gn_codec *codec, const void *values, size_t count, void *stream,
                                  size_t capacity, size_t *bytes);

/// Compresses as many of `count` values as fit in `capacity` bytes: `*taken` of them, a multiple of
/// GN_GROUP unless it is `count`, to `*bytes` bytes. The result is what gn_stream_encode() gives for the
/// first `*taken` values, and one more group would not have fitted. Used where a packet is filled.
/// @return GN_OK, also when nothing fits (`*taken` 0).
GN_API gn_status gn_stream_encode_fit(const gn_codec *codec, const void *values, size_t count, void *stream,
                                      size_t capacity, size_t *taken, size_t *bytes);

/// Decompresses a stream of exactly `bytes` bytes to exactly `count` values (any alignment). For bytes
/// from anywhere: never reads or writes outside the two buffers, whatever they hold.
/// @return GN_OK; GN_TRUNCATED when the stream ends early; GN_CORRUPT for bytes after the last record, lanes
/// or groups that stand for no value and are not empty, or (dense) a run of zeros that is longer than what is
/// left. On failure `values` has unspecified content and `*error_offset` (may be NULL) the offset of the record
/// or run at fault.
GN_API gn_status gn_stream_decode(const gn_codec *codec, const void *stream, size_t bytes, void *values, size_t count,
                                  size_t *error_offset);

/// What the receiver will see of `values`, without making bytes: quantised[i] = decode(encode(values[i])),
/// residual[i] = values[i] - quantised[i] (0 where that is not finite). `quantised` may be `values`;
/// `residual` may be NULL. Arrays of `count` floats.
/// It is how a worker passes its own contribution through the codec (quantise once, error feedback).
GN_API gn_status gn_quantise(const gn_codec *codec, const float *values, float *quantised, float *residual,
                             size_t count);

/// Decodes a stream and adds its values to `sums`, in binary32. Checks the stream first, as
/// gn_stream_decode() does: when it is bad nothing is added. With lattice and dense a sum of any number of
/// streams of one bound is exact, and so independent of their order, while it stays below 2^24 steps and no
/// value was raw.
GN_API gn_status gn_stream_add(const gn_codec *codec, const void *stream, size_t bytes, float *sums, size_t count,
                               size_t *error_offset);

/// What gn_stream_add_integers() could not add.
enum {
    GN_SUM_RAW = 1,      ///< there are raw values (out of range, infinite, NaN): their sums are as they were
    GN_SUM_OVERFLOW = 2  ///< a sum has left int32, and has wrapped
};

/// Adds a stream's integers q (a value is q * 2^(1-k)) to `sums`, without floating point: what a switch does.
/// lattice and dense only. Checks the stream first: when it is bad nothing is added. `*flags` (may be NULL):
/// GN_SUM_ bits.
/// @return as gn_stream_decode(); GN_UNSUPPORTED for profile paper.
GN_API gn_status gn_stream_add_integers(const gn_codec *codec, const void *stream, size_t bytes, int32_t *sums,
                                        size_t count, unsigned *flags, size_t *error_offset);

/// A stream's integers q, instead of what `integers` holds; those of raw values are 0. lattice and dense only. `*flags` (may be
/// NULL): GN_SUM_RAW or 0.
/// @return as gn_stream_decode(), also in that `integers` has unspecified content on failure; GN_UNSUPPORTED for profile paper.
GN_API gn_status gn_stream_get_integers(const gn_codec *codec, const void *stream, size_t bytes, int32_t *integers,
                                        size_t count, unsigned *flags, size_t *error_offset);

/// The stream of integers q, such as sums. dense keeps every int32; lattice writes |q| > 32767 as raw values,
/// which are exact up to 2^24. `capacity` as for gn_stream_encode().
/// @return GN_OK; GN_NO_SPACE when the stream does not fit (`*bytes` is 0); GN_UNSUPPORTED for profile paper.
GN_API gn_status gn_stream_encode_integers(const gn_codec *codec, const int32_t *integers, size_t count, void *stream,
                                           size_t capacity, size_t *bytes);

/// What a stream is made of.
typedef struct gn_tally {
    uint64_t values;                   ///< lanes that stand for values (padding not counted)
    uint64_t groups;                   ///< groups of 8, the last one perhaps partial
    uint64_t tags[4];                  ///< paper, lattice: values by tag
    uint64_t classes[GN_CLASS_COUNT];  ///< dense: groups by class
    uint64_t stream_bytes;             ///< all bytes
} gn_tally;

/// Adds the content of a stream to `*tally`. Checks the stream as gn_stream_decode() does and leaves
/// `*tally` alone when it is bad.
GN_API gn_status gn_stream_tally(const gn_codec *codec, const void *stream, size_t bytes, size_t count,
                                 gn_tally *tally);

/// Adds `more` to `*tally`.
GN_API void gn_tally_add(gn_tally *tally, const gn_tally *more);

/// Bytes of the payloads alone, without tag words, quad headers and runs of zeros.
GN_API uint64_t gn_tally_payload_bytes(const gn_tally *tally);

/// The code of one value: `tag` 0..3, and `payload` in the low 0, 8, 16 or 32 bits. (dense has no codes of its own
/// for single values: it is given lattice's, whose integers it writes.)
typedef struct gn_code {
    unsigned tag;
    uint32_t payload;
} gn_code;

/// The codec for one value, given as its bits; the specification in C (lane.c), slow. `codec` must be
/// initialised.
GN_API gn_code gn_lane_encode(const gn_codec *codec, uint32_t value_bits);
GN_API uint32_t gn_lane_decode(const gn_codec *codec, gn_code code);

#ifdef __cplusplus
}
#endif
#endif
