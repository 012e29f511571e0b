// SPDX-License-Identifier: Apache-2.0
// The exchange's messages, byte by byte: what is written, what is read back, and what is refused.
#include <stdio.h>
#include <string.h>

#include <gradnic/comm.h>

#include "ring/message.h"
#include "ring/peers/parcel.h"
#include "suite.h"

static uint8_t bytes[GN_FRAME_MAX + 1], again[GN_FRAME_MAX];
static gn_frame frame;

/// Fails unless `length` bytes are this message: type, and the body as hexadecimal digits.
static void is(size_t length, unsigned type, const char *body)
{
    char text[2 * GN_FRAME_MAX + 1] = "", wanted[1200];
    for (size_t i = 0; i < length; i++) sprintf(text + 2 * i, "%02x", bytes[i]);
    const size_t digits = strlen(body);
    snprintf(wanted, sizeof wanted, "474e4331%02x00%02x%02x%s", type, (unsigned)(digits / 2 & 0xff),
             (unsigned)(digits / 2 >> 8), body);
    ck_assert_str_eq(text, wanted);
}

/// The frame in `bytes`, which is whole.
static void parse(size_t length)
{
    ck_assert_int_eq(gn_frame_parse(bytes, length, &frame), (int)length);
    ck_assert_uint_eq(frame.length, length - GN_FRAME_HEADER);
}

/// All other lengths of the body are refused. `reads` gets a structure of at least `size` bytes.
static void wants_its_length(size_t length, size_t from, bool (*reads)(const gn_frame *, void *), void *to)
{
    const size_t own = length - GN_FRAME_HEADER;
    for (frame.length = from; frame.length <= own + 1; frame.length++)
        ck_assert_msg(reads(&frame, to) == (frame.length == own), "%zu bytes in place of %zu", frame.length, own);
    frame.length = own;
}

START_TEST(frames)
{
    const size_t length = gn_empty_write(bytes, GN_MSG_READY);
    is(length, 4, "");
    ck_assert_uint_eq(gn_empty_write(bytes, GN_MSG_GO), GN_FRAME_HEADER);
    parse(length);
    ck_assert_int_eq(frame.type, GN_MSG_GO);
    for (size_t available = 0; available < GN_FRAME_HEADER; available++)
        ck_assert_int_eq(gn_frame_parse(bytes, available, &frame), 0);
    for (unsigned i = 0; i < 4; i++) {  // as soon as it is known
        bytes[i] ^= 1;
        ck_assert_int_eq(gn_frame_parse(bytes, i, &frame), 0);
        ck_assert_int_eq(gn_frame_parse(bytes, i + 1, &frame), -1);
        bytes[i] ^= 1;
    }
    bytes[5] = 1;
    ck_assert_int_eq(gn_frame_parse(bytes, 7, &frame), 0);
    ck_assert_int_eq(gn_frame_parse(bytes, 8, &frame), -1);
    bytes[5] = 0;
    bytes[6] = 2;
    ck_assert_int_eq(gn_frame_parse(bytes, 9, &frame), 0);
    ck_assert_int_eq(gn_frame_parse(bytes, 10, &frame), 10);
    ck_assert_int_eq(gn_frame_parse(bytes, 11, &frame), 10);
    ck_assert_ptr_eq(frame.body, bytes + 8);
    bytes[6] = (uint8_t)GN_BODY_MAX, bytes[7] = (uint8_t)(GN_BODY_MAX >> 8);
    ck_assert_int_eq(gn_frame_parse(bytes, 100, &frame), 0);
    ck_assert_int_eq(gn_frame_parse(bytes, GN_FRAME_MAX, &frame), GN_FRAME_MAX);
    bytes[6] = (uint8_t)(GN_BODY_MAX + 1), bytes[7] = (uint8_t)((GN_BODY_MAX + 1) >> 8);
    ck_assert_int_eq(gn_frame_parse(bytes, 8, &frame), -1);
}
END_TEST

#define READER(name, type)                                                                                             \
    static bool name##_reads(const gn_frame *from, void *to)                                                           \
    {                                                                                                                  \
        return gn_##name##_read(from, (type *)to);                                                                     \
    }
READER(hello, gn_hello)
READER(roster, gn_roster)
READER(rank_table, gn_rank_table)
READER(join, gn_join)
READER(op_header, gn_op_header)
READER(agree, gn_agree)
READER(alive, gn_alive)
READER(done, uint64_t)

