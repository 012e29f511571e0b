// SPDX-License-Identifier: Apache-2.0
// .gn files as a whole: writers and readers over the caller's functions. container.c has the bytes
// of headers and blocks.
#include <gradnic/container.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "container_bytes.h"

struct gn_container_writer {
    gn_codec codec;
    gn_container_info info;  // value_count: as announced
    gn_container_write_function write;
    void *context;
    uint64_t written;  // values in blocks
    size_t waiting;    // values that do not fill a block yet
    float *values;     // values_per_block of them
    uint8_t *block;
    size_t block_capacity;
};

// Makes a writer, and writes the header and the directory, if there is one.
static gn_status begin(gn_container_writer **result, const gn_codec *codec, uint32_t values_per_block,
                       uint64_t value_count, const uint8_t *directory, size_t directory_bytes,
                       gn_container_write_function write, void *context)
{
    if (!values_per_block) values_per_block = GN_CONTAINER_BLOCK_VALUES;
    uint8_t header[GN_CONTAINER_HEADER] = {0};
    const gn_container_info info = {.profile = codec->profile,
                                    .bound_exp = codec->bound_exp,
                                    .values_per_block = values_per_block,
                                    .value_count = value_count == GN_CONTAINER_UNKNOWN ? 0 : value_count,
                                    .directory_bytes = (uint32_t)directory_bytes};
    gn_status status = gn_container_encode_header(&info, header);
    if (status) return status;
    if (value_count == GN_CONTAINER_UNKNOWN) memset(header, 0, sizeof header);
    gn_container_writer *writer = calloc(1, sizeof *writer);
    if (!writer) return GN_NO_MEMORY;
    writer->codec = *codec;
    writer->info = info;
    writer->info.value_count = value_count;
    writer->write = write;
    writer->context = context;
    status = write(context, header, sizeof header);
    if (!status && directory_bytes) status = write(context, directory, directory_bytes);
    if (status) {
        gn_container_writer_abort(writer);
        return status;
    }
    *result = writer;
    return GN_OK;
}

gn_status gn_container_writer_new(gn_container_writer **writer, const gn_codec *codec, uint32_t values_per_block,
                                  uint64_t value_count, gn_container_write_function write, void *context)
{
    return begin(writer, codec, values_per_block, value_count, NULL, 0, write, context);
}

gn_status gn_container_writer_new_tensors(gn_container_writer **writer, const gn_codec *codec,
                                          uint32_t values_per_block, const gn_container_tensor *tensors, size_t count,
                                          gn_container_write_function write, void *context)
{
    uint8_t *directory;
    size_t bytes;
    uint64_t value_count;
    gn_status status = gn_container_encode_directory(tensors, count, &directory, &bytes, &value_count);
    if (status) return status;
    status = begin(writer, codec, values_per_block, value_count, directory, bytes, write, context);
    free(directory);
    return status;
}

// Makes the buffers for gn_container_write() when they are first needed.
static gn_status make_buffers(gn_container_writer *writer)
{
    if (writer->values) return GN_OK;
    writer->block_capacity = gn_container_block_bound(writer->codec.profile, writer->info.values_per_block);
    writer->block = malloc(writer->block_capacity);
    writer->values = malloc(writer->info.values_per_block * sizeof *writer->values);
    return writer->block && writer->values ? GN_OK : GN_NO_MEMORY;
}

gn_status gn_container_put_block(gn_container_writer *writer, const uint8_t *block, size_t bytes, size_t count)
{
    const gn_container_info *info = &writer->info;
    if (writer->written % info->values_per_block || count > info->values_per_block || !count) return GN_INVALID;
    if (info->value_count - writer->written < count) return GN_INVALID;
    const gn_status status = writer->write(writer->context, block, bytes);
    if (!status) writer->written += count;
    return status;
}

static gn_status flush_values(gn_container_writer *writer, const float *values, size_t count)
{
    size_t bytes;
    gn_status status =
        gn_container_block_encode(&writer->codec, values, count, writer->block, writer->block_capacity, &bytes);
    return status ? status : gn_container_put_block(writer, writer->block, bytes, count);
}

