// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "examples/train/digits.h"
#include "suite.h"

static gn_train_error error;  // of the last failure

/// Header bytes of an IDX file of unsigned bytes, then `elements` bytes 0, 1, 2, ...
static size_t make_idx(uint8_t *out, unsigned dims, const uint32_t *size, size_t elements)
{
    uint8_t *at = out;
    *at++ = 0, *at++ = 0, *at++ = 8, *at++ = (uint8_t)dims;
    for (unsigned d = 0; d < dims; d++)
        for (int shift = 24; shift >= 0; shift -= 8) *at++ = (uint8_t)(size[d] >> shift);
    for (size_t i = 0; i < elements; i++) *at++ = (uint8_t)i;
    return (size_t)(at - out);
}

static void expect(const uint8_t *bytes, size_t length, const char *message)
{
    gn_idx idx;
    ck_assert_fails(gn_idx_parse(bytes, length, &idx, &error), message);
}

START_TEST(images_and_labels)
{
    uint8_t bytes[64];
    gn_idx idx;
    size_t length = make_idx(bytes, 3, (uint32_t[]){2, 3, 4}, 24);
    memset(&idx, 0xff, sizeof idx);
    ck_assert_int_eq(gn_idx_parse(bytes, length, &idx, &error), GN_OK);
    ck_assert_ptr_null(idx.file);  // nothing to free
    ck_assert_uint_eq(idx.dims, 3);
    ck_assert(idx.size[0] == 2 && idx.size[1] == 3 && idx.size[2] == 4);
    ck_assert_uint_eq(idx.count, 24);
    ck_assert_uint_eq(idx.values[23], 23);
    length = make_idx(bytes, 1, (uint32_t[]){7}, 7);
    ck_assert_int_eq(gn_idx_parse(bytes, length, &idx, &error), GN_OK);
    ck_assert(idx.dims == 1 && idx.count == 7);
}
END_TEST

START_TEST(every_error_by_itself)
{
    uint8_t good[64], bad[64];
    const size_t length = make_idx(good, 3, (uint32_t[]){2, 3, 4}, 24);
    expect(good, 0, "0 bytes; an IDX file begins with 4 bytes of magic");
    expect(good, 3, "3 bytes; an IDX file begins with 4 bytes of magic");
    expect(good, 4, "4 bytes; the header of 3 dimensions alone has 16");
    expect(good, 15, "15 bytes; the header of 3 dimensions alone has 16");
    expect(good, 16, "0 bytes of elements where the header announces 24");
    expect(good, length - 1, "23 bytes of elements where the header announces 24");
    expect(good, length + 1, "25 bytes of elements where the header announces 24");
#define BREAK(at, value, message) (memcpy(bad, good, sizeof bad), bad[at] = (value), expect(bad, length, message))
    BREAK(0, 'G', "byte 0: magic 47000803: not an IDX file");
    BREAK(1, 1, "byte 0: magic 00010803: not an IDX file");
    BREAK(2, 0x0d, "byte 2: element type 0x0d; only 0x08 (unsigned byte) can be read");
    BREAK(3, 0, "byte 3: 0 dimensions, expected 1 to 3");
    BREAK(3, 4, "byte 3: 4 dimensions, expected 1 to 3");
    BREAK(11, 0, "byte 8: dimension 1 is empty");
    BREAK(4, 0xff, "byte 4: dimension 0 of 4278190082 makes more than 512 MiB");
    BREAK(8, 0x10, "byte 8: dimension 1 of 268435459 makes more than 512 MiB");
    BREAK(15, 5, "24 bytes of elements where the header announces 30");
#undef BREAK
    // Sizes whose product wraps around to 24 in 64 bits must not pass.
    const size_t wrapped = make_idx(bad, 3, (uint32_t[]){0x80000000u, 0x80000000u, 4}, 24);
    expect(bad, wrapped, "byte 4: dimension 0 of 2147483648 makes more than 512 MiB");
}
END_TEST

static char folder[] = "/tmp/gradnic-test-idx-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[4][128];
    static unsigned next;
    char *p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

static void write_file(const char *name, const uint8_t *bytes, size_t length, bool gzipped)
{
    if (gzipped) {
        gzFile file = gzopen(path_of(name), "wb");
        ck_assert_int_eq(gzwrite(file, bytes, (unsigned)length), (int)length);
        ck_assert_int_eq(gzclose(file), Z_OK);
        return;
    }
    FILE *file = fopen(path_of(name), "wb");
    ck_assert_uint_eq(fwrite(bytes, 1, length, file), length);
    ck_assert(!fclose(file));
}

static void make_folder(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert(!system(command));
}

START_TEST(files_plain_and_gzipped)
{
    uint8_t bytes[200100];
    gn_idx idx;
    const size_t length = make_idx(bytes, 1, (uint32_t[]){200000}, 200000);
    for (int gzipped = 0; gzipped < 2; gzipped++) {
        const char *name = gzipped ? "labels.gz" : "labels";
        write_file(name, bytes, length, gzipped);
        ck_assert_int_eq(gn_idx_load(path_of(name), &idx, &error), GN_OK);
        ck_assert_uint_eq(idx.count, 200000);
        ck_assert_mem_eq(idx.values, bytes + 8, 200000);
        gn_idx_free(&idx);
        ck_assert(!idx.values && !idx.count);
        gn_idx_free(&idx);
    }
}
END_TEST

