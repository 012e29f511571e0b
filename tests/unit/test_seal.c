// SPDX-License-Identifier: Apache-2.0
// Sealed datagrams: a keyed check in place of the header's CRC.
#include <string.h>

#include <gradnic/aggregate.h>
#include <gradnic/shim.h>

#include "suite.h"

enum { VALUES = 20, ROOM = 512 };

static const uint8_t key[GN_AGG_KEY] = {1, 2, 3}, other[GN_AGG_KEY] = {1, 2, 4};
static const gn_agg_packet header = {.type = GN_AGG_GRADIENT,
                                     .job = 3,
                                     .gen = 4,
                                     .slot = 5,
                                     .psn = 5,
                                     .bitmap = 1,
                                     .fanin = 2,
                                     .next = 10,
                                     .values = VALUES};

/// A datagram of either form. @return its bytes
static size_t write(bool stream, uint8_t *out)
{
    const int32_t sums[VALUES] = {5, -7, 1 << 20};
    gn_codec codec;
    if (!stream) return gn_agg_write_words(&header, sums, out, ROOM);
    gn_codec_init(&codec, GN_DENSE, 10);
    return gn_agg_write_stream(&header, &codec, sums, NULL, out, ROOM);
}

START_TEST(sealed_and_opened)
{
    uint8_t plain[ROOM], sealed[ROOM];
    gn_agg_packet packet;
    const size_t bytes = write(_i, plain), at = _i ? GN_SHIM_BYTES : 0;
    memcpy(sealed, plain, bytes);
    gn_agg_seal(key, sealed, bytes);
    // The seal stands where the CRC stood, and all else is as it was.
    ck_assert_mem_eq(sealed, plain, at + GN_AGG_HEADER - 4);
    ck_assert_mem_ne(sealed + at + GN_AGG_HEADER - 4, plain + at + GN_AGG_HEADER - 4, 4);
    ck_assert_mem_eq(sealed + at + GN_AGG_HEADER, plain + at + GN_AGG_HEADER, bytes - at - GN_AGG_HEADER);
    ck_assert_int_eq(gn_agg_parse(sealed, bytes, &packet), GN_AGG_BROKEN);
    ck_assert(gn_agg_unseal(key, sealed, bytes));
    ck_assert_mem_eq(sealed, plain, bytes);
    ck_assert_int_eq(gn_agg_parse(sealed, bytes, &packet), GN_AGG_FINE);
}
END_TEST

START_TEST(not_with_another_key_or_none)
{
    uint8_t datagram[ROOM], before[ROOM];
    const size_t bytes = write(_i, datagram);
    ck_assert(!gn_agg_unseal(key, datagram, bytes));  // it has a CRC
    gn_agg_seal(other, datagram, bytes);
    memcpy(before, datagram, bytes);
    ck_assert(!gn_agg_unseal(key, datagram, bytes));
    ck_assert_mem_eq(datagram, before, bytes);
    ck_assert(gn_agg_unseal(other, datagram, bytes));
}
END_TEST

START_TEST(not_with_a_turned_bit)
{
    uint8_t datagram[ROOM];
    const size_t bytes = write(_i, datagram), at = _i ? GN_SHIM_BYTES : 0;
    gn_agg_seal(key, datagram, bytes);
    for (unsigned bit = 0; bit < 8 * GN_AGG_HEADER; bit++) {
        datagram[at + bit / 8] ^= (uint8_t)(1 << bit % 8);
        ck_assert_msg(!gn_agg_unseal(key, datagram, bytes), "bit %u", bit);
        datagram[at + bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    ck_assert(gn_agg_unseal(key, datagram, bytes));
}
END_TEST

START_TEST(not_when_it_is_short)
{
    uint8_t datagram[ROOM];
    const size_t bytes = write(_i, datagram), least = GN_AGG_HEADER + (_i ? GN_SHIM_BYTES : 0);
    gn_agg_seal(key, datagram, bytes);
    for (size_t short_of = 0; short_of < least; short_of++) {
        uint8_t copy[ROOM], before[ROOM];
        memcpy(copy, datagram, bytes);
        memcpy(before, datagram, bytes);
        ck_assert(!gn_agg_unseal(key, copy, short_of));
        gn_agg_seal(other, copy, short_of);
        ck_assert_mem_eq(copy, before, bytes);
    }
}
END_TEST

/// The function is SipHash-2-4, as its authors give it: key 00 to 0f.
START_TEST(the_function)
{
    uint8_t datagram[GN_AGG_HEADER], numbers[GN_AGG_KEY];
    for (uint8_t i = 0; i < GN_AGG_KEY; i++) numbers[i] = i;
    for (uint8_t i = 0; i < GN_AGG_HEADER; i++) datagram[i] = i;
    gn_agg_seal(numbers, datagram, sizeof datagram);
    // The first bytes of the hash of 00 to 1b, computed with another implementation.
    ck_assert_mem_eq(datagram + 28, ((const uint8_t[]){0xa5, 0xc9, 0x1d, 0xa7}), 4);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("seal");
    TCase *all = tcase_create("seal");
    tcase_add_loop_test(all, sealed_and_opened, 0, 2);
    tcase_add_loop_test(all, not_with_another_key_or_none, 0, 2);
    tcase_add_loop_test(all, not_with_a_turned_bit, 0, 2);
    tcase_add_loop_test(all, not_when_it_is_short, 0, 2);
    tcase_add_test(all, the_function);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
