// SPDX-License-Identifier: Apache-2.0
// What the receiver makes of packets, good, foreign and malformed; and the counter of each.
#include <string.h>

#include <gradnic/frame.h>
#include <gradnic/shim.h>

#include "packets.h"
#include "suite.h"

enum { ROOM = 66000 };

static uint8_t wire[ROOM], out[ROOM];
static float small[400];
static gn_rx *rx;
static size_t out_length;
static gn_profile profile;  // of make_compressed()

static void setup_with(gn_profile which)
{
    profile = which;
    uint32_t seed = 3;
    random_values(&seed, small, 400, 0.01f);
    ck_assert_int_eq(gn_rx_new(&rx, &(gn_rx_config){0}), GN_OK);
}

static void setup_lattice(void)
{
    setup_with(GN_LATTICE);
}
static void setup_dense(void)
{
    setup_with(GN_DENSE);
}

static void teardown(void)
{
    gn_rx_free(rx);
}

static const gn_rx_counters *counters(void)
{
    return gn_rx_get_counters(rx);
}

/// A packet in `wire` with this shim and what follows it, built by hand. @return its length.
static size_t make(packet p, gn_shim shim, const void *behind, size_t bytes)
{
    static uint8_t payload[ROOM];
    gn_shim_write(&shim, payload);
    if (bytes) memcpy(payload + GN_SHIM_BYTES, behind, bytes);
    return packet_build(&p, payload, GN_SHIM_BYTES + bytes, wire);
}

/// As make(), with the stream of the first `count` values of `small`.
static size_t make_compressed(packet p, size_t count, size_t *stream_bytes)
{
    uint8_t stream[2000];
    gn_codec codec;
    ck_assert_int_eq(gn_codec_init(&codec, profile, 10), GN_OK);
    ck_assert_int_eq(gn_stream_encode(&codec, small, count, stream, sizeof stream, stream_bytes), GN_OK);
    return make(p, (gn_shim){1, (uint8_t)(profile + 1), 10, (uint16_t)(4 * count), 0}, stream, *stream_bytes);
}

static gn_verdict receive(size_t length)
{
    return gn_rx_packet(rx, wire, length, out, sizeof out, &out_length);
}

static void expect_drop(size_t length, const uint64_t *reason)
{
    uint64_t was = *reason, dropped = counters()->malformed;
    ck_assert_int_eq(receive(length), GN_VERDICT_DROP);
    ck_assert_uint_eq(*reason, was + 1);
    ck_assert_uint_eq(counters()->malformed, dropped + 1);
    const gn_rx_counters *c = counters();
    ck_assert_uint_eq(c->malformed, c->bad_version + c->bad_kind + c->bad_bound + c->bad_head + c->bad_length +
                                        c->bad_stream + c->bad_checksum + c->too_large);
}

static void expect_pass(size_t length, uint64_t foreign)
{
    gn_rx_counters before = *counters();
    memset(out, 0xee, 200);
    ck_assert_int_eq(receive(length), GN_VERDICT_PASS);
    ck_assert_uint_eq(counters()->passed, before.passed + 1);
    ck_assert_uint_eq(counters()->foreign, before.foreign + foreign);
    ck_assert_uint_eq(counters()->malformed, before.malformed);
    for (int i = 0; i < 200; i++) ck_assert_uint_eq(out[i], 0xee);
}