gn_status gn_container_write(gn_container_writer *writer, const float *values, size_t count)
{
    const size_t full = writer->info.values_per_block;
    gn_status status = make_buffers(writer);
    while (!status && count) {
        if (!writer->waiting && count >= full) {  // straight from the caller's array
            status = flush_values(writer, values, full);
            values += full;
            count -= full;
            continue;
        }
        const size_t room = full - writer->waiting, n = count < room ? count : room;
        memcpy(writer->values + writer->waiting, values, n * sizeof *values);
        writer->waiting += n;
        values += n;
        count -= n;
        if (writer->waiting < full) break;
        status = flush_values(writer, writer->values, full);
        writer->waiting = 0;
    }
    return status;
}

gn_status gn_container_writer_finish(gn_container_writer *writer, uint8_t header[GN_CONTAINER_HEADER])
{
    gn_status status = writer->waiting ? flush_values(writer, writer->values, writer->waiting) : GN_OK;
    const uint64_t announced = writer->info.value_count;
    if (!status && announced != GN_CONTAINER_UNKNOWN && announced != writer->written) status = GN_INVALID;
    writer->info.value_count = writer->written;
    if (!status && header) status = gn_container_encode_header(&writer->info, header);
    gn_container_writer_abort(writer);
    return status;
}

void gn_container_writer_abort(gn_container_writer *writer)
{
    if (!writer) return;
    free(writer->values);
    free(writer->block);
    free(writer);
}

struct gn_container_reader {
    gn_codec codec;
    gn_container_info info;
    gn_container_directory directory;  // of version 2
    gn_container_fault fault;
    gn_container_read_function read;
    void *context;
    uint64_t offset;   // bytes read
    uint64_t next;     // block to read next
    bool ended;        // the end was checked
    gn_status failed;  // not GN_OK: every further call returns it
    float *values;     // of one block, for gn_container_read()
    uint8_t *block;
    size_t held, taken;  // values there, and how many the caller has
};

// Reads exactly `bytes` bytes. An early end is a fault of `block`.
static gn_status read_exactly(gn_container_reader *reader, void *data, size_t bytes, uint64_t block)
{
    size_t got;
    const gn_status status = reader->read(reader->context, data, bytes, &got);
    if (status) return status;
    reader->offset += got;
    if (got == bytes) return GN_OK;
    return gn_container_fail(&reader->fault, GN_TRUNCATED, block, reader->offset, "the file ends %zu bytes too early",
                             bytes - got);
}

static gn_status read_directory(gn_container_reader *reader)
{
    const size_t bytes = reader->info.directory_bytes;
    if (!bytes) return GN_OK;
    uint8_t *directory = malloc(bytes);
    if (!directory) return GN_NO_MEMORY;
    gn_status status = read_exactly(reader, directory, bytes, GN_CONTAINER_UNKNOWN);
    if (!status)
        status = gn_container_decode_directory(directory, bytes, reader->info.value_count, &reader->directory,
                                               &reader->fault);
    free(directory);
    return status;
}

static gn_status open_reader(gn_container_reader *reader, const char *kernel)
{
    uint8_t header[GN_CONTAINER_HEADER] = {0};
    size_t got;
    gn_status status = reader->read(reader->context, header, sizeof header, &got);
    if (status) return status;
    reader->offset = got;
    if (got < 8) return gn_container_fail(&reader->fault, GN_CORRUPT, GN_CONTAINER_UNKNOWN, 0, "not a .gn file");
    if (got < sizeof header)
        return gn_container_fail(&reader->fault, GN_TRUNCATED, GN_CONTAINER_UNKNOWN, got,
                                 "the file ends within its header");
    status = gn_container_decode_header(header, &reader->info, &reader->fault);
    if (!status) status = read_directory(reader);
    if (status) return status;
    return gn_codec_init_kernel(&reader->codec, reader->info.profile, reader->info.bound_exp, kernel);
}

gn_status gn_container_reader_new(gn_container_reader **result, gn_container_read_function read, void *context,
                                  const char *kernel)
{
    gn_container_reader *reader = calloc(1, sizeof *reader);
    *result = reader;
    if (!reader) return GN_NO_MEMORY;
    reader->read = read;
    reader->context = context;
    reader->failed = open_reader(reader, kernel);
    return reader->failed;
}

