// SPDX-License-Identifier: Apache-2.0
// The codec through its public interface: names and ranges, the vectors of docs/codec.md.
#include <stdlib.h>

#include <check.h>
#include <gradnic/codec.h>

typedef struct vector {
    uint32_t bits;
    gn_code paper10, lattice10, lattice6;
} vector;

static const vector vectors[] = {
    {0x3f800000, {3, 0x3f800000}, {2, 0x0200}, {1, 0x20}},          // 1.0
    {0xbf7fffff, {2, 0xffff}, {2, 0xfe00}, {1, 0xe0}},              // just above -1
    {0x3e800000, {2, 0x2000}, {2, 0x0080}, {1, 0x08}},              // 0.25
    {0x3e7f0000, {2, 0x1fe0}, {2, 0x0080}, {1, 0x08}},              // 0.24902344
    {0x3d000000, {2, 0x0400}, {1, 0x10}, {1, 0x01}},                // 2^-5
    {0x3cffffff, {1, 0x03}, {1, 0x10}, {1, 0x01}},
    {0x3b000000, {1, 0x00}, {1, 0x01}, {0, 0}},                     // 2^-9
    {0x3a800000, {1, 0x00}, {0, 0}, {0, 0}},                        // 2^-10: a tie
    {0x3b400000, {1, 0x00}, {1, 0x02}, {0, 0}},                     // 1.5 * 2^-9: a tie
    {0xbb000000, {1, 0x80}, {1, 0xff}, {0, 0}},                     // -2^-9
    {0x3a7fffff, {0, 0}, {0, 0}, {0, 0}},
    {0x00000001, {0, 0}, {0, 0}, {0, 0}},
    {0x80000000, {0, 0}, {0, 0}, {0, 0}},
    {0x7f800000, {3, 0x7f800000}, {3, 0x7f800000}, {3, 0x7f800000}},
    {0x7fc00001, {3, 0x7fc00001}, {3, 0x7fc00001}, {3, 0x7fc00001}},
    {0x42800000, {3, 0x42800000}, {3, 0x42800000}, {2, 0x0800}},    // 64.0
};

static gn_codec codec_of(gn_profile profile, int bound_exp)
{
    gn_codec codec;
    ck_assert_int_eq(gn_codec_init(&codec, profile, bound_exp), GN_OK);
    return codec;
}

static void check_code(gn_profile profile, int bound_exp, uint32_t bits, gn_code want)
{
    gn_codec codec = codec_of(profile, bound_exp);
    gn_code got = gn_lane_encode(&codec, bits);
    ck_assert_msg(got.tag == want.tag && got.payload == want.payload, "%s k=%d %08x: tag %u payload %x, not %u %x",
                  gn_profile_name(profile), bound_exp, bits, got.tag, got.payload, want.tag, want.payload);
}

START_TEST(vectors_of_the_format)
{
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        check_code(GN_PAPER, 10, vectors[i].bits, vectors[i].paper10);
        check_code(GN_LATTICE, 10, vectors[i].bits, vectors[i].lattice10);
        check_code(GN_LATTICE, 6, vectors[i].bits, vectors[i].lattice6);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("codec");
    TCase *tcase = tcase_create("codec");
    tcase_add_test(tcase, vectors_of_the_format);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
