// SPDX-License-Identifier: Apache-2.0
// Frames of admission: their bytes as docs/switch.md has them, and every field that makes one none.
#include <string.h>

#include <gradnic/admission.h>

#include "suite.h"

static uint8_t bytes[GN_ADMISSION_MAX];
static gn_admission parsed;
static const char *wrong;

static gn_admission example(void)
{
    return (gn_admission){.type = GN_ADMISSION_JOIN,
                          .join = {.name = "job",
                                   .rank = 2,
                                   .ranks = 4,
                                   .bit = 2,
                                   .children = 4,
                                   .bits = 3,
                                   .format = GN_AGG_DENSE,
                                   .bound_exp = -10,
                                   .packet_values = 0x102,
                                   .slots = 0x200,
                                   .priority = 0x304,
                                   .streams = 2,
                                   .udp_port = {0x1111, 0x2222}}};
}

static size_t write_and_parse(const gn_admission *frame)
{
    const size_t length = gn_admission_write(frame, bytes);
    ck_assert_uint_le(length, GN_ADMISSION_MAX);
    ck_assert_int_eq(gn_admission_parse(bytes, length, &parsed, &wrong), (int)length);
    ck_assert_ptr_null(wrong);
    ck_assert_int_eq(parsed.type, frame->type);
    return length;
}

START_TEST(join_has_its_bytes)
{
    const gn_admission frame = example();
    ck_assert_uint_eq(write_and_parse(&frame), 8 + 48 + 20 + 4);
    static const uint8_t head[] = {'G', 'N', 'A', 'D', 2, 0, 0, 72, 'j', 'o', 'b', 0};
    ck_assert_mem_eq(bytes, head, sizeof head);
    static const uint8_t rest[] = {0,    2, 0, 4, 0, 2, 4, 0, 0,    0,    3,    2,
                                   0xf6, 1, 2, 2, 0, 3, 4, 2, 0x11, 0x11, 0x22, 0x22};
    ck_assert_mem_eq(bytes + 56, rest, sizeof rest);
    ck_assert_mem_eq(&parsed.join, &frame.join, sizeof frame.join);
}
END_TEST

START_TEST(welcome_has_its_bytes)
{
    gn_admission frame = {.type = GN_ADMISSION_WELCOME,
                          .welcome = {.mode = GN_SHARED,
                                      .streams = 2,
                                      .slots = 64,
                                      .bit = 5,
                                      .fanin = 8,
                                      .job = {0, 7},
                                      .gen = {0x1234, 0x5678},
                                      .udp_port = {0x9abc, 1}}};
    const size_t length = write_and_parse(&frame);
    static const uint8_t all[] = {'G', 'N', 'A', 'D',  2,    1,    0,    18, 1, 2,    0,    64, 5,
                                  8,   0,   0,   0x12, 0x34, 0x9a, 0xbc, 0,  7, 0x56, 0x78, 0,  1};
    ck_assert_uint_eq(length, sizeof all);
    ck_assert_mem_eq(bytes, all, sizeof all);
    ck_assert_mem_eq(&parsed.welcome, &frame.welcome, sizeof frame.welcome);
    frame.welcome.slots = 63;
    ck_assert_int_eq(gn_admission_parse(bytes, gn_admission_write(&frame, bytes), &parsed, &wrong), -1);
    ck_assert_str_eq(wrong, "slots");
    frame.welcome.slots = 64;
    frame.welcome.fanin = 5;
    ck_assert_int_eq(gn_admission_parse(bytes, gn_admission_write(&frame, bytes), &parsed, &wrong), -1);
    ck_assert_str_eq(wrong, "bit");
    frame.welcome.fanin = 0;
    ck_assert_int_eq(gn_admission_parse(bytes, gn_admission_write(&frame, bytes), &parsed, &wrong), -1);
    ck_assert_str_eq(wrong, "bit");
}
END_TEST

START_TEST(the_longest_frames_have_room)
{
    gn_admission frame = example();
    frame.join.streams = GN_ADMISSION_STREAMS_MAX;
    for (unsigned i = 0; i < GN_ADMISSION_STREAMS_MAX; i++) frame.join.udp_port[i] = (uint16_t)(1000 + i);
    write_and_parse(&frame);
    ck_assert_uint_eq(parsed.join.udp_port[15], 1015);
    frame = (gn_admission){.type = GN_ADMISSION_WELCOME, .welcome = {.slots = 32768, .streams = 16}};
    for (unsigned i = 0; i < GN_ADMISSION_STREAMS_MAX; i++) frame.welcome.udp_port[i] = (uint16_t)(1000 + i);
    write_and_parse(&frame);
    frame = (gn_admission){.type = GN_ADMISSION_GONE};
    memset(frame.text, 'x', GN_ADMISSION_TEXT - 1);
    write_and_parse(&frame);
    ck_assert_str_eq(parsed.text, frame.text);
}
END_TEST

