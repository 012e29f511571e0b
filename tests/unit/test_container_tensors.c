// SPDX-License-Identifier: Apache-2.0
// .gn files of version 2: the directory with names, types and shapes.
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <gradnic/container.h>
#include <zlib.h>

#include "suite.h"

/// A file in memory.
typedef struct memory {
    uint8_t bytes[1 << 14];
    size_t size, at;
} memory;

static memory file;

static gn_status write_memory(void *context, const void *data, size_t bytes)
{
    memory *m = context;
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
    memcpy(data, m->bytes + m->at, *got);
    m->at += *got;
    return GN_OK;
}

enum { VALUES = 6 + 1 + 0 + 5 };
static const uint64_t square[] = {2, 3}, none[] = {0, 7}, five[] = {5};
static const gn_container_tensor tensors[] = {
    {.name = "w", .dtype = GN_FLOAT16, .fortran_order = true, .dimensions = 2, .shape = square},
    {.name = "scalar", .dtype = GN_FLOAT64},
    {.name = "", .dimensions = 2, .shape = none},
    {.name = "b/\xff", .dtype = GN_BFLOAT16, .dimensions = 1, .shape = five},
};
enum { TENSORS = sizeof tensors / sizeof *tensors };

static float value(size_t i)
{
    return (float)i / 512 - 1;
}

static gn_status begin(gn_container_writer **writer, const gn_container_tensor *list, size_t count)
{
    gn_codec codec;
    ck_assert_int_eq(gn_codec_init(&codec, GN_LATTICE, 10), GN_OK);
    file = (memory){0};
    return gn_container_writer_new_tensors(writer, &codec, 8, list, count, write_memory, &file);
}

static void make(void)
{
    gn_container_writer *writer;
    float values[VALUES];
    for (size_t i = 0; i < VALUES; i++) values[i] = value(i);
    ck_assert_int_eq(begin(&writer, tensors, TENSORS), GN_OK);
    ck_assert_int_eq(gn_container_write(writer, values, VALUES), GN_OK);
    uint8_t header[GN_CONTAINER_HEADER];
    ck_assert_int_eq(gn_container_writer_finish(writer, header), GN_OK);
    ck_assert_mem_eq(file.bytes, header, sizeof header);
}

/// Reads all of `file`. `text` is the fault's.
static gn_status read_all(char text[160])
{
    gn_container_reader *reader;
    float values[VALUES + 1];
    size_t got = 0, count;
    file.at = 0;
    gn_status status = gn_container_reader_new(&reader, read_memory, &file, NULL);
    if (!status) status = gn_container_read(reader, values, VALUES + 1, &got);
    if (status)
        strcpy(text, gn_container_reader_fault(reader)->text);
    else
        for (size_t i = 0; i < got; i++) ck_assert(values[i] == value(i));
    if (!status) {
        const gn_container_tensor *found = gn_container_reader_tensors(reader, &count);
        ck_assert_uint_eq(count, TENSORS);
        for (size_t i = 0; i < count; i++) {
            ck_assert_str_eq(found[i].name, tensors[i].name);
            ck_assert_int_eq(found[i].dtype, tensors[i].dtype);
            ck_assert(found[i].fortran_order == tensors[i].fortran_order);
            ck_assert_uint_eq(found[i].dimensions, tensors[i].dimensions);
            for (unsigned d = 0; d < found[i].dimensions; d++)
                ck_assert_uint_eq(found[i].shape[d], tensors[i].shape[d]);
        }
        ck_assert_uint_eq(found[0].count, 6);
        ck_assert_uint_eq(found[1].count, 1);
        ck_assert_uint_eq(found[2].count, 0);
        ck_assert_uint_eq(found[3].count, 5);
    }
    gn_container_reader_free(reader);
    return status;
}

START_TEST(tensors_come_back)
{
    char text[160];
    make();
    ck_assert_mem_eq(file.bytes, "GRADNIC2", 8);
    ck_assert_int_eq(read_all(text), GN_OK);
}
END_TEST