static const gn_hello hello = {.job = 0x0807060504030201,
                               .rank = 0x0a09,
                               .size = 0x0c0b,
                               .terms = {.version = GN_PROTOCOL_VERSION,
                                         .algorithm = 0x11,
                                         .quantise = 0x12,
                                         .profile = 0x13,
                                         .bound_exp = -2,
                                         .scale = 0x15,
                                         .scale_target = -3,
                                         .data_tos = 0x17,
                                         .aggregator_weights = 0x18,
                                         .switch_channels = 0x19,
                                         .switch_half = 1,
                                         .offload = 0x1a,
                                         .group_offload = 0x1b,
                                         .groups = 0x7271},
                               .address = {4, 0x2221, 0x2423, {192, 0, 2, 1}},
                               .at_switch = {6, 0x3231, 0x3433, {0x20, 1, [15] = 9}},
                               .switch_values = 0x4241,
                               .timeout_ms = 0x54535251,
                               .segment_bytes = 0x64636261,
                               .group = 0x8281};

START_TEST(hellos)
{
    gn_hello got;
    size_t length = gn_hello_write(bytes, &hello);
    is(length, 1,
       "06"
       "0102030405060708"
       "090a"
       "0b0c"
       "111213fe15fd1718"
       "040021222324"
       "0000"
       "c0000201000000000000000000000000"
       "59"  // channels 0x19, half 1
       "060031323334"
       "0000"
       "20010000000000000000000000000009"
       "4142"
       "51525354"
       "1a"
       "61626364"
       "7172"
       "1b"
       "8182");
    parse(length);
    ck_assert_int_eq(frame.type, GN_MSG_HELLO);
    ck_assert(gn_hello_read(&frame, &got));
    ck_assert_uint_eq(gn_hello_write(again, &got), length);
    ck_assert_mem_eq(bytes, again, length);
    wants_its_length(length, 0, hello_reads, &got);
    for (unsigned family = 0; family < 8; family++) {  // where it listens has to be an address
        bytes[8 + 21] = (uint8_t)family;
        ck_assert(gn_hello_read(&frame, &got) == (family == 4 || family == 6));
    }
    bytes[8 + 21] = 4;
    bytes[8 + 46] = 0;  // it need not have a switch
    ck_assert(gn_hello_read(&frame, &got));

    // Another version: only who it is.
    bytes[8] = GN_PROTOCOL_VERSION + 1;
    memset(&got, 0xff, sizeof got);
    ck_assert(gn_hello_read(&frame, &got));
    ck_assert_uint_eq(got.terms.version, GN_PROTOCOL_VERSION + 1);
    ck_assert(got.job == hello.job && got.rank == hello.rank && got.size == hello.size);
    ck_assert(got.terms.algorithm == 0 && got.timeout_ms == 0 && got.address.family == 0);
    for (frame.length = 0; frame.length < 20; frame.length++)
        ck_assert(gn_hello_read(&frame, &got) == (frame.length >= 13));
}
END_TEST

START_TEST(rosters)
{
    gn_roster roster = {.size = 0x0100, .present = {1, 2, [31] = 0x80}}, got;
    const size_t length = gn_roster_write(bytes, &roster);
    is(length, 2,
       "0001"
       "0102000000000000000000000000000000000000000000000000000000000080");
    parse(length);
    ck_assert(gn_roster_read(&frame, &got));
    ck_assert_mem_eq(&got, &roster, sizeof got);
    wants_its_length(length, 0, roster_reads, &got);
    static const struct {
        uint16_t size;
        bool fine;
    } sizes[] = {{0, false}, {1, true}, {256, true}, {257, false}, {65535, false}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bytes[8] = (uint8_t)sizes[i].size, bytes[9] = (uint8_t)(sizes[i].size >> 8);
        ck_assert(gn_roster_read(&frame, &got) == sizes[i].fine);
    }
}
END_TEST

static gn_rank_table table_of(uint16_t size)
{
    gn_rank_table table = {.size = size, .switch_values = 0x6261, .timeout_ms = 0x74737271, .segment_bytes = 0x1a9c0};
    for (unsigned i = 0; i < GN_TOKEN_BYTES; i++) table.token[i] = (uint8_t)(0xa0 + i);
    for (unsigned i = 0; i < size; i++) {
        table.address[i] =
            (gn_address){i & 1 ? 6 : 4, (uint16_t)(1000 + i), (uint16_t)(2000 + i), {(uint8_t)i, 1, 2, 3}};
        table.switch_index[i] = (uint8_t)(i / 2);
        table.group[i] = (uint8_t)(i % 3 ? i / 3 : 0);
    }
    return table;
}

