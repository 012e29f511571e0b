// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_CONTAINER_H
#define GRADNIC_CONTAINER_H
/// @file container.h
/// `.gn` files: compressed values on disk. A header of 40 bytes, then blocks, each a stream (codec.h) of up to
/// `values_per_block` values with its length and its CRC-32. docs/container.md is the format's own document.
/// It holds values and nothing else: no shape, no name.
///
/// A newcomer writes a file with three calls and reads it with three:
///
///     gn_container_writer_new(&writer, &codec, 0, count, write, file);     gn_container_reader_new(&reader, read, file, NULL);
///     gn_container_write(writer, values, count);                           gn_container_read(reader, values, room, &got);
///     gn_container_writer_finish(writer, NULL);                            gn_container_reader_free(reader);
///
/// `read` and `write` are the caller's: nothing here opens a file. Files of any size need the memory of one block.
/// For several threads there are the blocks themselves: gn_container_block_encode() and gn_container_block_decode()
/// are pure functions, gn_container_put_block() and gn_container_next_block() do the input and output in order.
/// Readers and writers are not thread-safe.

#include <stddef.h>
#include <stdint.h>

#include <gradnic/codec.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GN_CONTAINER_HEADER = 40,                ///< bytes of the file's header
    GN_CONTAINER_BLOCK_HEADER = 8,           ///< bytes of a block's header
    GN_CONTAINER_BLOCK_VALUES = 262144,      ///< values per block unless told otherwise
    GN_CONTAINER_BLOCK_VALUES_MAX = 1 << 20  ///< more are refused: it bounds a reader's memory
};

#define GN_CONTAINER_UNKNOWN UINT64_MAX  ///< a count that is not known yet

/// What a header says.
typedef struct gn_container_info {
    gn_profile profile;
    int bound_exp;
    uint32_t values_per_block;  ///< a multiple of GN_GROUP
    uint64_t value_count;
    uint64_t block_count;  ///< ceil(value_count / values_per_block)
} gn_container_info;

/// Where a file is bad, and why.
typedef struct gn_container_fault {
    uint64_t block;   ///< number of the block, from 0; GN_CONTAINER_UNKNOWN: the header, or behind the last block
    uint64_t offset;  ///< byte in the file
    char text[160];   ///< both of these and the reason: "block 3, byte 1048: ..."; no file name
} gn_container_fault;

/// Makes the header of `info` (block_count is computed). @return GN_OK or GN_INVALID.
GN_API gn_status gn_container_encode_header(const gn_container_info *info, uint8_t header[GN_CONTAINER_HEADER]);

/// Reads and checks a header (untrusted bytes). @return GN_OK; GN_CORRUPT or GN_UNSUPPORTED with `*fault` filled.
GN_API gn_status gn_container_decode_header(const uint8_t header[GN_CONTAINER_HEADER], gn_container_info *info,
                                            gn_container_fault *fault);

/// Bytes of the largest block of `count` values, its header included; SIZE_MAX when that does not fit.
GN_API size_t gn_container_block_bound(gn_profile profile, size_t count);

/// Compresses `count` values (at most GN_CONTAINER_BLOCK_VALUES_MAX) to a whole block.
/// `capacity` >= gn_container_block_bound(). @return as gn_stream_encode(). Pure: any thread.
GN_API gn_status gn_container_block_encode(const gn_codec *codec, const float *values, size_t count, uint8_t *block,
                                           size_t capacity, size_t *bytes);

/// A block as it was read, not yet checked.
typedef struct gn_container_block {
    uint64_t index;       ///< from 0
    uint64_t offset;      ///< byte in the file where its header begins
    const uint8_t *data;  ///< header and stream; the caller's buffer
    size_t bytes;         ///< header and stream
    size_t count;         ///< values it must hold
} gn_container_block;

/// Checks a block's CRC and decompresses it to `block->count` values. @return GN_OK; GN_CORRUPT or GN_TRUNCATED with
/// `*fault` filled (the values are unspecified then). Pure: any thread.
GN_API gn_status gn_container_block_decode(const gn_codec *codec, const gn_container_block *block, float *values,
                                           gn_container_fault *fault);

