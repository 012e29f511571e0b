// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include <gradnic/shim.h>

#include "suite.h"

static const struct {
    gn_shim shim;
    uint8_t bytes[8];
} examples[] = {
    {{1, 0, 0, 1440, 0}, {0x47, 0x4e, 0x10, 0x00, 0x05, 0xa0, 0x00, 0x73}},
    {{1, 2, 10, 1448, 3}, {0x47, 0x4e, 0x12, 0x0a, 0x05, 0xa8, 0x03, 0x8a}},
    {{1, 1, 126, 65535, 255}, {0x47, 0x4e, 0x11, 0x7e, 0xff, 0xff, 0xff, 0x30}},
    {{1, 2, -31, 4, 0}, {0x47, 0x4e, 0x12, 0xe1, 0x00, 0x04, 0x00, 0x49}},
};

enum { EXAMPLES = sizeof examples / sizeof *examples };

START_TEST(layout)
{
    for (size_t i = 0; i < EXAMPLES; i++) {
        uint8_t bytes[8];
        gn_shim shim;
        gn_shim_write(&examples[i].shim, bytes);
        ck_assert_mem_eq(bytes, examples[i].bytes, 8);
        ck_assert(gn_shim_read(examples[i].bytes, &shim));
        ck_assert_uint_eq(shim.version, examples[i].shim.version);
        ck_assert_uint_eq(shim.kind, examples[i].shim.kind);
        ck_assert_int_eq(shim.bound_exp, examples[i].shim.bound_exp);
        ck_assert_uint_eq(shim.length, examples[i].shim.length);
        ck_assert_uint_eq(shim.head, examples[i].shim.head);
    }
}
END_TEST

/// CRC-8 with polynomial 0x07 has Hamming distance 4 at this length (Koopman and Chakravarty, DSN
/// 2004).
START_TEST(up_to_three_wrong_bits_are_noticed)
{
    uint8_t bytes[8];
    gn_shim shim;
    gn_shim_write(&examples[1].shim, bytes);
    for (unsigned a = 0; a < 64; a++) {
        for (unsigned b = a; b < 64; b++) {
            for (unsigned c = b; c < 64; c++) {
                uint8_t wrong[8];
                memcpy(wrong, bytes, 8);
                wrong[a / 8] ^= (uint8_t)(1u << a % 8);
                if (b != a) wrong[b / 8] ^= (uint8_t)(1u << b % 8);
                if (c != b) wrong[c / 8] ^= (uint8_t)(1u << c % 8);
                ck_assert(!gn_shim_read(wrong, &shim));
            }
        }
    }
}
END_TEST

int main(void)
{
    return RUN_SUITE("shim", NULL, NULL, layout, up_to_three_wrong_bits_are_noticed);
}