START_TEST(what_is_not_marked_passes)
{
    size_t stream;
    expect_pass(make_compressed((packet){.tos = NO_TOS}, 100, &stream), 0);
    expect_pass(make_compressed((packet){.tos = 0x2c, .version = 6}, 100, &stream), 0);
    expect_pass(make_compressed((packet){.protocol = 1}, 100, &stream), 0);
    expect_pass(packet_build(&(packet){0}, "", 0, wire), 0);
    expect_pass(0, 0);
    size_t n = make_compressed((packet){0}, 100, &stream);
    wire[6] = 0x20;  // a fragment, whatever is in it
    packet_fix(wire);
    expect_pass(n, 0);
    n = make_compressed((packet){.version = 6}, 100, &stream);
    wire[6] = 44;
    expect_pass(n, 0);
    expect_pass(make_compressed((packet){.ip_options = 4}, 100, &stream), 0);
    expect_pass(make_compressed((packet){.ip_options = 40, .protocol = 17}, 100, &stream), 0);
    gn_rx_set_bypass(rx, true);
    expect_pass(make_compressed((packet){0}, 100, &stream), 0);
    gn_rx_set_bypass(rx, false);
    n = make_compressed((packet){.tos = 0x2b}, 100, &stream);
    ck_assert_int_eq(receive(n), GN_VERDICT_WRITE);
    ck_assert_uint_eq(out[1], 0x2b);
}
END_TEST

START_TEST(which_tos_are_marked)
{
    size_t stream;
    const uint8_t tos[] = {0x30, 0x49};
    ck_assert_int_eq(gn_rx_set_tos(rx, tos, 2), GN_OK);
    expect_pass(make_compressed((packet){0}, 100, &stream), 0);
    ck_assert_int_eq(receive(make_compressed((packet){.tos = 0x33}, 100, &stream)), GN_VERDICT_WRITE);
    ck_assert_int_eq(receive(make_compressed((packet){.tos = 0x48}, 100, &stream)), GN_VERDICT_WRITE);
    ck_assert_int_eq(gn_rx_set_tos(rx, NULL, 0), GN_OK);
    expect_pass(make_compressed((packet){.tos = 0x30}, 100, &stream), 0);
    uint8_t many[GN_RULES_MAX + 1] = {0};
    ck_assert_int_eq(gn_rx_set_tos(rx, many, GN_RULES_MAX + 1), GN_INVALID);
    gn_rx *none;
    ck_assert_int_eq(gn_rx_new(&none, &(gn_rx_config){.tos = many, .tos_count = GN_RULES_MAX + 1}), GN_INVALID);
    ck_assert_int_eq(gn_rx_new(&none, &(gn_rx_config){.kernel = "abacus"}), GN_UNSUPPORTED);
    ck_assert_int_eq(gn_rx_new(&none, &(gn_rx_config){.kernel = "a kernel whose name is far longer than any"}),
                     GN_UNSUPPORTED);
    ck_assert_ptr_null(none);
}
END_TEST

START_TEST(foreign_payload_passes)
{
    for (size_t n = 1; n < 40; n++) expect_pass(packet_build(&(packet){0}, small, n, wire), 1);
    size_t stream, n = make_compressed((packet){0}, 100, &stream);
    for (size_t i = 40; i < 48; i++) {
        wire[i] ^= 0x40;
        packet_fix(wire);
        expect_pass(n, 1);
        wire[i] ^= 0x40;
    }
    // Foreign comes before the checksum: a packet of somebody else's is none of our business.
    wire[40] ^= 1;
    wire[60] ^= 1;
    expect_pass(n, 1);
    // 7 bytes of a shim are none.
    uint8_t shim[8];
    gn_shim_write(&(gn_shim){1, 0, 0, 1, 0}, shim);
    expect_pass(packet_build(&(packet){0}, shim, 7, wire), 1);
}
END_TEST

START_TEST(wrong_checksums)
{
    static const packet packets[] = {{0}, {.version = 6}, {.protocol = 17}, {.version = 6, .protocol = 17}};
    for (size_t i = 0; i < 4; i++) {
        size_t stream, n = make_compressed(packets[i], 100, &stream), at = packet_headers(wire) + GN_SHIM_BYTES;
        for (size_t byte = at; byte < n; byte++) {
            wire[byte] ^= 0x10;
            expect_drop(n, &counters()->bad_checksum);
            wire[byte] ^= 0x10;
        }
        wire[packet_l4(wire)] ^= 1;  // a port
        expect_drop(n, &counters()->bad_checksum);
    }
    // No UDP checksum at all: this is not what the sender wrote.
    size_t stream, n = make_compressed((packet){.protocol = 17}, 100, &stream);
    wire[26] = wire[27] = 0;
    expect_drop(n, &counters()->bad_checksum);
}
END_TEST