static void expect_load(const char *name, const char *message)
{
    gn_idx idx;
    char whole[256];
    snprintf(whole, sizeof whole, "%s: %s", path_of(name), message);
    ck_assert_fails(gn_idx_load(path_of(name), &idx, &error), whole);
    ck_assert_ptr_null(idx.file);
}

START_TEST(files_that_cannot_be_read)
{
    uint8_t bytes[2000], packed[4000];
    gn_idx idx;
    size_t length = make_idx(bytes, 1, (uint32_t[]){1500}, 1500);
    write_file("z.gz", bytes, length, true);
    FILE *file = fopen(path_of("z.gz"), "rb");
    const size_t whole = fread(packed, 1, sizeof packed, file);
    fclose(file);
    write_file("cut.gz", packed, whole / 2, false);
    ck_assert_int_ne(gn_idx_load(path_of("cut.gz"), &idx, &error), GN_OK);
    ck_assert_ptr_nonnull(strstr(error.text, "the gzip file is truncated"));
    packed[whole - 6] ^= 1;  // the CRC
    write_file("crc.gz", packed, whole, false);
    ck_assert_int_ne(gn_idx_load(path_of("crc.gz"), &idx, &error), GN_OK);
    ck_assert_ptr_nonnull(strstr(error.text, "crc.gz: "));
    expect_load("missing", "No such file or directory");
    write_file("short", bytes, 5, false);
    expect_load("short", "5 bytes; the header of 1 dimensions alone has 8");
    ck_assert_int_ne(gn_idx_load(folder, &idx, &error), GN_OK);  // a folder
}
END_TEST

static void expect_digits(const char *images, const char *labels, const char *message)
{
    gn_digits digits;
    ck_assert_int_ne(gn_digits_load(&digits, path_of(images), path_of(labels), 10, &error), GN_OK);
    ck_assert_msg(strstr(error.text, message), "%s", error.text);
    ck_assert_ptr_null(digits.images.file);
}

START_TEST(sets_that_do_not_belong_together)
{
    uint8_t bytes[80000];
    write_file("images", bytes, make_idx(bytes, 3, (uint32_t[]){4, 2, 2}, 16), false);
    write_file("labels", bytes, make_idx(bytes, 1, (uint32_t[]){4}, 4), false);
    write_file("few", bytes, make_idx(bytes, 1, (uint32_t[]){3}, 3), false);
    write_file("wide", bytes, make_idx(bytes, 3, (uint32_t[]){1, 257, 256}, 257 * 256), false);
    size_t length = make_idx(bytes, 1, (uint32_t[]){4}, 4);
    bytes[8 + 2] = 10;
    write_file("range", bytes, length, false);
    expect_digits("images", "few", "few: 3 labels for the 4 images of ");
    expect_digits("images", "range", "range: label 2 is 10, expected less than 10 (--classes)");
    expect_digits("labels", "images", "labels: byte 3: 1 dimensions where images have 3");
    expect_digits("images", "images", "images: byte 3: 3 dimensions where labels have 1");
    expect_digits("wide", "few", "wide: images of 257x256 pixels; at most 65536 pixels can be trained on");
    gn_digits digits, real;
    ck_assert_int_eq(gn_digits_load(&digits, path_of("images"), path_of("labels"), 10, &error), GN_OK);
    ck_assert_int_eq(gn_digits_load(&real, GN_TEST_DATA "/digits-test-images-idx3-ubyte.gz",
                                    GN_TEST_DATA "/digits-test-labels-idx1-ubyte.gz", 10, &error),
                     GN_OK);
    ck_assert_fails(gn_digits_pair(&digits, &real, &error), "training images have 2x2 pixels, test images 8x8");
    gn_digits_free(&digits);
    gn_digits_free(&real);
}
END_TEST

START_TEST(the_digits)
{
    gn_digits digits;
    ck_assert_int_eq(gn_digits_load(&digits, GN_TEST_DATA "/digits-train-images-idx3-ubyte.gz",
                                    GN_TEST_DATA "/digits-train-labels-idx1-ubyte.gz", 10, &error),
                     GN_OK);
    ck_assert(digits.count == 1500 && digits.rows == 8 && digits.columns == 8);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < digits.images.count; i++) {
        const double x = ((double)digits.images.values[i] - (double)digits.mean) * (double)digits.inverse;
        sum += x;
        squares += x * x;
    }
    ck_assert_double_eq_tol(sum / 96000, 0, 1e-4);
    ck_assert_double_eq_tol(squares / 96000, 1, 1e-4);
    gn_digits_free(&digits);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("idx");
    TCase *tcase = tcase_create("idx");
    tcase_add_unchecked_fixture(tcase, make_folder, remove_folder);
    tcase_add_test(tcase, images_and_labels);
    tcase_add_test(tcase, every_error_by_itself);
    tcase_add_test(tcase, files_plain_and_gzipped);
    tcase_add_test(tcase, files_that_cannot_be_read);
    tcase_add_test(tcase, sets_that_do_not_belong_together);
    tcase_add_test(tcase, the_digits);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
