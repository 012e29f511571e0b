// SPDX-License-Identifier: Apache-2.0
// The .npy reader and writer, and the sources of values built on them. Files made by NumPy itself:
// tests/tools/npy.sh.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "suite.h"
#include "tools/files/npy.h"
#include "tools/files/values.h"

static gn_error error;  // of the last failure

static char file_bytes[65536 + 4096];

/// Makes a .npy file in file_bytes: version `major`, the given dictionary, then `data` bytes 0, 1,
/// 2, ... Returns its size.
static size_t make(unsigned major, const char *dictionary, size_t data)
{
    const size_t length = strlen(dictionary), prefix = major == 1 ? 10 : 12;
    memcpy(file_bytes, "\x93NUMPY", 6);
    file_bytes[6] = (char)major;
    file_bytes[7] = 0;
    for (unsigned i = 0; i < prefix - 8; i++) file_bytes[8 + i] = (char)(length >> 8 * i & 0xff);
    memcpy(file_bytes + prefix, dictionary, length);
    for (size_t i = 0; i < data; i++) file_bytes[prefix + length + i] = (char)i;
    return prefix + length + data;
}

static gn_status open_bytes(gn_values **values, size_t size)
{
    gn_input *input = NULL;
    FILE *stream = fmemopen(file_bytes, size ? size : 1, "rb");
    if (!size) fgetc(stream);
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(gn_input_from_stream(&input, stream, "x.npy", &error), GN_OK);
    return gn_values_from_input(values, input, &(gn_values_choice){.format = GN_FORMAT_NPY, .cast = true}, &error);
}

/// Reads to the end; the first message, or NULL with the number of values in `*count`.
static gn_status read_bytes(size_t size, size_t piece, uint64_t *count)
{
    gn_values *values = NULL;
    gn_status wrong = open_bytes(&values, size);
    if (wrong) return wrong;
    float buffer[64];
    *count = 0;
    for (;;) {
        size_t got;
        wrong = gn_values_read(values, buffer, piece, &got, &error);
        if (wrong || !got) break;
        for (size_t i = 0; i < got; i++) {
            uint8_t expected[4];
            for (unsigned b = 0; b < 4; b++) expected[b] = (uint8_t)((*count + i) * 4 + b);
            ck_assert_mem_eq(&buffer[i], expected, 4);
        }
        *count += got;
    }
    gn_values_close(values);
    return wrong;
}

START_TEST(headers_that_are_good)
{
    static const struct {
        unsigned major;
        const char *dictionary;
        size_t values;
    } cases[] = {
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }          \n", 3},
        {2, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }\n", 12},
        {3, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3, 4), }\n", 24},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n", 1},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }\n", 0},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (999999999999, 0, 999999999999), }\n", 0},
        {1, "{\"shape\":(3L,4L),\"fortran_order\":False,\"descr\":\"<f4\"}", 12},
        {1, " { 'shape' : ( 2 , 2 ) , 'descr' : '<f4' , 'fortran_order' : False } ", 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t size = make(cases[i].major, cases[i].dictionary, cases[i].values * 4);
        for (size_t piece = 1; piece <= 64; piece += 9) {
            uint64_t count = 99;
            gn_status wrong = read_bytes(size, piece, &count);
            ck_assert_msg(!wrong, "%s: %s", cases[i].dictionary, error.text);
            ck_assert_uint_eq(count, cases[i].values);
        }
    }
}
END_TEST

START_TEST(header_fields)
{
    gn_values *values = NULL;
    const size_t size = make(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (5, 2), }\n", 40);
    ck_assert_int_eq(open_bytes(&values, size), GN_OK);
    const gn_npy *npy = gn_values_npy(values);
    ck_assert_uint_eq(npy->dimensions, 2);
    ck_assert_uint_eq(npy->shape[0], 5);
    ck_assert_uint_eq(npy->shape[1], 2);
    ck_assert(npy->fortran_order);
    ck_assert_uint_eq(gn_values_count(values), 10);
    ck_assert_uint_eq(npy->header_bytes, size - 40);
    gn_values_close(values);
}
END_TEST