START_TEST(texts_are_printable)
{
    gn_admission frame = {.type = GN_ADMISSION_REFUSED, .text = "rank 3\n\x1b[2J\xff"};
    const size_t length = write_and_parse(&frame);
    ck_assert_str_eq(parsed.text, "rank 3??[2J?");
    bytes[10] = '\n';
    ck_assert_int_eq(gn_admission_parse(bytes, length, &parsed, &wrong), -1);
    ck_assert_str_eq(wrong, "text");
    frame.text[0] = 0;
    ck_assert_int_eq(gn_admission_parse(bytes, gn_admission_write(&frame, bytes), &parsed, &wrong), -1);
}
END_TEST

START_TEST(frames_come_in_pieces)
{
    const gn_admission frame = example();
    const size_t length = gn_admission_write(&frame, bytes);
    for (size_t part = 0; part < length; part++) ck_assert_int_eq(gn_admission_parse(bytes, part, &parsed, &wrong), 0);
    memcpy(bytes + length, bytes, 3);  // the next one has begun
    ck_assert_int_eq(gn_admission_parse(bytes, length + 3, &parsed, &wrong), (int)length);
}
END_TEST

static const char *fault_of(gn_admission frame)
{
    const size_t length = gn_admission_write(&frame, bytes);
    ck_assert_int_eq(gn_admission_parse(bytes, length, &parsed, &wrong), -1);
    return wrong;
}

START_TEST(every_field_has_its_range)
{
#define REFUSED(member, ...)                                                                                           \
    do {                                                                                                               \
        static const int values[] = {__VA_ARGS__};                                                                     \
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {                                                  \
            gn_admission frame = example();                                                                            \
            frame.join.member = (__typeof__(frame.join.member))values[i];                                              \
            ck_assert_str_eq(fault_of(frame), #member);                                                                \
        }                                                                                                              \
    } while (0)
    REFUSED(rank, 4, 256);
    REFUSED(ranks, 0, 257);
    REFUSED(level, 15);
    REFUSED(bit, 4, 64);
    REFUSED(children, 0, 5, 65);
    REFUSED(parent_bit, 1, 64);
    REFUSED(parent_children, 65);
    REFUSED(leader, 4, 65);
    REFUSED(bits, 5, 65);
    REFUSED(format, GN_AGG_FORMATS);
    REFUSED(bound_exp, -32, 32);
    REFUSED(packet_values, 0, 2049);
    REFUSED(slots, 0, 3, 32769);
#undef REFUSED
    gn_admission frame = example();
    frame.join.format = GN_AGG_INT32;  // has no bound
    ck_assert_str_eq(fault_of(frame), "bound_exp");
    frame = example(), frame.join.udp_port[1] = 0;
    ck_assert_str_eq(fault_of(frame), "udp_port");
    frame = example(), frame.join.name[1] = '\t';
    ck_assert_str_eq(fault_of(frame), "name");
    frame = example(), frame.join.name[0] = 0;
    ck_assert_str_eq(fault_of(frame), "name");
}
END_TEST

START_TEST(frames_that_are_none)
{
    const gn_admission frame = example();
    const struct {
        size_t at;
        uint8_t value;
        const char *wrong;
    } cases[] = {{0, 'g', "magic"},
                 {3, 0, "magic"},
                 {4, 1, "version"},
                 {5, GN_ADMISSION_TYPES, "type"},
                 {6, 2, "length"},
                 {7, 71, "length"},
                 {8 + 47, 'x', "name"},
                 {8 + 48 + 19, 0, "streams"},
                 {8 + 48 + 19, 17, "streams"},
                 {8 + 48 + 19, 1, "length"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t length = gn_admission_write(&frame, bytes);
        bytes[cases[i].at] = cases[i].value;
        ck_assert_int_eq(gn_admission_parse(bytes, length, &parsed, &wrong), -1);
        ck_assert_str_eq(wrong, cases[i].wrong);
        ck_assert_int_eq(gn_admission_parse(bytes, length, &parsed, NULL), -1);
    }
    bytes[0] = 'x';  // no need to wait for more
    ck_assert_int_eq(gn_admission_parse(bytes, 1, &parsed, &wrong), -1);
}
END_TEST

int main(void)
{
    return RUN_TESTS("admission", join_has_its_bytes, welcome_has_its_bytes, the_longest_frames_have_room,
                     texts_are_printable, frames_come_in_pieces, every_field_has_its_range, frames_that_are_none);
}