START_TEST(tables)
{
    static gn_rank_table table, got;
    table = table_of(2);
    size_t length = gn_rank_table_write(bytes, &table);
    is(length, 3,
       "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"
       "02000000"
       "0400e803d0070000"
       "00010203000000000000000000000000"
       "0600e903d1070000"
       "01010203000000000000000000000000"
       "6162"
       "0000"
       "71727374"
       "c0a90100"
       "0000");
    parse(length);
    wants_its_length(length, 0, rank_table_reads, &got);
    for (unsigned size = 1; size <= GN_RANKS_MAX; size += 51) {
        table = table_of((uint16_t)size);
        length = gn_rank_table_write(bytes, &table);
        parse(length);
        memset(&got, 0xff, sizeof got);
        ck_assert(gn_rank_table_read(&frame, &got));
        ck_assert(got.size == size && got.switch_values == 0x6261 && got.timeout_ms == 0x74737271 &&
                  got.segment_bytes == 0x1a9c0);
        ck_assert_mem_eq(got.token, table.token, sizeof got.token);
        ck_assert_mem_eq(got.switch_index, table.switch_index, size);
        ck_assert_mem_eq(got.group, table.group, size);
        for (unsigned i = 0; i < size; i++) {
            ck_assert_uint_eq(got.address[i].family, table.address[i].family);
            ck_assert_uint_eq(got.address[i].data_port, table.address[i].data_port);
            ck_assert_uint_eq(got.address[i].oob_port, table.address[i].oob_port);
            ck_assert_mem_eq(got.address[i].bytes, table.address[i].bytes, 16);
        }
    }
    ck_assert_uint_eq(length, GN_FRAME_MAX);  // 256 ranks: the largest message
    bytes[8 + 16] = 1, bytes[8 + 17] = 1;     // 257
    ck_assert(!gn_rank_table_read(&frame, &got));
}
END_TEST

START_TEST(tables_that_cannot_be)
{
    static gn_rank_table table, got;
    static const struct {
        unsigned at;
        uint8_t value;
        bool fine;
    } changes[] = {{16, 0, false},                                       // no ranks
                   {20, 0, false},                                       // rank 0 listens nowhere
                   {44, 5, false},                                       // so does rank 1
                   {44, 4, true},    {70, 1, false},                     // rank 0 is at the first switch
                   {71, 1, true},    {71, 2, false},                     // and rank 1 at the first or the second
                   {75, 0x7f, true}, {75, 0x80, false}, {80, 1, false},  // rank 0 is in the first group
                   {81, 1, true},    {81, 2, false}};
    table = table_of(2);
    const size_t length = gn_rank_table_write(bytes, &table);
    parse(length);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const uint8_t before = bytes[8 + changes[i].at];
        bytes[8 + changes[i].at] = changes[i].value;
        ck_assert_msg(gn_rank_table_read(&frame, &got) == changes[i].fine, "byte %u as %u", changes[i].at,
                      changes[i].value);
        bytes[8 + changes[i].at] = before;
    }
    memset(bytes + 8 + 72, 0, 4);  // no patience at all
    ck_assert(!gn_rank_table_read(&frame, &got));
}
END_TEST

START_TEST(failures)
{
    gn_failure why = {.status = GN_TIMEOUT, .culprit = 0x0201, .reporter = 0x0403, .text = "a\nb\x1f\x7f~ \xc3\xa9"},
               got;
    char body[64];
    size_t length = gn_failure_write(bytes, &why);
    snprintf(body, sizeof body,
             "%02x00"
             "01020304"
             "610a621f7f7e20c3a9",
             GN_TIMEOUT);
    is(length, 6, body);
    parse(length);
    ck_assert(gn_failure_read(&frame, &got));
    ck_assert(got.status == GN_TIMEOUT && got.culprit == 0x0201 && got.reporter == 0x0403);
    ck_assert_str_eq(got.text, "a?b??~ \xc3\xa9");
    for (frame.length = 0; frame.length < 8; frame.length++)
        ck_assert(gn_failure_read(&frame, &got) == (frame.length >= 6));
    frame.length = 6;
    bytes[8] = GN_STATUS_COUNT - 1;
    ck_assert(gn_failure_read(&frame, &got) && !*got.text);
    bytes[8] = GN_STATUS_COUNT;
    ck_assert(!gn_failure_read(&frame, &got));
    bytes[8] = GN_OK;
    ck_assert(!gn_failure_read(&frame, &got));

    memset(why.text, 'x', GN_TEXT_MAX);
    length = gn_failure_write(bytes, &why);
    ck_assert_uint_eq(length, GN_FRAME_HEADER + 6 + GN_TEXT_MAX);
    parse(length);
    ck_assert(gn_failure_read(&frame, &got));
    ck_assert_uint_eq(strlen(got.text), GN_TEXT_MAX);
    frame.length++;
    ck_assert(!gn_failure_read(&frame, &got));
}
END_TEST