START_TEST(wrong_shims)
{
    const gn_rx_counters *c = counters();
    uint8_t zeros[200] = {0};
    packet p = {.protocol = 17};
    for (uint8_t version = 0; version < 16; version++) {
        size_t n = make(p, (gn_shim){version, 2, 10, 32, 0}, zeros, 2);
        if (version == 1)
            ck_assert_int_eq(receive(n), GN_VERDICT_WRITE);
        else
            expect_drop(n, &c->bad_version);
    }
    gn_codec codec;
    for (uint8_t kind = 0; kind < 16; kind++) {
        size_t n = make(p, (gn_shim){1, kind, kind ? 10 : 0, 2, 0}, zeros, 2);
        bool known = !kind || (kind <= GN_PROFILE_COUNT && gn_codec_init(&codec, kind - 1u, 10) == GN_OK);
        if (!known) expect_drop(n, &c->bad_kind);
        // Known ones: length 2 is all tail, and no stream.
        if (known) ck_assert_int_eq(receive(n), GN_VERDICT_WRITE);
    }
    expect_drop(make(p, (gn_shim){1, 1, 0, 32, 0}, zeros, 2), &c->bad_bound);
    expect_drop(make(p, (gn_shim){1, 1, 127, 32, 0}, zeros, 2), &c->bad_bound);
    expect_drop(make(p, (gn_shim){1, 2, 32, 32, 0}, zeros, 2), &c->bad_bound);
    expect_drop(make(p, (gn_shim){1, 2, -32, 32, 0}, zeros, 2), &c->bad_bound);
    expect_drop(make(p, (gn_shim){1, 3, 32, 32, 0}, zeros, 3), &c->bad_bound);
    expect_drop(make(p, (gn_shim){1, 3, -32, 32, 0}, zeros, 3), &c->bad_bound);
    ck_assert_int_eq(receive(make(p, (gn_shim){1, 3, 31, 32, 0}, zeros, 3)), GN_VERDICT_WRITE);
    ck_assert_int_eq(receive(make(p, (gn_shim){1, 3, -31, 32, 0}, zeros, 3)), GN_VERDICT_WRITE);
    expect_drop(make(p, (gn_shim){1, 0, 1, 2, 0}, zeros, 2), &c->bad_bound);
    expect_drop(make(p, (gn_shim){1, 0, 0, 2, 1}, zeros, 2), &c->bad_head);
    expect_drop(make(p, (gn_shim){1, 2, 10, 32, 33}, zeros, 34), &c->bad_head);
    expect_drop(make(p, (gn_shim){1, 2, 10, 0, 255}, zeros, 34), &c->bad_head);
    ck_assert_int_eq(receive(make(p, (gn_shim){1, 2, 10, 32, 32}, zeros, 32)), GN_VERDICT_WRITE);  // all head
}
END_TEST