START_TEST(headers_that_are_bad)
{
    static const struct {
        const char *dictionary, *message;
    } cases[] = {
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }",
         "x.npy: byte 20: dtype '<i8' is not float16, bfloat16, float32 or float64"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (3,), }",
         "x.npy: byte 20: dtype '<c8' is not float16, bfloat16, float32 or float64"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }",
         "x.npy: byte 20: a structured dtype is not floating point; save one field, as a.astype('<f4')"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (3,), }",
         "x.npy: byte 44: the header is malformed: True or False expected"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 3, }",
         "x.npy: byte 60: the header is malformed: '(' expected"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-3,), }",
         "x.npy: byte 61: the header is malformed: a dimension expected"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
         "x.npy: byte 59: the shape is impossibly large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999), }",
         "x.npy: byte 61: a dimension is impossibly large"},
        {"{'descr': '<f4', 'fortran_order': False}", "x.npy: byte 10: the header has no 'shape'"},
        {"{'descr': '<f4', 'shape': (3,)}", "x.npy: byte 10: the header has no 'fortran_order'"},
        {"{}", "x.npy: byte 10: the header has no dtype ('descr')"},
        {"{'descr': '<f4', 'descr': '<f4'}", "x.npy: byte 27: the header has the same key twice"},
        {"{'colour': 'red'}", "x.npy: byte 11: the header has a key that .npy does not know"},
        {"{'descr': '<f4", "x.npy: byte 20: the header is malformed: a string without an end"},
        {"{'descr'", "x.npy: byte 18: the header is malformed: ':' expected"},
        {"", "x.npy: byte 10: the header is malformed: '{' expected"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), } x",
         "x.npy: byte 68: the header is malformed: something follows the dictionary"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gn_values *values = NULL;
        ck_assert_fails(open_bytes(&values, make(1, cases[i].dictionary, 12)), cases[i].message);
    }
}
END_TEST

START_TEST(prefixes_that_are_bad)
{
    static const char *const dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
    gn_values *values = NULL;
    size_t size = make(1, dictionary, 12);
    for (size_t cut = 0; cut < size - 12; cut++) ck_assert_int_ne(open_bytes(&values, cut), GN_OK);
    size = make(4, dictionary, 12);
    ck_assert_fails(open_bytes(&values, size), "x.npy: byte 6: .npy version 4.0 is not known (1.0, 2.0 and 3.0 are)");
    size = make(1, dictionary, 12);
    file_bytes[7] = 1;
    ck_assert_fails(open_bytes(&values, size), "x.npy: byte 6: .npy version 1.1 is not known (1.0, 2.0 and 3.0 are)");
    size = make(2, dictionary, 12);
    memcpy(file_bytes + 8, "\xff\xff\xff\xff", 4);
    ck_assert_fails(open_bytes(&values, size), "x.npy: byte 8: a header of 4294967295 bytes is longer than 65536");
    size = make(1, dictionary, 12);
    file_bytes[0] = 'x';
    ck_assert_fails(open_bytes(&values, size), "x.npy: byte 0: not a .npy file");
}
END_TEST

START_TEST(data_that_is_short_or_long)
{
    static const char *const dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
    uint64_t count;
    for (size_t data = 0; data < 20; data++) {
        gn_status wrong = read_bytes(make(1, dictionary, data), 2, &count);
        ck_assert((wrong == GN_OK) == (data == 12));
    }
    ck_assert_fails(read_bytes(make(1, dictionary, 9), 2, &count), "x.npy: byte 76: ends after 2 of 3 values");
    ck_assert_fails(read_bytes(make(1, dictionary, 16), 8, &count),
                    "x.npy: byte 79: the file goes on after its 3 values");
    static const char *const scalar = "{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }";
    ck_assert_int_ne(read_bytes(make(1, scalar, 4), 8, &count), GN_OK);
}
END_TEST

START_TEST(what_is_written_can_be_read)
{
    static const struct {
        unsigned dimensions;
        uint64_t shape[4];
    } cases[] = {{0, {0}}, {1, {0}}, {1, {7}}, {2, {3, 5}}, {3, {2, 2, 2}}, {4, {1, 1, 1, 9}}};
    float in[16];
    for (int i = 0; i < 16; i++) in[i] = (float)i / 3;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[] = "/tmp/gradnic-npy-XXXXXX.npy";
        FILE *stream = fdopen(mkstemps(path, 4), "wb");
        ck_assert_int_eq(gn_npy_write(stream, in, cases[i].shape, cases[i].dimensions, &error), GN_OK);
        ck_assert_int_eq(fclose(stream), 0);
        float *out = NULL;
        size_t count = 0;
        ck_assert_int_eq(gn_values_load(path, GN_FORMAT_AUTO, &out, &count, &error), GN_OK);
        uint64_t expected = 1;
        for (unsigned d = 0; d < cases[i].dimensions; d++) expected *= cases[i].shape[d];
        ck_assert_uint_eq(count, expected);
        ck_assert_int_eq(memcmp(in, out, count * 4), 0);
        free(out);
        unlink(path);
    }
}
END_TEST

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