START_TEST(goodbyes)
{
    gn_failure why = {.status = GN_OK}, got = {.status = GN_IO};
    size_t length = gn_bye_write(bytes, &why);
    is(length, 20, "");
    parse(length);
    ck_assert(gn_bye_read(&frame, &got));
    ck_assert_uint_eq(got.status, GN_OK);
    why = (gn_failure){.status = GN_IO, .culprit = GN_NO_RANK, .reporter = 1, .text = "w"};
    length = gn_bye_write(bytes, &why);
    parse(length);
    ck_assert_int_eq(frame.type, GN_MSG_BYE);
    ck_assert(gn_bye_read(&frame, &got));
    ck_assert(got.status == GN_IO && got.culprit == GN_NO_RANK && got.reporter == 1 && !strcmp(got.text, "w"));
    frame.length = 1;
    ck_assert(!gn_bye_read(&frame, &got));
}
END_TEST

START_TEST(small_ones)
{
    gn_join join = {.token = {1, 2, [15] = 16}, .rank = 0x0201}, joined;
    size_t length = gn_join_write(bytes, &join);
    is(length, 7,
       "01020000000000000000000000000010"
       "0102");
    parse(length);
    ck_assert(gn_join_read(&frame, &joined));
    ck_assert(!memcmp(joined.token, join.token, sizeof join.token) && joined.rank == join.rank);
    wants_its_length(length, 0, join_reads, &joined);

    const gn_alive alive = {0x0807060504030201, 0x1817161514131211};
    gn_alive lives;
    length = gn_alive_write(bytes, &alive);
    is(length, 19,
       "0102030405060708"
       "1112131415161718");
    parse(length);
    ck_assert(gn_alive_read(&frame, &lives));
    ck_assert(lives.sequence == alive.sequence && lives.data_sent == alive.data_sent);
    wants_its_length(length, 0, alive_reads, &lives);

    uint64_t done;
    length = gn_done_write(bytes, 0xf807060504030201);
    is(length, 21, "01020304050607f8");
    parse(length);
    ck_assert(gn_done_read(&frame, &done) && done == 0xf807060504030201);
    wants_its_length(length, 0, done_reads, &done);
}
END_TEST

START_TEST(calls)
{
    const gn_op_header header = {.sequence = 0x0807060504030201,
                                 .count = 0x1817161514131211,
                                 .kind = GN_TRANSFER,
                                 .op = GN_MAX,
                                 .algorithm = GN_ALGORITHMS - 1,
                                 .type = GN_U8,
                                 .bucket = 0x24232221,
                                 .exponent = -2,
                                 .root = 0x31,
                                 .to = 0x41,
                                 .shape = 0x54535251};
    gn_op_header got;
    size_t length = gn_op_header_write(bytes, &header);
    is(length, 16,
       "0102030405060708"
       "1112131415161718"
       "09030706"
       "21222324"
       "feff"
       "3100"
       "4100"
       "51525354");
    parse(length);
    ck_assert(gn_op_header_read(&frame, &got));
    ck_assert(got.sequence == header.sequence && got.count == header.count && got.kind == GN_TRANSFER);
    ck_assert(got.op == GN_MAX && got.algorithm == GN_ALGORITHMS - 1 && got.type == GN_U8);
    ck_assert(got.bucket == header.bucket && got.exponent == -2 && got.shape == header.shape);
    ck_assert(got.root == 0x31 && got.to == 0x41);
    wants_its_length(length, 0, op_header_reads, &got);
    for (unsigned at = 24; at < 28; at++) {  // kind, op, algorithm, type: one more than the last
        bytes[at]++;
        ck_assert(!gn_op_header_read(&frame, &got));
        bytes[at]--;
    }
    for (unsigned at = 35; at < 39; at += 2) {  // root, to: 256 and more
        bytes[at]++;
        ck_assert(!gn_op_header_read(&frame, &got));
        bytes[at]--;
    }

    const gn_agree agree = {.sequence = 0x0807060504030201, .origin = 255, .round = 1, .hops = 9, .value = -3};
    gn_agree agreed;
    length = gn_agree_write(bytes, GN_MSG_AGREED, &agree);
    is(length, 18,
       "0102030405060708"
       "ff00"
       "0109"
       "fdff");
    parse(length);
    ck_assert(gn_agree_read(&frame, &agreed));
    ck_assert(agreed.sequence == agree.sequence && agreed.origin == 255 && agreed.round == 1);
    ck_assert(agreed.hops == 9 && agreed.value == -3);
    wants_its_length(length, 0, agree_reads, &agreed);
    bytes[18] = 3;
    ck_assert(!gn_agree_read(&frame, &agreed));
    bytes[18] = 0, bytes[17] = 1;  // rank 256 + 255
    ck_assert(!gn_agree_read(&frame, &agreed));
    bytes[16] = 0;
    ck_assert(!gn_agree_read(&frame, &agreed));
}
END_TEST