START_TEST(version_1_has_no_tensors)
{
    gn_codec codec;
    gn_container_writer *writer;
    gn_container_reader *reader;
    size_t count = 99;
    ck_assert_int_eq(gn_codec_init(&codec, GN_LATTICE, 10), GN_OK);
    file = (memory){0};
    ck_assert_int_eq(gn_container_writer_new(&writer, &codec, 8, 0, write_memory, &file), GN_OK);
    ck_assert_int_eq(gn_container_writer_finish(writer, NULL), GN_OK);
    ck_assert_mem_eq(file.bytes, "GRADNIC1", 8);
    ck_assert_int_eq(gn_container_reader_new(&reader, read_memory, &file, NULL), GN_OK);
    gn_container_reader_tensors(reader, &count);
    ck_assert_uint_eq(count, 0);
    ck_assert_uint_eq(gn_container_reader_info(reader)->directory_bytes, 0);
    gn_container_reader_free(reader);
}
END_TEST

START_TEST(every_flipped_bit_and_every_cut_is_found)
{
    char text[160];
    make();
    const memory good = file;
    for (size_t i = 0; i < good.size; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            file.bytes[i] ^= (uint8_t)(1u << bit);
            ck_assert_msg(read_all(text) != GN_OK, "byte %zu, bit %u", i, bit);
            ck_assert_ptr_nonnull(strstr(text, "byte "));
            file.bytes[i] = good.bytes[i];
        }
    for (size_t size = 0; size < good.size; size++) {
        file.size = size;
        ck_assert_msg(read_all(text) != GN_OK, "cut to %zu", size);
    }
    file = good;
    file.size++;
    ck_assert_int_eq(read_all(text), GN_CORRUPT);
}
END_TEST

static void put32(size_t at, uint32_t n)
{
    memcpy(file.bytes + at, &n, sizeof n);
}

static uint32_t get32(size_t at)
{
    uint32_t n;
    memcpy(&n, file.bytes + at, sizeof n);
    return n;
}

/// Makes both CRCs fit again after something was changed on purpose.
static void seal(void)
{
    put32(36, (uint32_t)crc32(0, file.bytes, 36));
    const uint32_t bytes = get32(32);
    if (bytes < 4 || 40 + bytes > file.size) return;
    put32(40 + bytes - 4, (uint32_t)crc32(0, file.bytes + 40, bytes - 4));
}