START_TEST(wrong_lengths)
{
    const gn_rx_counters *c = counters();
    static uint8_t zeros[ROOM];
    packet p = {.protocol = 17};
    expect_drop(make(p, (gn_shim){1, 0, 0, 0, 0}, zeros, 0), &c->bad_length);
    expect_drop(make(p, (gn_shim){1, 2, 10, 0, 0}, zeros, 0), &c->bad_length);
    for (uint16_t n = 1; n < 50; n++) {
        uint16_t other = (uint16_t)(n % 2 ? n - 1 : n + 1);
        ck_assert_int_eq(receive(make(p, (gn_shim){1, 0, 0, n, 0}, zeros, n)), GN_VERDICT_WRITE);
        expect_drop(make(p, (gn_shim){1, 0, 0, n, 0}, zeros, other), &c->bad_length);
    }
    expect_drop(make(p, (gn_shim){1, 2, 10, 9, 5}, zeros, 4), &c->bad_length);   // less than the head
    expect_drop(make(p, (gn_shim){1, 2, 10, 11, 4}, zeros, 6), &c->bad_length);  // less than head and tail
    // More than an IP packet holds: 65507 payload bytes fit, no more. The payload is zeros, so that
    // the packet is small.
    ck_assert_int_eq(receive(make(p, (gn_shim){1, 2, 10, 65507, 0}, zeros, 2 * 2047 + 3)), GN_VERDICT_WRITE);
    ck_assert_uint_eq(out_length, 65535);
    expect_drop(make(p, (gn_shim){1, 2, 10, 65508, 0}, zeros, 2 * 2048), &c->too_large);
    // Than the caller's buffer holds.
    size_t n = make(p, (gn_shim){1, 2, 10, 400, 0}, zeros, 26);
    ck_assert_int_eq(gn_rx_packet(rx, wire, n, out, 428, &out_length), GN_VERDICT_WRITE);
    ck_assert_int_eq(gn_rx_packet(rx, wire, n, out, 427, &out_length), GN_VERDICT_DROP);
    ck_assert_int_eq(gn_rx_packet(rx, wire, n, out, 0, &out_length), GN_VERDICT_DROP);
    // Than this receiver restores, whatever else it is.
    gn_rx_set_max_restored(rx, 428);
    ck_assert_int_eq(receive(n), GN_VERDICT_WRITE);
    gn_rx_set_max_restored(rx, 427);
    expect_drop(n, &c->too_large);
    gn_rx_set_max_restored(rx, 1);
    expect_drop(n, &c->too_large);
    expect_drop(make(p, (gn_shim){1, 2, 10, 9, 5}, zeros, 4), &c->bad_length);  // that comes first
    gn_rx_set_max_restored(rx, 0);
    ck_assert_int_eq(receive(make(p, (gn_shim){1, 2, 10, 65507, 0}, zeros, 2 * 2047 + 3)), GN_VERDICT_WRITE);
}
END_TEST

START_TEST(wrong_streams)
{
    const gn_rx_counters *c = counters();
    packet p = {.protocol = 17};
    uint8_t bytes[64] = {0};
    ck_assert_int_eq(receive(make(p, (gn_shim){1, 2, 10, 64, 0}, bytes, 4)), GN_VERDICT_WRITE);
    expect_drop(make(p, (gn_shim){1, 2, 10, 64, 0}, bytes, 3), &c->bad_stream);  // too short
    expect_drop(make(p, (gn_shim){1, 2, 10, 64, 0}, bytes, 0), &c->bad_stream);
    expect_drop(make(p, (gn_shim){1, 2, 10, 64, 0}, bytes, 5), &c->bad_stream);  // too long
    bytes[0] = 1;                                                                // a payload byte is announced
    expect_drop(make(p, (gn_shim){1, 2, 10, 64, 0}, bytes, 4), &c->bad_stream);
    ck_assert_int_eq(receive(make(p, (gn_shim){1, 2, 10, 64, 0}, bytes, 5)), GN_VERDICT_WRITE);
    bytes[0] = 4;  // lane 1, which is padding in a stream of one value
    expect_drop(make(p, (gn_shim){1, 2, 10, 4, 0}, bytes, 3), &c->bad_stream);
}
END_TEST

