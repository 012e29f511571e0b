// SPDX-License-Identifier: Apache-2.0
// Frames of admission: their bytes as docs/switch.md has them, and every field that makes one none.
#include <stdio.h>
#include <string.h>

#include <gradnic/admission.h>

#include "suite.h"

static uint8_t bytes[GN_ADMISSION_MAX];
static gn_admission parsed;
static const char *wrong;

/// A switch that shares its slots asks its parent. Rank 2's values are in its second contribution,
/// rank 3's in its first.
static gn_admission example(void)
{
    return (gn_admission){.type = GN_ADMISSION_JOIN,
                          .join = {.name = "job",
                                   .rank = 2,
                                   .ranks = 4,
                                   .bit = 2,
                                   .children = 4,
                                   .bits = 2,
                                   .format = GN_AGG_DENSE,
                                   .bound_exp = -10,
                                   .packet_values = 0x102,
                                   .slots = 0x200,
                                   .priority = 0x304,
                                   .asker = GN_ASKER_SWITCH,
                                   .listens = 7777,
                                   .instance = 0x12345678,
                                   .patience_ms = 30000,
                                   .channels = 2,
                                   .udp_port = {0x1111, 0x2222},
                                   .below = {GN_ADMISSION_NOT_BELOW, GN_ADMISSION_NOT_BELOW, 1, 0}}};
}

static gn_admission of_a_worker(void)
{
    gn_admission frame = example();
    frame.join.asker = GN_ASKER_WORKER;
    frame.join.bits = 0;
    frame.join.listens = 0;
    frame.join.instance = 0;
    memset(frame.join.below, 0, sizeof frame.join.below);
    return frame;
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
    ck_assert_uint_eq(write_and_parse(&frame), 8 + 48 + 31 + 4 + 4);
    static const uint8_t head[] = {'G', 'N', 'A', 'D', 5, 0, 0, 87, 'j', 'o', 'b', 0};
    ck_assert_mem_eq(bytes, head, sizeof head);
    static const uint8_t rest[] = {0, 2, 0,    4,    0, 2,    4,    0,    0,    0,    2,    2,    0xf6,
                                   1, 2, 2,    0,    3, 4,    1,    0x1e, 0x61, 0x12, 0x34, 0x56, 0x78,
                                   0, 0, 0x75, 0x30, 2, 0x11, 0x11, 0x22, 0x22, 255,  255,  1,    0};
    ck_assert_mem_eq(bytes + 56, rest, sizeof rest);
    ck_assert_mem_eq(&parsed.join, &frame.join, sizeof frame.join);
    const gn_admission worker = of_a_worker();  // who is below itself need not be said
    ck_assert_uint_eq(write_and_parse(&worker), 8 + 48 + 31 + 4);
    ck_assert_mem_eq(&parsed.join, &worker.join, sizeof worker.join);
}
END_TEST

