// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <gradnic/container.h>
#include <zlib.h>

#include "suite.h"

/// A file in memory.
typedef struct memory {
    uint8_t bytes[1 << 16];
    size_t size, at;
    size_t largest_read;  // pieces are handed out no larger than asked for
    int fail_after;       // writes until GN_IO; -1: never
} memory;

static memory file;

static gn_status write_memory(void *context, const void *data, size_t bytes)
{
    memory *m = context;
    if (m->fail_after == 0) return GN_IO;
    if (m->fail_after > 0) m->fail_after--;
    ck_assert_uint_le(m->size + bytes, sizeof m->bytes);
    memcpy(m->bytes + m->size, data, bytes);
    m->size += bytes;
    return GN_OK;
}

static gn_status read_memory(void *context, void *data, size_t bytes, size_t *got)
{
    memory *m = context;
    const size_t rest = m->size - m->at;
    *got = bytes < rest ? bytes : rest;
    if (bytes > m->largest_read) m->largest_read = bytes;
    memcpy(data, m->bytes + m->at, *got);
    m->at += *got;
    return GN_OK;
}

static float value(size_t i)
{
    static const float scale[] = {0, 0.0005f, 0.02f, 0.7f, 3.0f};
    const float noise = (float)((i * 2654435761u >> 7) % 2001) / 1000.0f - 1.0f;
    return i % 11 == 10 ? noise * 70 : noise * scale[i / 16 % 5];
}

static void fill(float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) values[i] = value(i);
}

static gn_codec codec_of(gn_profile profile)
{
    gn_codec codec;
    ck_assert_int_eq(gn_codec_init(&codec, profile, 10), GN_OK);
    return codec;
}

/// Writes `count` values in pieces of `piece` into `file`.
static void make(gn_profile profile, uint32_t per_block, size_t count, size_t piece, bool announced)
{
    static float values[8192];
    ck_assert_uint_le(count, 8192);
    fill(values, count);
    const gn_codec codec = codec_of(profile);
    gn_container_writer *writer = NULL;
    file = (memory){.fail_after = -1};
    ck_assert_int_eq(gn_container_writer_new(&writer, &codec, per_block, announced ? count : GN_CONTAINER_UNKNOWN,
                                             write_memory, &file),
                     GN_OK);
    for (size_t at = 0; at < count; at += piece)
        ck_assert_int_eq(gn_container_write(writer, values + at, count - at < piece ? count - at : piece), GN_OK);
    uint8_t header[GN_CONTAINER_HEADER];
    ck_assert_int_eq(gn_container_writer_finish(writer, header), GN_OK);
    if (announced) ck_assert_mem_eq(file.bytes, header, sizeof header);
    memcpy(file.bytes, header, sizeof header);
}

/// Reads `file` to the end in pieces; the status, and the fault's text in `text`.
static gn_status read_all(size_t piece, float *values, size_t capacity, size_t *count, char text[160])
{
    gn_container_reader *reader = NULL;
    file.at = 0;
    *count = 0;
    gn_status status = gn_container_reader_new(&reader, read_memory, &file, NULL);
    while (!status) {
        size_t got;
        status =
            gn_container_read(reader, values + *count, capacity - *count < piece ? capacity - *count : piece, &got);
        if (!got) break;
        *count += got;
    }
    if (status) {
        strcpy(text, gn_container_reader_fault(reader)->text);
        size_t got;  // a failed reader stays so
        ck_assert_int_ne(gn_container_read(reader, values, 1, &got), GN_OK);
    }
    gn_container_reader_free(reader);
    return status;
}