// A few bytes of dense can claim very much. They never give more than the shim's length, and all of
// it is checked before it is believed.
START_TEST(hostile_dense)
{
    const gn_rx_counters *c = counters();
    packet p = {.protocol = 17};
    static const struct {
        uint16_t values;
        size_t bytes;
        uint8_t stream[8];
    } bad[] = {
        {32, 3, {0, 0, 1}},                 // zeros for 64 values
        {1, 3, {0, 0, 255}},                // for 8192
        {8160, 3, {0, 0, 255}},             // for one quad too many
        {8192, 3, {0, 0, 254}},             // for one too few
        {8193, 6, {0, 0, 255, 0, 0, 1}},    // the second run is too long
        {32, 6, {0, 0, 0, 0, 0, 0}},        // more behind the last
        {32, 2, {0, 0}},                    // a run without its length
        {32, 0, {0}},                       // nothing
        {32, 3, {0x0f, 0, 0}},              // 33 bytes are announced
        {32, 3, {0xff, 0xff, 0}},           // 132
        {1, 3, {0x09, 0, 3}},               // a bit of a lane that is not there
        {8, 3, {0x90, 0, 1}},               // a group that is not there
        {40, 6, {0x09, 0, 1, 0x90, 0, 1}},  // a good quad, then such a group
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_drop(make(p, (gn_shim){1, 3, 10, (uint16_t)(4 * bad[i].values), 0}, bad[i].stream, bad[i].bytes),
                    &c->bad_stream);
    // The most that a datagram can become: 65507 bytes, of two runs and three bytes behind the last
    // value.
    static const uint8_t most[] = {0, 0, 255, 0, 0, 255, 7, 8, 9}, more[] = {0, 0, 255, 0, 0, 255, 0, 0, 0, 7, 8, 9};
    ck_assert_int_eq(receive(make(p, (gn_shim){1, 3, 10, 65507, 0}, most, 9)), GN_VERDICT_WRITE);
    ck_assert_uint_eq(out_length, 65535);
    ck_assert_mem_eq(out + 65532, "\7\10\11", 3);
    expect_drop(make(p, (gn_shim){1, 3, 10, 65507, 0}, more, 12), &c->bad_stream);
    expect_drop(make(p, (gn_shim){1, 3, 10, 65508, 0}, most, 6), &c->too_large);
    expect_drop(make(p, (gn_shim){1, 3, 10, 65535, 0}, most, 9), &c->too_large);
    ck_assert_uint_eq(c->restored[3], 1);
}
END_TEST

/// Every byte of a good packet is set to every value, with checksums that hold. Each gives a
/// verdict: a whole packet or none.
START_TEST(no_byte_does_harm)
{
    static const packet packets[] = {{.seq = 5}, {.version = 6, .protocol = 17}};
    for (size_t i = 0; i < 2; i++) {
        size_t stream, n = make_compressed(packets[i], 40, &stream);
        for (size_t at = packet_headers(wire); at < n; at++) {
            uint8_t was = wire[at];
            for (int v = 0; v < 256; v++) {
                wire[at] = (uint8_t)v;
                packet_fix(wire);
                if (receive(n) == GN_VERDICT_WRITE) ck_assert(packet_valid(out, out_length));
            }
            wire[at] = was;
        }
    }
}
END_TEST

START_TEST(padding_is_dropped_when_restored)
{
    size_t stream, n = make_compressed((packet){0}, 100, &stream);
    memset(wire + n, 0, 30);
    ck_assert_int_eq(receive(n + 30), GN_VERDICT_WRITE);
    ck_assert_uint_eq(out_length, 40 + 400);
    ck_assert(packet_valid(out, out_length));
}
END_TEST

START_TEST(counters_of_restored_packets)
{
    size_t stream, n = make_compressed((packet){0}, 100, &stream);
    ck_assert_int_eq(receive(n), GN_VERDICT_WRITE);
    const gn_rx_counters *c = counters();
    ck_assert_uint_eq(c->restored[profile + 1], 1);
    ck_assert_uint_eq(c->wire_bytes, 8 + stream);
    ck_assert_uint_eq(c->payload_bytes, 400);
    ck_assert_uint_eq(c->packets, 1);
    ck_assert_uint_eq(c->bytes, n);
    ck_assert_int_eq(receive(make((packet){0}, (gn_shim){1, 0, 0, 5, 0}, small, 5)), GN_VERDICT_WRITE);
    ck_assert_uint_eq(c->restored[0], 1);
}
END_TEST

START_TEST(a_damaged_ipv4_header_stays_damaged)
{
    size_t stream, n = make_compressed((packet){.protocol = 17}, 100, &stream);
    wire[8] ^= 1;
    ck_assert_int_eq(receive(n), GN_VERDICT_WRITE);
    ck_assert(!packet_valid(out, out_length));
    out[8] ^= 1;
    ck_assert(packet_valid(out, out_length));
}
END_TEST

START_TEST(vouched_and_partial_checksums)
{
    gn_rx *offload;
    ck_assert_int_eq(gn_rx_new(&offload, &(gn_rx_config){.checksum_vouched = true, .partial_checksum = true}), GN_OK);
    static const packet packets[] = {{0}, {.version = 6}, {.protocol = 17}, {.version = 6, .protocol = 17}};
    for (size_t i = 0; i < 4; i++) {
        size_t stream, n = make_compressed(packets[i], 100, &stream), length;
        ck_assert_int_eq(receive(n), GN_VERDICT_WRITE);
        static uint8_t expected[ROOM], got[ROOM];
        packet p = packets[i];
        p.partial = true;
        size_t expected_length = packet_build(&p, out + packet_headers(out), 400, expected);
        ck_assert_int_eq(gn_rx_packet(offload, wire, n, got, sizeof got, &length), GN_VERDICT_WRITE);
        ck_assert_uint_eq(length, expected_length);
        ck_assert_mem_eq(got, expected, length);
        wire[packet_l4(wire)] ^= 1;  // damaged, but vouched for
        ck_assert_int_eq(gn_rx_packet(offload, wire, n, got, sizeof got, &length), GN_VERDICT_WRITE);
    }
    gn_rx_free(offload);
}
END_TEST

START_TEST(profiles_and_bounds_alternate)
{
    // The receiver keeps the last packet's codec: packets of different ones must not mix.
    for (int i = 0; i < 20; i++) {
        gn_profile which = (gn_profile)(i % GN_PROFILE_COUNT);
        int k = 4 + i % 5;
        gn_codec codec;
        uint8_t stream[2000];
        float expected[100];
        size_t bytes;
        ck_assert_int_eq(gn_codec_init(&codec, which, k), GN_OK);
        ck_assert_int_eq(gn_stream_encode(&codec, small, 100, stream, sizeof stream, &bytes), GN_OK);
        ck_assert_int_eq(gn_quantise(&codec, small, expected, NULL, 100), GN_OK);
        size_t n = make((packet){0}, (gn_shim){1, (uint8_t)(which + 1), (int8_t)k, 400, 0}, stream, bytes);
        ck_assert_int_eq(receive(n), GN_VERDICT_WRITE);
        ck_assert_mem_eq(out + 40, expected, 400);
        if (i % 4 == 0) receive(make((packet){0}, (gn_shim){1, 1, 127, 400, 0}, stream, bytes));  // a bad one between
    }
}
END_TEST

#define WITH_EITHER                                                                                                    \
    what_is_not_marked_passes, foreign_payload_passes, wrong_checksums, no_byte_does_harm,                             \
        padding_is_dropped_when_restored, counters_of_restored_packets, a_damaged_ipv4_header_stays_damaged,           \
        vouched_and_partial_checksums

int main(void)
{
    return RUN_SUITE("frame rx", setup_dense, teardown, which_tos_are_marked, wrong_shims, wrong_lengths, wrong_streams,
                     hostile_dense, profiles_and_bounds_alternate) |
           RUN_SUITE("frame rx, lattice", setup_lattice, teardown, WITH_EITHER) |
           RUN_SUITE("frame rx, dense", setup_dense, teardown, WITH_EITHER);
}
