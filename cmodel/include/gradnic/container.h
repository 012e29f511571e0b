// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_CONTAINER_H
#define GRADNIC_CONTAINER_H
/// @file container.h
/// `.gn` files: compressed values on disk. A file is a header of 40 bytes, then blocks. A block is
/// a stream (codec.h) of up to `values_per_block` values, with its length and its CRC-32. A file
/// of version 1 holds values and nothing else. In version 2 a directory follows the header: names,
/// types and shapes of tensors, whose values come one behind the other. docs/container.md
/// describes the format.
///
/// A newcomer writes a file with three calls and reads it with three:
///
///     gn_container_writer_new(&writer, &codec, 0, count, write, file);
///     gn_container_write(writer, values, count);
///     gn_container_writer_finish(writer, NULL);
///
///     gn_container_reader_new(&reader, read, file, NULL);
///     gn_container_read(reader, values, room, &got);
///     gn_container_reader_free(reader);
///
/// `read` and `write` belong to the caller: nothing here opens a file. `examples/container.c` is a
/// whole program. Files of any size need the memory of one block.
///
/// Several threads can share the work. gn_container_block_encode() and gn_container_block_decode()
/// are pure functions. gn_container_put_block() and gn_container_next_block() do the input and
/// output in order. Readers and writers are not thread-safe.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/codec.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GN_CONTAINER_HEADER = 40,                 ///< bytes of the file's header
    GN_CONTAINER_BLOCK_HEADER = 8,            ///< bytes of a block's header
    GN_CONTAINER_BLOCK_VALUES = 262144,       ///< values of a block by default
    GN_CONTAINER_BLOCK_VALUES_MAX = 1 << 20,  ///< larger blocks are refused; bounds memory
    GN_CONTAINER_DIRECTORY_MAX = 1 << 24,     ///< bytes of a directory; larger ones are refused
    GN_CONTAINER_TENSORS_MAX = 65536,         ///< tensors in it
    GN_CONTAINER_NAME_MAX = 1024,             ///< bytes of a name
    GN_CONTAINER_DIMENSIONS = 64              ///< of a shape
};

#define GN_CONTAINER_UNKNOWN UINT64_MAX  ///< a count that is not known yet

/// What values were before they were read as binary32. The numbers are those of the file format.
typedef enum gn_dtype {
    GN_FLOAT32 = 0,   ///< binary32
    GN_FLOAT16 = 1,   ///< binary16
    GN_BFLOAT16 = 2,  ///< the upper half of a binary32
    GN_FLOAT64 = 3,   ///< binary64
    GN_DTYPE_COUNT    ///< the number of types, not a type
} gn_dtype;

/// What a header says.
typedef struct gn_container_info {
    gn_profile profile;         ///< of all blocks
    int bound_exp;              ///< k; the error bound is 2^-k
    uint32_t values_per_block;  ///< a multiple of GN_GROUP
    uint64_t value_count;       ///< values in the file
    uint64_t block_count;       ///< ceil(value_count / values_per_block)
    uint32_t directory_bytes;   ///< of the directory behind the header; 0: version 1, which has none
} gn_container_info;

/// A tensor of a file of version 2.
typedef struct gn_container_tensor {
    const char *name;       ///< any bytes but 0, and no two tensors the same; "": it has none
    gn_dtype dtype;         ///< what its values were before they became binary32
    bool fortran_order;     ///< the values are stored first index fastest
    unsigned dimensions;    ///< 0: a scalar
    const uint64_t *shape;  ///< `dimensions` of them
    uint64_t count;         ///< values: the product of the shape; the writer need not set it
} gn_container_tensor;

/// Where a file is bad, and why.
typedef struct gn_container_fault {
    /// Number of the block, from 0. GN_CONTAINER_UNKNOWN: the header, or after the last block.
    uint64_t block;
    uint64_t offset;  ///< byte in the file
    char text[160];   ///< block, byte and reason: "block 3, byte 1048: ..."; no file name
} gn_container_fault;

/// Makes the header of `info`; block_count is computed.
/// @return GN_OK; GN_INVALID for what no reader takes
GN_API gn_status gn_container_encode_header(const gn_container_info *info, uint8_t header[GN_CONTAINER_HEADER]);

/// Reads and checks a header (untrusted bytes).
/// @return GN_OK; GN_CORRUPT or GN_UNSUPPORTED, and `*fault` is filled.
GN_API gn_status gn_container_decode_header(const uint8_t header[GN_CONTAINER_HEADER], gn_container_info *info,
                                            gn_container_fault *fault);

/// Returns the bytes of the largest block of `count` values, header included. SIZE_MAX when that
/// does not fit.
GN_API size_t gn_container_block_bound(gn_profile profile, size_t count);

/// Compresses `count` values to a whole block; at most GN_CONTAINER_BLOCK_VALUES_MAX values.
/// gn_container_block_bound() bytes of `capacity` suffice. Pure: any thread may call it.
/// @return as gn_stream_encode(); GN_INVALID for too many values.
GN_API gn_status gn_container_block_encode(const gn_codec *codec, const float *values, size_t count, uint8_t *block,
                                           size_t capacity, size_t *bytes);

/// A block as it was read, not yet checked.
typedef struct gn_container_block {
    uint64_t index;       ///< from 0
    uint64_t offset;      ///< byte in the file where its header begins
    const uint8_t *data;  ///< header and stream, in the caller's buffer
    size_t bytes;         ///< header and stream
    size_t count;         ///< values it must hold
} gn_container_block;