START_TEST(round_trips)
{
    static float in[8192], expected[8192], out[8192 + 1];
    static const size_t counts[] = {0, 1, 7, 8, 9, 63, 64, 65, 128, 1000, 8192};
    static const size_t pieces[] = {1, 13, 64, 4096};
    for (gn_profile profile = GN_PAPER; profile < GN_PROFILE_COUNT; profile++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
                const gn_codec codec = codec_of(profile);
                make(profile, 64, counts[c], pieces[p], p & 1);
                fill(in, counts[c]);
                ck_assert_int_eq(gn_quantise(&codec, in, expected, NULL, counts[c]), GN_OK);
                size_t count;
                char text[160];
                ck_assert_int_eq(read_all(pieces[(p + c) % 4], out, 8193, &count, text), GN_OK);
                ck_assert_uint_eq(count, counts[c]);
                ck_assert_int_eq(memcmp(out, expected, count * sizeof *out), 0);
            }
}
END_TEST

START_TEST(the_bytes_are_those_of_the_format)
{
    const gn_codec codec = codec_of(GN_LATTICE);
    const float values[9] = {1.0f, 0, 0, 0, 0, 0, 0, 0, 64.0f};
    gn_container_writer *writer = NULL;
    file = (memory){.fail_after = -1};
    ck_assert_int_eq(gn_container_writer_new(&writer, &codec, 8, 9, write_memory, &file), GN_OK);
    ck_assert_int_eq(gn_container_write(writer, values, 9), GN_OK);
    ck_assert_int_eq(gn_container_writer_finish(writer, NULL), GN_OK);
    static const uint8_t header[32] = {'G', 'R', 'A', 'D', 'N', 'I', 'C', '1', 1, 10, 0, 0, 8,
                                       0,   0,   0,   9,   0,   0,   0,   0,   0, 0,  0, 2};
    static const uint8_t first[4] = {2, 0, 0, 2}, second[6] = {3, 0, 0, 0, 0x80, 0x42};
    ck_assert_uint_eq(file.size, 40 + 8 + 4 + 8 + 6);
    ck_assert_mem_eq(file.bytes, header, 32);
    const uint32_t crcs[3] = {(uint32_t)crc32(0, header, 32), (uint32_t)crc32(0, first, 4),
                              (uint32_t)crc32(0, second, 6)};
    const uint32_t lengths[2] = {4, 6};
    ck_assert_mem_eq(file.bytes + 32, &crcs[0], 4);
    ck_assert_mem_eq(file.bytes + 36, "\0\0\0\0", 4);
    ck_assert_mem_eq(file.bytes + 40, &lengths[0], 4);
    ck_assert_mem_eq(file.bytes + 44, &crcs[1], 4);
    ck_assert_mem_eq(file.bytes + 48, first, 4);
    ck_assert_mem_eq(file.bytes + 52, &lengths[1], 4);
    ck_assert_mem_eq(file.bytes + 56, &crcs[2], 4);
    ck_assert_mem_eq(file.bytes + 60, second, 6);
}
END_TEST

START_TEST(every_flipped_bit_and_every_cut_is_found)
{
    static float out[512];
    size_t count;
    char text[160];
    make(GN_LATTICE, 64, 200, 64, true);
    const memory good = file;
    for (size_t i = 0; i < good.size; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            file.bytes[i] ^= (uint8_t)(1u << bit);
            ck_assert_msg(read_all(64, out, 512, &count, text) != GN_OK, "byte %zu, bit %u", i, bit);
            ck_assert_ptr_nonnull(strstr(text, "byte "));
            if (i >= 40) ck_assert_msg(!strncmp(text, "block ", 6), "byte %zu: %s", i, text);
            file.bytes[i] = good.bytes[i];
        }
    for (size_t size = 0; size < good.size; size++) {
        file.size = size;
        ck_assert_msg(read_all(64, out, 512, &count, text) != GN_OK, "cut to %zu", size);
    }
    file = good;
    file.size++;
    ck_assert_int_eq(read_all(64, out, 512, &count, text), GN_CORRUPT);
    ck_assert_ptr_nonnull(strstr(text, "the file goes on behind its 4 blocks"));
}
END_TEST

/// Makes the header's CRC fit again after it was changed on purpose.
static void seal_header(void)
{
    const uint32_t crc = (uint32_t)crc32(0, file.bytes, 32);
    memcpy(file.bytes + 32, &crc, 4);
}