/// Writes exactly `bytes` bytes. @return GN_OK, or a status that the writer's functions pass on.
typedef gn_status (*gn_container_write_function)(void *context, const void *data, size_t bytes);

typedef struct gn_container_writer gn_container_writer;

/// Starts a file. `values_per_block`: 0 for GN_CONTAINER_BLOCK_VALUES. `value_count`: how many values will come, or
/// GN_CONTAINER_UNKNOWN; then 40 zero bytes (which no reader accepts) stand where the header must be written in the end.
/// @return GN_OK; GN_INVALID for an impossible block size; GN_NO_MEMORY; what `write` returned.
GN_API gn_status gn_container_writer_new(gn_container_writer **writer, const gn_codec *codec, uint32_t values_per_block,
                                         uint64_t value_count, gn_container_write_function write, void *context);

/// Appends any number of values. @return GN_OK; GN_INVALID for more values than announced, or after
/// gn_container_put_block() of a short block; what `write` returned.
GN_API gn_status gn_container_write(gn_container_writer *writer, const float *values, size_t count);

/// Appends a block made by gn_container_block_encode(): `count` values in `bytes` bytes. Every block but the last holds
/// `values_per_block` values. @return as gn_container_write(). Do not mix with gn_container_write() within a block.
GN_API gn_status gn_container_put_block(gn_container_writer *writer, const uint8_t *block, size_t bytes, size_t count);

/// Writes what is left, and frees `writer` in any case. `header` (may be NULL when the count was announced) receives
/// the header that belongs at the start of the file. @return GN_OK; GN_INVALID for fewer values than announced; what
/// `write` returned.
GN_API gn_status gn_container_writer_finish(gn_container_writer *writer, uint8_t header[GN_CONTAINER_HEADER]);

/// Frees a writer whose file is given up; NULL is allowed.
GN_API void gn_container_writer_abort(gn_container_writer *writer);

/// Reads up to `bytes` bytes; fewer only at the end of the input. @return GN_OK, or a status that the reader's functions
/// pass on.
typedef gn_status (*gn_container_read_function)(void *context, void *data, size_t bytes, size_t *got);

typedef struct gn_container_reader gn_container_reader;

/// Reads and checks the header. `kernel` as gn_codec_init_kernel(). `*reader` is set even when this fails (except for
/// GN_NO_MEMORY), so that gn_container_reader_fault() can be asked; free it in any case.
GN_API gn_status gn_container_reader_new(gn_container_reader **reader, gn_container_read_function read, void *context,
                                         const char *kernel);

/// NULL is allowed.
GN_API void gn_container_reader_free(gn_container_reader *reader);

GN_API const gn_container_info *gn_container_reader_info(const gn_container_reader *reader);
GN_API const gn_codec *gn_container_reader_codec(const gn_container_reader *reader);

/// Why the last call failed with GN_CORRUPT, GN_TRUNCATED or GN_UNSUPPORTED.
GN_API const gn_container_fault *gn_container_reader_fault(const gn_container_reader *reader);

/// Reads up to `capacity` values, checked and decompressed; fewer only at the end. @return GN_OK; GN_CORRUPT, GN_TRUNCATED
/// (see gn_container_reader_fault(); `*got` 0); GN_NO_MEMORY; what `read` returned. A reader that failed stays so.
GN_API gn_status gn_container_read(gn_container_reader *reader, float *values, size_t capacity, size_t *got);

/// Reads the next block as it is into `buffer` (gn_container_block_bound(profile, values_per_block) bytes). `block->bytes`
/// is 0 when there is none left (then the file ended where it should). @return as gn_container_read(). Do not mix with
/// gn_container_read().
GN_API gn_status gn_container_next_block(gn_container_reader *reader, uint8_t *buffer, gn_container_block *block);

#ifdef __cplusplus
}
#endif
#endif
