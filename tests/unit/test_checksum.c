// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include <gradnic/packet.h>

#include "packets.h"
#include "suite.h"

/// RFC 1071, word by word.
static uint16_t slow(const uint8_t *p, size_t n)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += i % 2 ? p[i] : (uint32_t)p[i] << 8;
        if (sum > 0xffff) sum -= 0xffff;
    }
    return (uint16_t)~sum;
}

static uint8_t bytes[70000];

static void fill(uint32_t seed)
{
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(random_next(&seed) >> 11);
}

START_TEST(the_example_of_rfc_1071)
{
    static const uint8_t example[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
    ck_assert_uint_eq(gn_checksum_finish(gn_checksum_add(0, example, sizeof example)), (uint16_t)~0xddf2);
    ck_assert_uint_eq(gn_checksum_finish(gn_checksum_add(0, example, 0)), 0xffff);
}
END_TEST

START_TEST(every_length_at_every_alignment)
{
    fill(5);
    for (size_t n = 0; n < 700; n++)
        for (size_t at = 0; at < 33; at++)
            ck_assert_uint_eq(gn_checksum_finish(gn_checksum_add(0, bytes + at, n)), slow(bytes + at, n));
}
END_TEST

START_TEST(the_largest_and_the_heaviest)
{
    fill(6);
    for (size_t n = 65500; n < 65600; n++)
        ck_assert_uint_eq(gn_checksum_finish(gn_checksum_add(0, bytes, n)), slow(bytes, n));
    memset(bytes, 0xff, sizeof bytes);
    for (size_t n = 0; n < 70000; n += 997)
        ck_assert_uint_eq(gn_checksum_finish(gn_checksum_add(0, bytes, n)), slow(bytes, n));
    ck_assert_uint_eq(gn_checksum_finish(0xffffffff), 0);
    ck_assert_uint_eq(gn_checksum_finish(gn_checksum_add(0xffffffff, bytes, 2)), 0);
}
END_TEST

START_TEST(pieces_add_up)
{
    fill(7);
    for (size_t cut = 0; cut <= 1500; cut += 2) {
        uint32_t sum = gn_checksum_add(gn_checksum_add(0x1234, bytes, cut), bytes + cut, 1501 - cut);
        ck_assert_uint_eq(gn_checksum_finish(sum), gn_checksum_finish(gn_checksum_add(0x1234, bytes, 1501)));
    }
}
END_TEST

int main(void)
{
    return RUN_SUITE("checksum", NULL, NULL, the_example_of_rfc_1071, every_length_at_every_alignment,
                     the_largest_and_the_heaviest, pieces_add_up);
}