void gn_container_reader_free(gn_container_reader *reader)
{
    if (!reader) return;
    gn_container_directory_clear(&reader->directory);
    free(reader->values);
    free(reader->block);
    free(reader);
}

const gn_container_info *gn_container_reader_info(const gn_container_reader *reader)
{
    return &reader->info;
}

const gn_container_tensor *gn_container_reader_tensors(const gn_container_reader *reader, size_t *count)
{
    *count = reader->directory.count;
    return reader->directory.tensors;
}

const gn_codec *gn_container_reader_codec(const gn_container_reader *reader)
{
    return &reader->codec;
}

const gn_container_fault *gn_container_reader_fault(const gn_container_reader *reader)
{
    return &reader->fault;
}

static gn_status check_end(gn_container_reader *reader)
{
    if (reader->ended) return GN_OK;
    uint8_t byte;
    size_t got;
    const gn_status status = reader->read(reader->context, &byte, 1, &got);
    if (status) return status;
    if (got)
        return gn_container_fail(&reader->fault, GN_CORRUPT, GN_CONTAINER_UNKNOWN, reader->offset,
                                 "the file goes on behind its %" PRIu64 " blocks", reader->info.block_count);
    reader->ended = true;
    return GN_OK;
}

static gn_status next_block(gn_container_reader *reader, uint8_t *buffer, gn_container_block *block)
{
    const gn_container_info *info = &reader->info;
    *block = (gn_container_block){.index = reader->next, .offset = reader->offset, .data = buffer};
    if (reader->next == info->block_count) return check_end(reader);
    const uint64_t rest = info->value_count - reader->next * info->values_per_block;
    block->count = rest < info->values_per_block ? (size_t)rest : info->values_per_block;

    gn_status status = read_exactly(reader, buffer, GN_CONTAINER_BLOCK_HEADER, block->index);
    if (status) return status;
    const uint32_t bytes = gn_load32(buffer);
    const size_t bound = gn_stream_bound(info->profile, block->count);
    if (bytes > bound)
        return gn_container_fail(&reader->fault, GN_CORRUPT, block->index, block->offset,
                                 "%" PRIu32 " bytes; %zu values make at most %zu", bytes, block->count, bound);
    status = read_exactly(reader, buffer + GN_CONTAINER_BLOCK_HEADER, bytes, block->index);
    if (status) return status;
    block->bytes = GN_CONTAINER_BLOCK_HEADER + bytes;
    reader->next++;
    return GN_OK;
}

gn_status gn_container_next_block(gn_container_reader *reader, uint8_t *buffer, gn_container_block *block)
{
    if (!reader->failed) reader->failed = next_block(reader, buffer, block);
    return reader->failed;
}

// Decompresses the next block into reader->values. `held` is 0 at the end of the file.
static gn_status refill(gn_container_reader *reader)
{
    const gn_container_info *info = &reader->info;
    reader->held = reader->taken = 0;
    if (reader->failed) return reader->failed;
    if (!reader->values) reader->values = malloc(info->values_per_block * sizeof *reader->values);
    if (!reader->block) reader->block = malloc(gn_container_block_bound(info->profile, info->values_per_block));
    if (!reader->values || !reader->block) return GN_NO_MEMORY;
    gn_container_block block;
    const gn_status status = gn_container_next_block(reader, reader->block, &block);
    if (status || !block.bytes) return status;
    reader->failed = gn_container_block_decode(&reader->codec, &block, reader->values, &reader->fault);
    if (!reader->failed) reader->held = block.count;
    return reader->failed;
}

gn_status gn_container_read(gn_container_reader *reader, float *values, size_t capacity, size_t *got)
{
    *got = 0;
    size_t done = 0;
    while (done < capacity) {
        if (reader->taken == reader->held) {
            const gn_status status = refill(reader);
            if (status) return status;
            if (!reader->held) break;
        }
        const size_t there = reader->held - reader->taken, n = capacity - done < there ? capacity - done : there;
        memcpy(values + done, reader->values + reader->taken, n * sizeof *values);
        reader->taken += n;
        done += n;
    }
    *got = done;
    return GN_OK;
}