/// Checks a block's CRC and decompresses it to `block->count` values. Pure: any thread may call it.
/// @return GN_OK; GN_CORRUPT or GN_TRUNCATED, `*fault` is filled and the values are unspecified.
GN_API gn_status gn_container_block_decode(const gn_codec *codec, const gn_container_block *block, float *values,
                                           gn_container_fault *fault);

/// The caller's function that writes exactly `bytes` bytes.
/// @return GN_OK, or a status that the writer's functions pass on.
typedef gn_status (*gn_container_write_function)(void *context, const void *data, size_t bytes);

/// A file that is being written. Opaque.
typedef struct gn_container_writer gn_container_writer;

/// Starts a file. `values_per_block` 0 means GN_CONTAINER_BLOCK_VALUES. `value_count` says how many
/// values will come. With GN_CONTAINER_UNKNOWN, 40 zero bytes go out first, which no reader
/// accepts. The caller replaces them with the header in the end (see gn_container_writer_finish()).
/// @return GN_OK; GN_INVALID for an impossible block size; GN_NO_MEMORY; what `write` returned.
GN_API gn_status gn_container_writer_new(gn_container_writer **writer, const gn_codec *codec, uint32_t values_per_block,
                                         uint64_t value_count, gn_container_write_function write, void *context);

/// Starts a file of version 2 with `count` tensors, one at least. Their values follow one behind
/// the other, as if they were one array.
/// @return as gn_container_writer_new(); GN_INVALID for tensors beyond the limits above, and for
/// two of one name.
GN_API gn_status gn_container_writer_new_tensors(gn_container_writer **writer, const gn_codec *codec,
                                                 uint32_t values_per_block, const gn_container_tensor *tensors,
                                                 size_t count, gn_container_write_function write, void *context);

/// Appends any number of values.
/// @return GN_OK; GN_INVALID for more values than announced, or after a short block from
/// gn_container_put_block(); GN_NO_MEMORY; what `write` returned.
GN_API gn_status gn_container_write(gn_container_writer *writer, const float *values, size_t count);

/// Appends a block from gn_container_block_encode(): `count` values in `bytes` bytes. Every block
/// but the last holds `values_per_block` values. Do not mix it with gn_container_write() within a
/// block.
/// @return as gn_container_write().
GN_API gn_status gn_container_put_block(gn_container_writer *writer, const uint8_t *block, size_t bytes, size_t count);

/// Writes what is left, and always frees `writer`. `header` receives the header that belongs at the
/// start of the file. It may be NULL when the count was announced.
/// @return GN_OK; GN_INVALID for fewer values than announced; GN_NO_MEMORY; what `write` returned.
GN_API gn_status gn_container_writer_finish(gn_container_writer *writer, uint8_t header[GN_CONTAINER_HEADER]);

/// Frees a writer whose file is given up. NULL is allowed.
GN_API void gn_container_writer_abort(gn_container_writer *writer);

/// The caller's function that reads up to `bytes` bytes; fewer only at the end of the input.
/// @return GN_OK, or a status that the reader's functions pass on.
typedef gn_status (*gn_container_read_function)(void *context, void *data, size_t bytes, size_t *got);

/// A file that is being read. Opaque.
typedef struct gn_container_reader gn_container_reader;

/// Reads and checks the header. `kernel` as for gn_codec_init_kernel(). `*reader` is set even on
/// failure (but for GN_NO_MEMORY), so that gn_container_reader_fault() can answer. Free it in any
/// case.
/// @return as gn_container_read().
GN_API gn_status gn_container_reader_new(gn_container_reader **reader, gn_container_read_function read, void *context,
                                         const char *kernel);

/// Frees a reader. NULL is allowed.
GN_API void gn_container_reader_free(gn_container_reader *reader);

/// What the file's header says. Owned by the reader.
GN_API const gn_container_info *gn_container_reader_info(const gn_container_reader *reader);

/// The tensors of a file of version 2, in the order of their values. `*count` is 0 in version 1.
/// Owned by the reader.
GN_API const gn_container_tensor *gn_container_reader_tensors(const gn_container_reader *reader, size_t *count);

/// The codec of the file's blocks. Owned by the reader.
GN_API const gn_codec *gn_container_reader_codec(const gn_container_reader *reader);

/// Why the last call failed with GN_CORRUPT, GN_TRUNCATED or GN_UNSUPPORTED. Owned by the reader.
GN_API const gn_container_fault *gn_container_reader_fault(const gn_container_reader *reader);

/// Reads up to `capacity` values, checked and decompressed; fewer only at the end. A reader that
/// failed keeps failing.
/// @return GN_OK; GN_CORRUPT or GN_TRUNCATED, `*got` is 0 and gn_container_reader_fault() says why;
/// GN_NO_MEMORY; what `read` returned.
GN_API gn_status gn_container_read(gn_container_reader *reader, float *values, size_t capacity, size_t *got);

/// Reads the next block as it is into `buffer`, which needs gn_container_block_bound(profile,
/// values_per_block) bytes. `block->bytes` is 0 when no block is left and the file ended where it
/// should. Do not mix it with gn_container_read(). @return as gn_container_read().
GN_API gn_status gn_container_next_block(gn_container_reader *reader, uint8_t *buffer, gn_container_block *block);

#ifdef __cplusplus
}
#endif
#endif
