// SPDX-License-Identifier: Apache-2.0
// The packet of aggregation: its bytes as docs/switch.md describes them, and every fault that makes
// it invalid.
#include <string.h>

#include <gradnic/aggregate.h>
#include <gradnic/shim.h>

#include <zlib.h>

#include "net/splitmix.h"
#include "suite.h"

static const gn_agg_packet example = {.type = GN_AGG_RESULT,
                                      .flags = GN_AGG_ECN,
                                      .job = 0x1234,
                                      .gen = 0x5678,
                                      .slot = 0x0102,
                                      .version = true,
                                      .psn = 0xa1b2c3d4,
                                      .bitmap = 0x7,
                                      .level = 1,
                                      .fanin = 3,
                                      .priority = 0xbeef,
                                      .exponent = -20,
                                      .next = 5,
                                      .values = 2};
static const uint8_t example_bytes[] = {0x11, 0x08, 0x12, 0x34, 0x56, 0x78, 0x81, 0x02, 0xa1, 0xb2, 0xc3, 0xd4, 0, 0,
                                        0,    0,    0,    0,    0,    7,    0x10, 0x03, 0xbe, 0xef, 0xec, 0x05, 0, 2};
static uint8_t bytes[256];
static gn_agg_packet parsed;

static size_t write_example(const gn_agg_packet *packet)
{
    const int32_t words[2] = {1, -2};
    return gn_agg_write_words(packet, words, bytes, sizeof bytes);
}

START_TEST(header_has_its_bytes)
{
    ck_assert_uint_eq(write_example(&example), 40);
    ck_assert_mem_eq(bytes, example_bytes, sizeof example_bytes);
    // CRC-32 of IEEE 802.3 over the 28 bytes before it
    static const uint8_t crc[] = {0xc2, 0x0b, 0x47, 0x58};
    ck_assert_mem_eq(bytes + 28, crc, 4);
    static const uint8_t values[] = {1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff};
    ck_assert_mem_eq(bytes + 32, values, 8);
}
END_TEST

START_TEST(crc_is_crc_32_of_any_header)
{
    uint64_t state = 1;
    for (unsigned round = 0; round < 10000; round++) {
        // one field alone in the first rounds, then all
        const uint64_t a = round < 64 ? 1ull << round : splitmix64(&state), b = round < 64 ? 0 : splitmix64(&state);
        const gn_agg_packet packet = {.type = a & 7,
                                      .flags = (uint8_t)(a >> 3),
                                      .job = (uint16_t)(a >> 11),
                                      .gen = (uint16_t)(a >> 27),
                                      .slot = (a >> 43) & 0x7fff,
                                      .version = a >> 63,
                                      .psn = (uint32_t)b,
                                      .bitmap = b ^ a,
                                      .level = (uint8_t)(b >> 32 & 15),
                                      .fanin = (b >> 36) & 0xfff,
                                      .priority = (uint16_t)(b >> 48),
                                      .exponent = (int8_t)(a & 127),
                                      .next = (int8_t)(b & 127),
                                      .values = (uint16_t)(a >> 21)};
        uint8_t header[GN_AGG_HEADER];
        gn_agg_write_header(&packet, header);
        const uint32_t crc = (uint32_t)crc32(0, header, 28);
        const uint8_t want[] = {(uint8_t)(crc >> 24), (uint8_t)(crc >> 16), (uint8_t)(crc >> 8), (uint8_t)crc};
        ck_assert_mem_eq(header + 28, want, sizeof want);
    }
}
END_TEST

START_TEST(what_was_written_is_read)
{
    const size_t length = write_example(&example);
    ck_assert_int_eq(gn_agg_parse(bytes, length, &parsed), GN_AGG_FINE);
    ck_assert_ptr_eq(parsed.payload, bytes + 32);
    ck_assert_uint_eq(parsed.payload_bytes, 8);
    uint8_t again[GN_AGG_HEADER];
    gn_agg_write_header(&parsed, again);
    ck_assert_mem_eq(again, bytes, sizeof again);
}
END_TEST