// What a data connection begins with are values that no codec changes: NaN or infinity.
START_TEST(hellos_of_data)
{
    gn_join join = {.rank = 0x81fe}, got;
    uint8_t hello_bytes[GN_DATA_HELLO_BYTES];
    for (unsigned i = 0; i < GN_TOKEN_BYTES; i++) join.token[i] = (uint8_t)(37 * i + 0x7f);
    gn_data_hello_write(hello_bytes, &join);
    for (unsigned i = 0; i < GN_DATA_HELLO_BYTES; i += 4)
        ck_assert((hello_bytes[i + 3] & 0x7f) == 0x7f && hello_bytes[i + 2] & 0x80);
    ck_assert_mem_eq(hello_bytes,
                     "GN\xc4\x7f"
                     "AT\xc1\x7f",
                     8);
    ck_assert(gn_data_hello_read(hello_bytes, &got));
    ck_assert_mem_eq(got.token, join.token, sizeof join.token);
    ck_assert_uint_eq(got.rank, join.rank);
    for (unsigned bit = 0; bit < 8 * GN_DATA_HELLO_BYTES; bit++) {
        const bool of_form = bit % 32 >= 23 && bit % 32 < 31;
        hello_bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        const bool fine = gn_data_hello_read(hello_bytes, &got);
        ck_assert_msg(fine == (!of_form && bit >= 64), "bit %u", bit);
        if (fine) ck_assert(memcmp(got.token, join.token, sizeof join.token) || got.rank != join.rank);
        hello_bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}
END_TEST

static bool line(const char *text, const char *wanted, unsigned wanted_port)
{
    char host[GN_RENDEZVOUS_LINE];
    uint16_t port = 0;
    if (!gn_rendezvous_line_read(text, strlen(text), host, &port)) return false;
    ck_assert_str_eq(host, wanted);
    ck_assert_uint_eq(port, wanted_port);
    return true;
}

START_TEST(rendezvous_lines)
{
    static const char *const bad[] = {"",
                                      "gradnic-rendezvous 1 ",
                                      "gradnic-rendezvous 1 \n",
                                      "gradnic-rendezvous 1 h 1",
                                      "gradnic-rendezvous 2 h 1\n",
                                      "gradnic-rendezvous 1  1\n",
                                      "gradnic-rendezvous 1 h\n",
                                      "gradnic-rendezvous 1 h \n",
                                      "gradnic-rendezvous 1 h 0\n",
                                      "gradnic-rendezvous 1 h 65536\n",
                                      "gradnic-rendezvous 1 h 4294967297\n",
                                      "gradnic-rendezvous 1 h 12a\n",
                                      "gradnic-rendezvous 1 h 1/2\n",
                                      "gradnic-rendezvous 1 h 1:2\n",
                                      "gradnic-rendezvous 1 h -1\n",
                                      "gradnic-rendezvous 1 h 1 \n"};
    char longest[GN_RENDEZVOUS_LINE + 8], host[GN_RENDEZVOUS_LINE];
    uint16_t port;
    ck_assert(line("gradnic-rendezvous 1 127.0.0.1 1\n", "127.0.0.1", 1));
    ck_assert(line("gradnic-rendezvous 1 ::1 65535\n", "::1", 65535));
    ck_assert(line("gradnic-rendezvous 1 h 1\n", "h", 1));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) ck_assert_msg(!line(bad[i], "", 0), "%s", bad[i]);
    ck_assert(!gn_rendezvous_line_read("gradnic-rendezvous 1 h\0h 1\n", 27, host, &port));
    memset(longest, 'h', sizeof longest);
    memcpy(longest, "gradnic-rendezvous 1 ", 21);
    memcpy(longest + GN_RENDEZVOUS_LINE - 4, " 7\n", 4);
    ck_assert(gn_rendezvous_line_read(longest, GN_RENDEZVOUS_LINE - 1, host, &port) && port == 7);
    ck_assert_uint_eq(strlen(host), GN_RENDEZVOUS_LINE - 4 - 21);
    memcpy(longest + GN_RENDEZVOUS_LINE - 4, "h 7\n", 4);
    ck_assert(!gn_rendezvous_line_read(longest, GN_RENDEZVOUS_LINE, host, &port));
}
END_TEST