START_TEST(headers_that_lie)
{
    static const struct {
        size_t at;
        uint8_t byte;
        gn_status status;
        const char *text;
    } cases[] = {
        {0, 'X', GN_CORRUPT, "byte 0: not a .gn file"},
        {7, '3', GN_UNSUPPORTED, "byte 7: version 0x33 of .gn is unknown"},
        {7, '0', GN_UNSUPPORTED, "byte 7: version 0x30 of .gn is unknown"},
        {8, 3, GN_CORRUPT, "byte 8: profile 3 is unknown"},
        {9, 100, GN_CORRUPT, "byte 9: profile lattice has no bound 2^-100"},
        {10, 1, GN_CORRUPT, "byte 10: the reserved field is not zero"},
        {11, 0x80, GN_CORRUPT, "byte 10: the reserved field is not zero"},
        {12, 65, GN_CORRUPT, "byte 12: 65 values per block: not a multiple of 8 from 8 to 1048576"},
        {12, 0, GN_CORRUPT, "byte 12: 0 values per block: not a multiple of 8 from 8 to 1048576"},
        {15, 0x80, GN_CORRUPT, "byte 12: 2147483712 values per block: not a multiple of 8 from 8 to 1048576"},
        {24, 5, GN_CORRUPT, "byte 24: 5 blocks; 200 values make 4"},
        {24, 3, GN_CORRUPT, "byte 24: 3 blocks; 200 values make 4"},
        {25, 1, GN_CORRUPT, "byte 24: 260 blocks; 200 values make 4"},
        {31, 1, GN_CORRUPT, "byte 24: 72057594037927940 blocks; 200 values make 4"},
        {16, 1, GN_CORRUPT, "byte 24: 4 blocks; 1 values make 1"},
        {36, 1, GN_CORRUPT, "byte 36: the last field is not zero"},
        {39, 0x80, GN_CORRUPT, "byte 36: the last field is not zero"},
    };
    static float out[512];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t count;
        char text[160];
        make(GN_LATTICE, 64, 200, 64, true);
        file.bytes[cases[i].at] = cases[i].byte;
        seal_header();
        ck_assert_int_eq(read_all(64, out, 512, &count, text), cases[i].status);
        ck_assert_str_eq(text, cases[i].text);
    }
}
END_TEST

/// A file of one block whose stream is `stream`, with a CRC that fits.
static void make_block(size_t values, const uint8_t *stream, uint32_t bytes)
{
    const gn_container_info info = {
        .profile = GN_LATTICE, .bound_exp = 10, .values_per_block = 64, .value_count = values};
    file = (memory){.fail_after = -1};
    ck_assert_int_eq(gn_container_encode_header(&info, file.bytes), GN_OK);
    const uint32_t crc = (uint32_t)crc32(0, stream, bytes);
    memcpy(file.bytes + 40, &bytes, 4);
    memcpy(file.bytes + 44, &crc, 4);
    memcpy(file.bytes + 48, stream, bytes);
    file.size = 48 + bytes;
}

START_TEST(blocks_that_lie)
{
    static float out[512];
    size_t count;
    char text[160];
    static const uint8_t zeros[600] = {0}, padding[3] = {0, 0x40, 1};
    make_block(16, zeros, 4);
    ck_assert_int_eq(read_all(64, out, 512, &count, text), GN_OK);
    ck_assert_uint_eq(count, 16);
    make_block(16, zeros, 2);
    ck_assert_int_eq(read_all(64, out, 512, &count, text), GN_TRUNCATED);
    ck_assert_str_eq(text, "block 0, byte 50: the stream ends before the block's last value (of 16)");
    make_block(16, zeros, 6);
    ck_assert_int_eq(read_all(64, out, 512, &count, text), GN_CORRUPT);
    ck_assert_str_eq(text,
                     "block 0, byte 52: a bad record or run of zeros, or bytes behind the block's last value (of 16)");
    make_block(7, padding, 3);  // lane 7 is padding, and not empty
    ck_assert_int_eq(read_all(64, out, 512, &count, text), GN_CORRUPT);
    ck_assert_str_eq(text,
                     "block 0, byte 48: a bad record or run of zeros, or bytes behind the block's last value (of 7)");
    make_block(8, padding, 3);
    ck_assert_int_eq(read_all(64, out, 512, &count, text), GN_OK);
    make_block(8, zeros, 600);
    ck_assert_int_eq(read_all(64, out, 512, &count, text), GN_CORRUPT);
    ck_assert_str_eq(text, "block 0, byte 40: 600 bytes; 8 values make at most 34");
    ck_assert_uint_le(file.largest_read, 40);
}
END_TEST

