// SPDX-License-Identifier: Apache-2.0
// Any bytes as a .gn file of either version. Bit 0 of the first byte makes the checksums fit, so
// that the fuzzer also gets behind them. A file that is accepted holds as many values as the
// header says. Writing them again gives a file that reads back as the same values.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <gradnic/container.h>
#include <zlib.h>

#include "fuzz.h"

typedef struct memory {
    uint8_t *bytes;
    size_t size, at, capacity;
} memory;

static gn_status read_memory(void *context, void *data, size_t bytes, size_t *got)
{
    memory *m = context;
    *got = bytes < m->size - m->at ? bytes : m->size - m->at;
    memcpy(data, m->bytes + m->at, *got);
    m->at += *got;
    return GN_OK;
}

static gn_status write_memory(void *context, const void *data, size_t bytes)
{
    memory *m = context;
    if (m->capacity - m->size < bytes) {
        m->capacity = (m->size + bytes) * 2;
        m->bytes = realloc(m->bytes, m->capacity);
        if (!m->bytes) abort();
    }
    memcpy(m->bytes + m->size, data, bytes);
    m->size += bytes;
    return GN_OK;
}

/// Recomputes the CRC of the header and of the directory. @return where the blocks begin
static size_t seal_front(uint8_t *bytes, size_t size)
{
    const size_t at = bytes[7] == '2' ? 36 : 32;
    uint32_t crc = (uint32_t)crc32(0, bytes, (unsigned)at), length;
    memcpy(bytes + at, &crc, 4);
    if (bytes[7] != '2') return 40;
    memcpy(&length, bytes + 32, 4);
    if (length < 4 || length > size - 40) return size;
    crc = (uint32_t)crc32(0, bytes + 40, length - 4);
    memcpy(bytes + 40 + length - 4, &crc, 4);
    return 40 + length;
}

/// Recomputes the header's, the directory's and every block's CRC.
static void seal(uint8_t *bytes, size_t size)
{
    if (size < 40) return;
    uint32_t crc, length;
    for (size_t at = seal_front(bytes, size); at + 8 <= size; at += 8 + length) {
        memcpy(&length, bytes + at, 4);
        if (length > size - at - 8) break;
        crc = (uint32_t)crc32(0, bytes + at + 8, length);
        memcpy(bytes + at + 4, &crc, 4);
    }
}

/// Reads all values of `in` and writes them to `out` (may be NULL). `*crc` takes the values' CRC.
/// @return whether the file was good
static int copy(memory *in, memory *out, uint32_t *crc)
{
    *crc = 0;
    in->at = 0;
    gn_container_reader *reader;
    gn_container_writer *writer = NULL;
    gn_status status = gn_container_reader_new(&reader, read_memory, in, NULL);
    const gn_container_info *info = gn_container_reader_info(reader);
    size_t tensor_count = 0;
    const gn_container_tensor *tensors = gn_container_reader_tensors(reader, &tensor_count);
    if (!status && out && tensor_count)
        status = gn_container_writer_new_tensors(&writer, gn_container_reader_codec(reader), info->values_per_block,
                                                 tensors, tensor_count, write_memory, out);
    else if (!status && out)
        status = gn_container_writer_new(&writer, gn_container_reader_codec(reader), info->values_per_block,
                                         info->value_count, write_memory, out);
    uint64_t count = 0;
    for (size_t got = 1; !status && got;) {
        float buffer[1000];
        status = gn_container_read(reader, buffer, 1000, &got);
        count += got;
        *crc = (uint32_t)crc32_z(*crc, (const uint8_t *)buffer, got * sizeof *buffer);
        if (!status && out && gn_container_write(writer, buffer, got)) abort();
    }
    if (!status && count != info->value_count) abort();
    if (status && status != GN_NO_MEMORY && !gn_container_reader_fault(reader)->text[0]) abort();
    if (!status && out && gn_container_writer_finish(writer, NULL)) abort();
    if (status) gn_container_writer_abort(writer);
    gn_container_reader_free(reader);
    return !status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;
    memory in = {.bytes = malloc(size - 1), .size = size - 1}, once = {0}, twice = {0};
    if (!in.bytes) abort();
    memcpy(in.bytes, data + 1, in.size);
    if (data[0] & 1) seal(in.bytes, in.size);
    uint32_t crc, crc_once, crc_twice;
    if (copy(&in, &once, &crc)) {
        // decode(encode(.)) is idempotent: from the first copy on the values stay. The bytes need
        // not stay in profile paper, where a payload can be zero.
        if (!copy(&once, &twice, &crc_once) || !copy(&twice, NULL, &crc_twice) || crc_once != crc_twice) abort();
    }
    free(in.bytes);
    free(once.bytes);
    free(twice.bytes);
    return 0;
}