// The heads of docs/collectives-protocol.md, of messages between two ranks.
START_TEST(parcels)
{
    static const struct {
        gn_parcel parcel;
        const char *bytes;
    } all[] = {{{GN_PARCEL_WHOLE, 3, 5, 10},
                "4750010103000000"
                "0500000000000000"
                "0a00000000000000"},
               {{GN_PARCEL_OFFER, -2, 1, 1 << 20},
                "47500102feffffff"
                "0100000000000000"
                "0000100000000000"},
               {{GN_PARCEL_PART, 0, 6, 262144},
                "4750010300000000"
                "0600000000000000"
                "0000040000000000"},
               {{GN_PARCEL_ACCEPT, 0, 7, 0},
                "4750010400000000"
                "0700000000000000"
                "0000000000000000"},
               {{GN_PARCEL_CREDIT, 0, 0, 64},
                "4750010500000000"
                "0000000000000000"
                "4000000000000000"},
               {{GN_PARCEL_ALIVE, 0, 0, 0},
                "4750010600000000"
                "0000000000000000"
                "0000000000000000"},
               {{GN_PARCEL_END, 0, 0, 0},
                "4750010700000000"
                "0000000000000000"
                "0000000000000000"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[2 * GN_PARCEL_HEAD + 1];
        gn_parcel back;
        gn_parcel_write(bytes, &all[i].parcel);
        for (size_t b = 0; b < GN_PARCEL_HEAD; b++) sprintf(text + 2 * b, "%02x", bytes[b]);
        ck_assert_str_eq(text, all[i].bytes);
        ck_assert(gn_parcel_read(bytes, &back));
        ck_assert(back.type == all[i].parcel.type && back.tag == all[i].parcel.tag);
        ck_assert(back.number == all[i].parcel.number && back.bytes == all[i].parcel.bytes);
    }
}
END_TEST

// What a type of parcel has no use for is 0.
START_TEST(parcels_that_cannot_be)
{
    static const struct {
        gn_parcel_type type;
        uint64_t bytes;
        bool numbered, tagged;
    } all[] = {{GN_PARCEL_WHOLE, 64, true, true},    {GN_PARCEL_OFFER, 1 << 30, true, true},
               {GN_PARCEL_PART, 64, true, false},    {GN_PARCEL_ACCEPT, 0, true, false},
               {GN_PARCEL_CREDIT, 64, false, false}, {GN_PARCEL_ALIVE, 0, false, false},
               {GN_PARCEL_END, 0, false, false}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        gn_parcel back;
        gn_parcel_write(bytes, &(gn_parcel){.type = all[i].type, .bytes = all[i].bytes});
        ck_assert(gn_parcel_read(bytes, &back));
        gn_parcel_write(bytes, &(gn_parcel){.type = all[i].type, .bytes = all[i].bytes, .number = 1});
        ck_assert_int_eq(gn_parcel_read(bytes, &back), all[i].numbered);
        gn_parcel_write(bytes, &(gn_parcel){.type = all[i].type, .bytes = all[i].bytes, .tag = 1});
        ck_assert_int_eq(gn_parcel_read(bytes, &back), all[i].tagged);
    }
}
END_TEST

int main(void)
{
    return RUN_TESTS("message", frames, hellos, rosters, tables, tables_that_cannot_be, failures, goodbyes, small_ones,
                     calls, hellos_of_data, parcels, parcels_that_cannot_be, rendezvous_lines);
}