/// A block that somebody else has read, and that ends within its header.
START_TEST(blocks_that_are_short)
{
    const gn_codec codec = codec_of(GN_LATTICE);
    gn_container_fault fault;
    float values[8];
    make_block(8, (const uint8_t[4]){0}, 4);
    for (size_t bytes = 0; bytes < GN_CONTAINER_BLOCK_HEADER; bytes++) {
        uint8_t *data = malloc(bytes ? bytes : 1);
        ck_assert(data);
        memcpy(data, file.bytes + 40, bytes);
        const gn_container_block block = {.index = 7, .offset = 40, .data = data, .bytes = bytes, .count = 8};
        ck_assert_int_eq(gn_container_block_decode(&codec, &block, values, &fault), GN_TRUNCATED);
        ck_assert_str_eq(fault.text, "block 7, byte 40: the block ends within its header");
        free(data);
    }
}
END_TEST

START_TEST(headers_that_no_reader_takes_are_not_made)
{
    uint8_t header[GN_CONTAINER_HEADER];
    const gn_container_info good = {.profile = GN_DENSE, .bound_exp = 10, .values_per_block = 64, .value_count = 8};
    gn_container_info bad[] = {good, good, good, good};
    bad[0].profile = GN_PROFILE_COUNT;
    bad[1].bound_exp = 32;
    bad[2].values_per_block = 63;
    bad[3].value_count = GN_CONTAINER_UNKNOWN;
    ck_assert_int_eq(gn_container_encode_header(&good, header), GN_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_int_eq(gn_container_encode_header(&bad[i], header), GN_INVALID);
}
END_TEST

/// Every further call of a reader that failed gives the same failure and no values, though the
/// rest of the file is good.
START_TEST(a_failure_stays)
{
    static float out[64];
    static uint8_t block[4096];
    make(GN_LATTICE, 64, 200, 64, true);
    file.bytes[40 + 8 + 3] ^= 1;  // in the first block's stream
    file.at = 0;
    gn_container_reader *reader = NULL;
    ck_assert_int_eq(gn_container_reader_new(&reader, read_memory, &file, NULL), GN_OK);
    char text[160];
    for (int i = 0; i < 3; i++) {
        size_t got = 99;
        ck_assert_int_eq(gn_container_read(reader, out, 64, &got), GN_CORRUPT);
        ck_assert_uint_eq(got, 0);
        if (i) ck_assert_str_eq(gn_container_reader_fault(reader)->text, text);
        strcpy(text, gn_container_reader_fault(reader)->text);
    }
    gn_container_block next;
    const size_t at = file.at;
    ck_assert_int_eq(gn_container_next_block(reader, block, &next), GN_CORRUPT);
    ck_assert_uint_eq(file.at, at);  // nothing more was read
    gn_container_reader_free(reader);
}
END_TEST

static gn_status write_once_not(void *context, const void *data, size_t bytes)
{
    int *calls = context;
    (void)data, (void)bytes;
    return ++*calls == 2 ? GN_IO : GN_OK;  // the header is the first
}

// A block that could not be written is not followed by others, even where these could be.
START_TEST(a_failure_of_a_write_ends_the_call)
{
    static float values[300];
    const gn_codec codec = codec_of(GN_LATTICE);
    fill(values, 300);
    for (size_t waiting = 0; waiting <= 5; waiting += 5) {  // from the caller's array, or collected
        gn_container_writer *writer = NULL;
        int calls = 0;
        ck_assert_int_eq(gn_container_writer_new(&writer, &codec, 64, GN_CONTAINER_UNKNOWN, write_once_not, &calls),
                         GN_OK);
        ck_assert_int_eq(calls, 1);
        ck_assert_int_eq(gn_container_write(writer, values, waiting), GN_OK);
        ck_assert_int_eq(gn_container_write(writer, values, 300 - waiting), GN_IO);
        ck_assert_int_eq(calls, 2);
        gn_container_writer_abort(writer);
    }
}
END_TEST

START_TEST(writers_refuse_what_was_not_announced)
{
    static float values[100];
    const gn_codec codec = codec_of(GN_LATTICE);
    gn_container_writer *writer = NULL;
    file = (memory){.fail_after = -1};
    ck_assert_int_eq(gn_container_writer_new(&writer, &codec, 12, 100, write_memory, &file), GN_INVALID);
    ck_assert_int_eq(
        gn_container_writer_new(&writer, &codec, GN_CONTAINER_BLOCK_VALUES_MAX + 8, 100, write_memory, &file),
        GN_INVALID);
    ck_assert_int_eq(gn_container_writer_new(&writer, &codec, 8, 16, write_memory, &file), GN_OK);
    ck_assert_int_eq(gn_container_write(writer, values, 24), GN_INVALID);
    gn_container_writer_abort(writer);
    ck_assert_int_eq(gn_container_writer_new(&writer, &codec, 8, 16, write_memory, &file), GN_OK);
    ck_assert_int_eq(gn_container_write(writer, values, 12), GN_OK);
    ck_assert_int_eq(gn_container_writer_finish(writer, NULL), GN_INVALID);
    for (int writes = 0; writes < 3; writes++) {  // a full disk, at every place
        file = (memory){.fail_after = writes};
        gn_status status = gn_container_writer_new(&writer, &codec, 64, 100, write_memory, &file);
        if (!status) {
            status = gn_container_write(writer, values, 100);
            const gn_status last = gn_container_writer_finish(writer, NULL);
            if (!status) status = last;
        }
        ck_assert_int_eq(status, GN_IO);
    }
}
END_TEST

START_TEST(blocks_by_hand_give_the_same_file)
{
    static float values[200];
    static uint8_t block[1024];
    make(GN_LATTICE, 64, 200, 200, true);
    const memory expected = file;
    fill(values, 200);
    const gn_codec codec = codec_of(GN_LATTICE);
    gn_container_writer *writer = NULL;
    file = (memory){.fail_after = -1};
    ck_assert_int_eq(gn_container_writer_new(&writer, &codec, 64, GN_CONTAINER_UNKNOWN, write_memory, &file), GN_OK);
    for (size_t at = 0; at < 200; at += 64) {
        const size_t count = 200 - at < 64 ? 200 - at : 64;
        size_t bytes;
        ck_assert_uint_le(gn_container_block_bound(GN_LATTICE, count), sizeof block);
        ck_assert_int_eq(gn_container_block_encode(&codec, values + at, count, block, sizeof block, &bytes), GN_OK);
        ck_assert_int_eq(gn_container_put_block(writer, block, bytes, count), GN_OK);
    }
    ck_assert_int_eq(gn_container_put_block(writer, block, 8, 8), GN_INVALID);  // behind a short block
    ck_assert_int_eq(gn_container_writer_finish(writer, file.bytes), GN_OK);
    ck_assert_uint_eq(file.size, expected.size);
    ck_assert_mem_eq(file.bytes, expected.bytes, file.size);
}
END_TEST

int main(void)
{
    return RUN_TESTS("container", round_trips, the_bytes_are_those_of_the_format,
                     every_flipped_bit_and_every_cut_is_found, headers_that_lie, blocks_that_lie, blocks_that_are_short,
                     headers_that_no_reader_takes_are_not_made, a_failure_stays, a_failure_of_a_write_ends_the_call,
                     writers_refuse_what_was_not_announced, blocks_by_hand_give_the_same_file);
}