START_TEST(welcome_has_its_bytes)
{
    gn_admission frame = {.type = GN_ADMISSION_WELCOME,
                          .welcome = {.mode = GN_SHARED,
                                      .channels = 2,
                                      .slots = 64,
                                      .bit = 5,
                                      .fanin = 8,
                                      .job = {0, 7},
                                      .gen = {0x1234, 0x5678},
                                      .udp_port = {0x9abc, 1}}};
    const size_t length = write_and_parse(&frame);
    static const uint8_t all[] = {'G', 'N', 'A', 'D',  5,    1,    0,    18, 1, 2,    0,    64, 5,
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

// For one release.
START_TEST(channels_have_their_old_name_too)
{
    const gn_admission frame = {.join = {.channels = 3}, .welcome = {.channels = 4}};
    ck_assert_uint_eq(frame.join.streams, 3);
    ck_assert_uint_eq(frame.welcome.streams, 4);
    ck_assert_int_eq(GN_ADMISSION_STREAMS_MAX, GN_ADMISSION_CHANNELS_MAX);
}
END_TEST

START_TEST(the_longest_frames_have_room)
{
    gn_admission frame = example();
    frame.join.channels = GN_ADMISSION_CHANNELS_MAX;
    for (unsigned i = 0; i < GN_ADMISSION_CHANNELS_MAX; i++) frame.join.udp_port[i] = (uint16_t)(1000 + i);
    frame.join.rank = 0;
    frame.join.ranks = GN_ADMISSION_RANKS_MAX;
    frame.join.bits = GN_AGG_WORKERS_MAX;
    for (unsigned i = 0; i < GN_ADMISSION_RANKS_MAX; i++) frame.join.below[i] = (uint8_t)(i % GN_AGG_WORKERS_MAX);
    write_and_parse(&frame);
    ck_assert_uint_eq(parsed.join.udp_port[15], 1015);
    ck_assert_mem_eq(parsed.join.below, frame.join.below, sizeof frame.join.below);
    frame = (gn_admission){.type = GN_ADMISSION_WELCOME, .welcome = {.slots = 32768, .channels = 16}};
    for (unsigned i = 0; i < GN_ADMISSION_CHANNELS_MAX; i++) frame.welcome.udp_port[i] = (uint16_t)(1000 + i);
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
    // PONG may have one.
    frame.type = GN_ADMISSION_PONG;
    ck_assert_uint_eq(write_and_parse(&frame), GN_ADMISSION_HEADER);
    ck_assert_str_eq(parsed.text, "");
    snprintf(frame.text, sizeof frame.text, "rank 2 has not come");
    write_and_parse(&frame);
    ck_assert_str_eq(parsed.text, "rank 2 has not come");
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
    char text[GN_ADMISSION_FAULT];
    const size_t length = gn_admission_write(&frame, bytes);
    ck_assert_int_eq(gn_admission_parse(bytes, length, &parsed, &wrong), -1);
    ck_assert_msg(strstr(gn_admission_fault(bytes, length, text), wrong) != NULL, "'%s': %s", text, wrong);
    return wrong;
}

/// In words: which field it is, and what it says.
static void fault_says(const char *field, long long value)
{
    char text[GN_ADMISSION_FAULT], what[64];
    snprintf(what, sizeof what, "sent JOIN with %s %lld", field, value);
    gn_admission_fault(bytes, (size_t)GN_ADMISSION_HEADER + bytes[7] + 256u * bytes[6], text);
    ck_assert_msg(!strncmp(text, what, strlen(what)), "'%s' is not '%s'", text, what);
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
            fault_says(#member, frame.join.member);                                                                    \
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
    REFUSED(asker, 3, 255);
    REFUSED(listens, 0);
    REFUSED(instance, 0, INT32_MIN);
    REFUSED(patience_ms, 0, -1);
#undef REFUSED
    gn_admission frame = example();
    frame.join.format = GN_AGG_INT32;  // has no bound
    ck_assert_str_eq(fault_of(frame), "bound_exp");
    fault_says("bound_exp", -10);
    frame = example(), frame.join.udp_port[1] = 0;
    ck_assert_str_eq(fault_of(frame), "udp_port");
    fault_says("udp_port", 0);
    frame = example(), frame.join.name[1] = '\t';
    ck_assert_str_eq(fault_of(frame), "name");
    frame = example(), frame.join.name[0] = 0;
    ck_assert_str_eq(fault_of(frame), "name");
}
END_TEST

START_TEST(who_asks_says_what_such_a_one_can)
{
    gn_admission frame = of_a_worker();
    frame.join.bits = 2;
    ck_assert_str_eq(fault_of(frame), "bits");
    frame = of_a_worker(), frame.join.level = 1;
    ck_assert_str_eq(fault_of(frame), "level");
    frame = of_a_worker(), frame.join.listens = 1;
    ck_assert_str_eq(fault_of(frame), "listens");
    frame = of_a_worker(), frame.join.instance = 1;
    ck_assert_str_eq(fault_of(frame), "instance");
    frame = example(), frame.join.bits = 0;  // level 0
    ck_assert_str_eq(fault_of(frame), "level");
    frame = example(), frame.join.asker = GN_ASKER_PS_SWITCH;
    ck_assert_str_eq(fault_of(frame), "bits");
    frame.join.bits = 0, frame.join.level = 1;  // it has one child
    ck_assert_str_eq(fault_of(frame), "bit");
}
END_TEST

START_TEST(who_is_below_is_somebody)
{
    static const struct {
        uint8_t bits, below[4];
    } wrongs[] = {{1, {255, 255, 1, 0}},    // more contributions than there are
                  {3, {255, 255, 1, 0}},    // fewer
                  {2, {255, 255, 1, 255}},  // nobody is in the first one
                  {2, {255, 0, 1, 0}},      // `rank` is not the lowest
                  {2, {255, 255, 255, 0}}, {1, {255, 255, 255, 255}}};
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        gn_admission frame = example();
        frame.join.bits = wrongs[i].bits;
        memcpy(frame.join.below, wrongs[i].below, sizeof wrongs[i].below);
        ck_assert_str_eq(fault_of(frame), "below");
    }
    // A parameter server counts each child as a contribution. A parent with slots of its own gets
    // one contribution.
    gn_admission frame = example();
    frame.join.asker = GN_ASKER_PS_SWITCH, frame.join.level = 1, frame.join.bits = 0;
    frame.join.bit = 0, frame.join.children = 2;
    write_and_parse(&frame);
    frame.join.children = 1;
    ck_assert_str_eq(fault_of(frame), "below");
    frame = example(), frame.join.level = 1, frame.join.bits = 0;
    ck_assert_str_eq(fault_of(frame), "below");
    frame.join.below[2] = 0;
    write_and_parse(&frame);
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
                 {4, 2, "version"},
                 {5, GN_ADMISSION_TYPES, "type"},
                 {6, 2, "length"},
                 {7, 86, "length"},
                 {7, 83, "length"},
                 {8 + 47, 'x', "name"},
                 {8 + 48 + 30, 0, "channels"},
                 {8 + 48 + 30, 17, "channels"},
                 {8 + 48 + 30, 1, "below"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t length = gn_admission_write(&frame, bytes);
        bytes[cases[i].at] = cases[i].value;
        ck_assert_int_eq(gn_admission_parse(bytes, length, &parsed, &wrong), -1);
        ck_assert_str_eq(wrong, cases[i].wrong);
        ck_assert_int_eq(gn_admission_parse(bytes, length, &parsed, NULL), -1);
    }
    char text[GN_ADMISSION_FAULT];
    const size_t length = gn_admission_write(&frame, bytes);
    ck_assert_str_eq(gn_admission_fault(bytes, length, text), "");
    ck_assert_str_eq(gn_admission_fault(bytes, length - 1, text), "");  // not whole yet
    bytes[7] -= 2;
    ck_assert_str_eq(gn_admission_fault(bytes, length, text), "sent JOIN with a length that ends 2 bytes too soon");
    bytes[7] += 3;
    ck_assert_str_eq(gn_admission_fault(bytes, length + 1, text), "sent JOIN with 1 bytes too many");
    bytes[5] = GN_ADMISSION_PING;
    ck_assert_str_eq(gn_admission_fault(bytes, length + 1, text), "sent PING with 88 bytes too many");
    bytes[6] = 2;
    ck_assert_str_eq(gn_admission_fault(bytes, 8, text), "sent a frame of 608 bytes: want at most 512");
    bytes[5] = GN_ADMISSION_TYPES;
    ck_assert_str_eq(gn_admission_fault(bytes, 8, text), "sent a frame of type 7: want at most 6");
    bytes[4] = 2;
    ck_assert_int_eq(gn_admission_parse(bytes, 5, &parsed, &wrong), -1);
    ck_assert_str_eq(gn_admission_fault(bytes, 5, text), "speaks version 2 of admission, not 5");
    bytes[0] = 'x';  // no need to wait for more
    ck_assert_int_eq(gn_admission_parse(bytes, 1, &parsed, &wrong), -1);
    ck_assert_str_eq(gn_admission_fault(bytes, 1, text), "sent bytes that are not an admission frame");
}
END_TEST

int main(void)
{
    return RUN_TESTS("admission", join_has_its_bytes, welcome_has_its_bytes, channels_have_their_old_name_too,
                     the_longest_frames_have_room, texts_are_printable, frames_come_in_pieces,
                     every_field_has_its_range, who_asks_says_what_such_a_one_can, who_is_below_is_somebody,
                     frames_that_are_none);
}