START_TEST(every_bit_of_the_header_is_guarded)
{
    const size_t length = write_example(&example);
    for (unsigned bit = 0; bit < 8 * GN_AGG_HEADER; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        ck_assert_int_ne(gn_agg_parse(bytes, length, &parsed), GN_AGG_FINE);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    ck_assert_int_eq(gn_agg_parse(bytes, length, &parsed), GN_AGG_FINE);
}
END_TEST

START_TEST(halves_have_their_bytes)
{
    static const int32_t words[2] = {1 << 15, -3};
    static const uint8_t values[] = {0x00, 0x3c, 0x00, 0x86};  // 1, and -3 * 2^-15
    gn_codec codec;
    ck_assert(!gn_codec_init(&codec, GN_DENSE, 0));
    const size_t length = gn_agg_write_halves(&example, &codec, words, bytes, sizeof bytes);
    ck_assert_uint_eq(length, 36);
    ck_assert_uint_eq(gn_agg_write_halves(&example, &codec, words, bytes, 35), 0);
    ck_assert_uint_eq(bytes[1], GN_AGG_ECN | GN_AGG_HALVES);
    ck_assert_mem_eq(bytes + 32, values, 4);
    ck_assert_int_eq(gn_agg_parse(bytes, length, &parsed), GN_AGG_FINE);
    ck_assert(parsed.halves && parsed.payload_bytes == 4 && parsed.values == 2);
    uint8_t again[64];
    ck_assert_uint_eq(gn_agg_write_again(&parsed, again, sizeof again), length);
    ck_assert_mem_eq(again, bytes, length);
    for (size_t wrong = 32; wrong < 48; wrong++)
        if (wrong != 36 && wrong != 40) ck_assert_int_eq(gn_agg_parse(bytes, wrong, &parsed), GN_AGG_LENGTH);
    // A sum on its way up has the flag, and words.
    ck_assert_int_eq(gn_agg_parse(bytes, 40, &parsed), GN_AGG_FINE);
    ck_assert(!parsed.halves && parsed.payload_bytes == 8);
}
END_TEST

static gn_agg_fault fault_of(gn_agg_packet packet)
{
    const size_t length = write_example(&packet);
    return gn_agg_parse(bytes, length, &parsed);
}

START_TEST(impossible_fields)
{
    gn_agg_packet packet = example;
    packet.flags = 0x40;
    ck_assert_int_eq(fault_of(packet), GN_AGG_FIELD);
    packet = example, packet.flags = GN_AGG_FLOAT | GN_AGG_HALVES;
    ck_assert_int_eq(fault_of(packet), GN_AGG_FIELD);
    packet = example, packet.flags = GN_AGG_HALVES;
    ck_assert_int_eq(fault_of(packet), GN_AGG_FINE);
    packet = example, packet.fanin = 0;
    ck_assert_int_eq(fault_of(packet), GN_AGG_FIELD);
    packet = example, packet.fanin = 65;
    ck_assert_int_eq(fault_of(packet), GN_AGG_FIELD);
    packet = example, packet.bitmap = 8;  // of a fourth of three
    ck_assert_int_eq(fault_of(packet), GN_AGG_FIELD);
    packet = example, packet.type = GN_AGG_GRADIENT, packet.bitmap = 0;
    ck_assert_int_eq(fault_of(packet), GN_AGG_FIELD);
    packet = example, packet.flags = GN_AGG_POISON;  // and has values
    ck_assert_int_eq(fault_of(packet), GN_AGG_FIELD);
    packet = example, packet.type = GN_AGG_TYPES;
    ck_assert_int_eq(fault_of(packet), GN_AGG_FOREIGN);
    packet = example, packet.fanin = 64, packet.bitmap = ~0ull;
    ck_assert_int_eq(fault_of(packet), GN_AGG_FINE);
}
END_TEST

START_TEST(lengths)
{
    const size_t length = write_example(&example);
    for (size_t shorter = 0; shorter < length; shorter++)
        ck_assert_int_eq(gn_agg_parse(bytes, shorter, &parsed), shorter < 32 ? GN_AGG_SHORT : GN_AGG_LENGTH);
    ck_assert_int_eq(gn_agg_parse(bytes, length + 1, &parsed), GN_AGG_LENGTH);
    ck_assert_uint_eq(gn_agg_write_words(&example, bytes, bytes + 64, 39), 0);
}
END_TEST

START_TEST(streams_stand_behind_a_shim)
{
    gn_codec codec;
    ck_assert_int_eq(gn_codec_init(&codec, GN_DENSE, 10), GN_OK);
    gn_agg_packet packet = example;
    packet.next = 10;
    packet.values = 40;
    int32_t sums[40] = {0, 3, -100000, 7}, back[40] = {0};
    const size_t length = gn_agg_write_stream(&packet, &codec, sums, NULL, bytes, sizeof bytes);
    ck_assert_uint_gt(length, 40);
    ck_assert_int_eq(gn_agg_parse(bytes, length, &parsed), GN_AGG_FINE);
    ck_assert(parsed.shimmed && parsed.compressed);
    ck_assert_int_eq(parsed.profile, GN_DENSE);
    ck_assert_int_eq(gn_stream_add_integers(&codec, parsed.payload, parsed.payload_bytes, back, 40, NULL, NULL), GN_OK);
    ck_assert_mem_eq(back, sums, sizeof sums);

    gn_shim shim = {.version = 1, .kind = 3, .bound_exp = 10, .length = 32 + 160, .head = 32};
    static const struct {
        gn_shim shim;
        gn_agg_fault fault;
    } wrong[] = {
        {{1, 3, 10, 32 + 156, 32}, GN_AGG_LENGTH},  {{1, 3, 9, 32 + 160, 32}, GN_AGG_FIELD},
        {{1, 3, 10, 32 + 160, 31}, GN_AGG_FIELD},   {{2, 3, 10, 32 + 160, 32}, GN_AGG_FOREIGN},
        {{1, 4, 10, 32 + 160, 32}, GN_AGG_FOREIGN}, {{1, 0, 0, 32 + 160, 0}, GN_AGG_LENGTH},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        gn_shim_write(&wrong[i].shim, bytes);
        ck_assert_int_eq(gn_agg_parse(bytes, length, &parsed), wrong[i].fault);
    }
    gn_shim_write(&shim, bytes);
    bytes[3] ^= 1;
    ck_assert_int_eq(gn_agg_parse(bytes, length, &parsed), GN_AGG_FOREIGN);
    ck_assert_uint_eq(gn_agg_write_stream(&packet, &codec, sums, NULL, bytes, 39), 0);
}
END_TEST

START_TEST(binary32_for_the_leader_is_never_compressed)
{
    gn_codec codec;
    ck_assert_int_eq(gn_codec_init(&codec, GN_DENSE, 10), GN_OK);
    gn_agg_packet packet = example;
    packet.next = 10;
    packet.values = 40;
    packet.flags = GN_AGG_FLOAT;
    const int32_t sums[40] = {0};
    const size_t length = gn_agg_write_stream(&packet, &codec, sums, NULL, bytes, sizeof bytes);
    ck_assert_int_eq(gn_agg_parse(bytes, length, &parsed), GN_AGG_FIELD);
}
END_TEST

/// Parses, writes and compares.
static void write_again(size_t length)
{
    uint8_t again[256];
    ck_assert_int_eq(gn_agg_parse(bytes, length, &parsed), GN_AGG_FINE);
    ck_assert_uint_eq(gn_agg_write_again(&parsed, again, sizeof again), length);
    ck_assert_mem_eq(again, bytes, length);
    ck_assert_uint_eq(gn_agg_write_again(&parsed, again, length - 1), 0);
    parsed.type = GN_AGG_EVICTED;
    ck_assert_uint_eq(gn_agg_write_again(&parsed, again, sizeof again), length);
    gn_agg_packet other;
    ck_assert_int_eq(gn_agg_parse(again, length, &other), GN_AGG_FINE);
    ck_assert_int_eq(other.type, GN_AGG_EVICTED);
    ck_assert_uint_eq(other.payload_bytes, parsed.payload_bytes);
    ck_assert_mem_eq(other.payload, parsed.payload, parsed.payload_bytes);
}

START_TEST(packets_that_go_on_keep_their_payload)
{
    write_again(write_example(&example));
    gn_codec codec;
    const int32_t sums[20] = {0, 3, -100000, 7};
    gn_agg_packet packet = example;
    packet.next = 10;
    packet.values = 20;
    for (gn_profile profile = GN_LATTICE; profile <= GN_DENSE; profile++) {
        ck_assert_int_eq(gn_codec_init(&codec, profile, 10), GN_OK);
        write_again(gn_agg_write_stream(&packet, &codec, sums, NULL, bytes, sizeof bytes));
    }
    // As a NIC leaves what compression does not make shorter.
    gn_shim_write(&(gn_shim){.version = 1, .kind = GN_KIND_STORED, .length = 32 + 80}, bytes);
    write_again(8 + gn_agg_write_words(&packet, sums, bytes + 8, sizeof bytes - 8));
}
END_TEST

START_TEST(every_fault_has_a_text)
{
    for (gn_agg_fault fault = GN_AGG_FINE; fault <= GN_AGG_LENGTH; fault++)
        ck_assert_str_ne(gn_agg_fault_string(fault), "unknown fault");
    ck_assert_str_eq(gn_agg_fault_string((gn_agg_fault)99), "unknown fault");
}
END_TEST

int main(void)
{
    return RUN_TESTS("aggregate_packet", header_has_its_bytes, crc_is_crc_32_of_any_header, what_was_written_is_read,
                     halves_have_their_bytes, every_bit_of_the_header_is_guarded, impossible_fields, lengths,
                     streams_stand_behind_a_shim, binary32_for_the_leader_is_never_compressed,
                     packets_that_go_on_keep_their_payload, every_fault_has_a_text);
}