START_TEST(directories_that_lie)
{
    // The entries begin at 44 (8 + 16 + 1 bytes), 69 (8 + 6), 83 (8 + 16) and 107 (8 + 8 + 3).
    static const struct {
        size_t at;
        uint8_t byte;
        const char *text;
    } cases[] = {
        {35, 2, "byte 32: a directory of 33554522 bytes; it has 1 to 16777216"},
        {40, 0, "byte 40: an impossible number of tensors"},
        {40, 3, "byte 107: the directory goes on behind its last tensor"},
        {40, 5, "byte 126: the directory ends within a tensor"},
        {42, 1, "byte 40: an impossible number of tensors"},
        {44, 2, "byte 75: the reserved field is not zero"},
        {45, 5, "byte 44: a name of more than 1024 bytes"},
        {45, 1, "byte 44: the directory ends within a tensor"},
        {46, 4, "byte 46: the type is unknown"},
        {47, 2, "byte 47: the order is unknown"},
        {48, 65, "byte 48: more than 64 dimensions"},
        {48, 64, "byte 44: the directory ends within a tensor"},
        {49, 1, "byte 49: the reserved field is not zero"},
        {51, 0x80, "byte 49: the reserved field is not zero"},
        {52, 1, "byte 40: the tensors have 9 values, the file 12"},
        {52, 9, "byte 44: the tensors have more values than the file"},
        {59, 0x80, "byte 52: the shape is too large"},
        {68, 0, "byte 44: a name holds a zero byte"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[160] = "";
        make();
        ck_assert_uint_eq(get32(32), 4 + 25 + 14 + 24 + 19 + 4);
        file.bytes[cases[i].at] = cases[i].byte;
        seal();
        ck_assert_int_eq(read_all(text), GN_CORRUPT);
        ck_assert_str_eq(text, cases[i].text);
    }
    char text[160];
    make();
    for (size_t bytes = 0; bytes < 8; bytes++) {
        put32(32, (uint32_t)bytes);
        put32(36, (uint32_t)crc32(0, file.bytes, 36));
        ck_assert_int_eq(read_all(text), GN_CORRUPT);
        ck_assert_str_eq(text, bytes ? "byte 40: the directory is too short"
                                     : "byte 32: a directory of 0 bytes; it has 1 to 16777216");
    }
}
END_TEST

START_TEST(names_are_unique)
{
    gn_container_writer *writer;
    static const gn_container_tensor same[] = {{.name = "a"}, {.name = "b"}, {.name = "a"}};
    ck_assert_int_eq(begin(&writer, same, 3), GN_INVALID);
    static const gn_container_tensor good[] = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
    ck_assert_int_eq(begin(&writer, good, 3), GN_OK);
    const float values[3] = {0};
    ck_assert_int_eq(gn_container_write(writer, values, 3), GN_OK);
    ck_assert_int_eq(gn_container_writer_finish(writer, NULL), GN_OK);
    file.bytes[44 + 2 * 9 + 8] = 'a';
    seal();
    char text[160];
    ck_assert_int_eq(read_all(text), GN_CORRUPT);
    ck_assert_str_eq(text, "byte 40: tensor 2 has the name of another one");
}
END_TEST

START_TEST(writers_refuse_what_a_file_cannot_hold)
{
    static char name[GN_CONTAINER_NAME_MAX + 2];
    static uint64_t shape[GN_CONTAINER_DIMENSIONS + 1];
    memset(name, 'x', GN_CONTAINER_NAME_MAX + 1);
    gn_container_writer *writer;
    gn_container_tensor tensor = {.name = name};
    ck_assert_int_eq(begin(&writer, &tensor, 0), GN_INVALID);
    ck_assert_int_eq(begin(&writer, &tensor, 1), GN_INVALID);
    name[GN_CONTAINER_NAME_MAX] = 0;
    ck_assert_int_eq(begin(&writer, &tensor, 1), GN_OK);
    gn_container_writer_abort(writer);
    tensor.shape = shape;
    tensor.dimensions = GN_CONTAINER_DIMENSIONS + 1;
    ck_assert_int_eq(begin(&writer, &tensor, 1), GN_INVALID);
    tensor.dimensions = 2;
    shape[0] = shape[1] = (uint64_t)1 << 32;
    ck_assert_int_eq(begin(&writer, &tensor, 1), GN_INVALID);
    tensor.dimensions = 0;
    tensor.dtype = GN_DTYPE_COUNT;
    ck_assert_int_eq(begin(&writer, &tensor, 1), GN_INVALID);
    gn_container_tensor *many = calloc(GN_CONTAINER_TENSORS_MAX + 1, sizeof *many);
    ck_assert_ptr_nonnull(many);
    ck_assert_int_eq(begin(&writer, many, GN_CONTAINER_TENSORS_MAX + 1), GN_INVALID);
    free(many);
    // Fewer values than the shapes say.
    const float values[VALUES] = {0};
    ck_assert_int_eq(begin(&writer, tensors, TENSORS), GN_OK);
    ck_assert_int_eq(gn_container_write(writer, values, VALUES - 1), GN_OK);
    ck_assert_int_eq(gn_container_writer_finish(writer, NULL), GN_INVALID);
}
END_TEST

int main(void)
{
    return RUN_TESTS("container_tensors", tensors_come_back, version_1_has_no_tensors,
                     every_flipped_bit_and_every_cut_is_found, directories_that_lie, names_are_unique,
                     writers_refuse_what_a_file_cannot_hold);
}