START_TEST(raw_and_packed_files)
{
    char folder[] = "/tmp/gradnic-values-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    static float in[3000], *out = NULL;
    for (int i = 0; i < 3000; i++) in[i] = (float)(i * i) / 7;
    size_t count = 0;

    write_file("a.f32", in, sizeof in);
    ck_assert_int_eq(gn_values_load("a.f32", GN_FORMAT_AUTO, &out, &count, &error), GN_OK);
    ck_assert_uint_eq(count, 3000);
    ck_assert_mem_eq(in, out, sizeof in);
    free(out);

    gzFile packed = gzopen("a.f32.gz", "wb");
    ck_assert_int_eq(gzwrite(packed, in, sizeof in), (int)sizeof in);
    gzclose(packed);
    ck_assert_int_eq(gn_values_load("a.f32.gz", GN_FORMAT_AUTO, &out, &count, &error), GN_OK);
    ck_assert_uint_eq(count, 3000);
    ck_assert_mem_eq(in, out, sizeof in);
    free(out);

    static char bytes[20000];
    FILE *file = fopen("a.f32.gz", "rb");
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    write_file("cut.f32.gz", bytes, size - 20);
    ck_assert_int_eq(gn_values_load("cut.f32.gz", GN_FORMAT_AUTO, &out, &count, &error), GN_TRUNCATED);
    ck_assert_msg(strstr(error.text, "cut.f32.gz: byte ") && strstr(error.text, "the gzip file is truncated"), "%s",
                  error.text);
    bytes[size / 2] ^= 0x55;
    write_file("bad.f32.gz", bytes, size);
    ck_assert_int_ne(gn_values_load("bad.f32.gz", GN_FORMAT_AUTO, &out, &count, &error), GN_OK);

    write_file("plain.f32.gz", in, 4000);
    ck_assert_fails(gn_values_load("plain.f32.gz", GN_FORMAT_AUTO, &out, &count, &error),
                    "plain.f32.gz: byte 0: not a gzip file, though its name says so");
    write_file("odd.f32", in, 4003);
    ck_assert_fails(gn_values_load("odd.f32", GN_FORMAT_AUTO, &out, &count, &error),
                    "odd.f32: byte 4000: ends within a value (3 of its 4 bytes)");
    write_file("what.bin", in, 4000);
    ck_assert_int_ne(gn_values_load("what.bin", GN_FORMAT_AUTO, &out, &count, &error), GN_OK);
    ck_assert_int_eq(gn_values_load("what.bin", GN_FORMAT_F32, &out, &count, &error), GN_OK);
    ck_assert_uint_eq(count, 1000);
    free(out);
    write_file("empty.f32", in, 0);
    ck_assert_int_eq(gn_values_load("empty.f32", GN_FORMAT_AUTO, &out, &count, &error), GN_OK);
    ck_assert_uint_eq(count, 0);
    free(out);
    ck_assert_fails(gn_values_load("missing.f32", GN_FORMAT_AUTO, &out, &count, &error),
                    "missing.f32: No such file or directory");
    ck_assert_fails(gn_values_load(".", GN_FORMAT_F32, &out, &count, &error), ".: Is a directory");
    static const char *const made[] = {"a.f32",        "a.f32.gz", "cut.f32.gz", "bad.f32.gz",
                                       "plain.f32.gz", "odd.f32",  "what.bin",   "empty.f32"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) unlink(made[i]);
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(shapes_on_the_command_line)
{
    uint64_t shape[GN_NPY_DIMENSIONS], count = 0;
    unsigned dimensions = 0;
    ck_assert_int_eq(gn_npy_parse_shape("784,500", shape, &dimensions, &count, &error), GN_OK);
    ck_assert(dimensions == 2 && shape[0] == 784 && shape[1] == 500 && count == 392000);
    ck_assert_int_eq(gn_npy_parse_shape("2x3x4", shape, &dimensions, &count, &error), GN_OK);
    ck_assert(dimensions == 3 && count == 24);
    ck_assert_int_eq(gn_npy_parse_shape("", shape, &dimensions, &count, &error), GN_OK);
    ck_assert(dimensions == 0 && count == 1);
    static const char *const bad[] = {"a", "1,", ",1", "-1", "1,,2", "99999999999999999999", "1;2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_int_ne(gn_npy_parse_shape(bad[i], shape, &dimensions, &count, &error), GN_OK);
}
END_TEST

// Who looks ahead gets as much as was asked for, and reads it again.
START_TEST(looking_ahead)
{
    gn_input *input = NULL;
    uint8_t seen[40];
    size_t got;
    for (unsigned i = 0; i < 40; i++) file_bytes[i] = (char)i;
    FILE *stream = fmemopen(file_bytes, 40, "rb");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(gn_input_from_stream(&input, stream, "x", &error), GN_OK);
    for (size_t bytes = 0; bytes <= 9; bytes += 3) {
        memset(seen, 0x55, sizeof seen);
        ck_assert_int_eq(gn_input_peek(input, seen, bytes, &got, &error), GN_OK);
        ck_assert_uint_eq(got, bytes);
        ck_assert(!memcmp(seen, file_bytes, bytes) && seen[bytes] == 0x55);
    }
    ck_assert_int_eq(gn_input_read(input, seen, 40, &got, &error), GN_OK);
    ck_assert(got == 40 && !memcmp(seen, file_bytes, 40));
    gn_input_close(input);
}
END_TEST

int main(void)
{
    return RUN_TESTS("npy", headers_that_are_good, header_fields, headers_that_are_bad, prefixes_that_are_bad,
                     data_that_is_short_or_long, what_is_written_can_be_read, raw_and_packed_files,
                     shapes_on_the_command_line, looking_ahead);
}
