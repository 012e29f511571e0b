// SPDX-License-Identifier: Apache-2.0
// The datagrams of gradnic doctor: what is an answer, and what is none.
#include "suite.h"
#include "tools/doctor/probe.h"

#include <string.h>

static const gn_probe question = {.type = GN_PROBE_QUESTION,
                                  .tos = 0x2a,
                                  .run = UINT64_C(0x0102030405060708),
                                  .number = 7,
                                  .bytes = 100,
                                  .answer_bytes = 60};
static uint8_t bytes[GN_PROBE_MAX + 1];

START_TEST(a_question_has_an_answer)
{
    static const uint8_t head[GN_PROBE_HEAD] = {'G', 'N', 'd', 'r', 1, 1, 0x2a, 0, 1, 2,   3, 4, 5, 6,
                                                7,   8,   0,   0,   0, 7, 0,    0, 0, 100, 0, 0, 0, 60};
    gn_probe answer;
    gn_probe_write(&question, bytes);
    ck_assert_mem_eq(bytes, head, sizeof head);
    ck_assert(gn_probe_answer(bytes, question.bytes, 0x03, &answer));
    ck_assert_uint_eq(answer.type, GN_PROBE_ANSWER);
    ck_assert_uint_eq(answer.tos, 0x2a);
    ck_assert_uint_eq(answer.tos_seen, 0x03);
    ck_assert_uint_eq(answer.bytes, 60);
    ck_assert(answer.run == question.run && answer.number == 7);
    gn_probe read;
    gn_probe_write(&answer, bytes);
    ck_assert(gn_probe_read(bytes, answer.bytes, &read));
    ck_assert(read.tos_seen == 0x03 && read.run == question.run);
    ck_assert(!gn_probe_answer(bytes, answer.bytes, 0, &read));  // or two listeners would never stop
}
END_TEST

/// An answer is never longer than its question.
START_TEST(nothing_is_amplified)
{
    gn_probe probe = question, answer;
    for (uint32_t wanted = 0; wanted < 200; wanted++) {
        probe.answer_bytes = wanted;
        gn_probe_write(&probe, bytes);
        const bool answered = gn_probe_answer(bytes, probe.bytes, 0, &answer);
        ck_assert(answered == (wanted >= GN_PROBE_HEAD && wanted <= probe.bytes));
        if (answered) ck_assert_uint_le(answer.bytes, probe.bytes);
    }
}
END_TEST

START_TEST(what_is_no_probe)
{
    gn_probe read;
    gn_probe_write(&question, bytes);
    for (size_t length = 0; length < 2 * (size_t)question.bytes; length++)
        ck_assert(gn_probe_read(bytes, length, &read) == (length == question.bytes));
    // Each byte of the head but ToS, run, number and the lengths has one value.
    for (size_t i = 0; i < GN_PROBE_HEAD; i++) {
        if (i == 6 || (i >= 8 && i < 20)) continue;
        gn_probe_write(&question, bytes);
        bytes[i] = (uint8_t)(bytes[i] ^ 0x80);
        ck_assert_msg(!gn_probe_read(bytes, question.bytes, &read), "byte %zu", i);
    }
    gn_probe longest = question;
    longest.bytes = longest.answer_bytes = GN_PROBE_MAX;
    gn_probe_write(&longest, bytes);
    ck_assert(gn_probe_read(bytes, GN_PROBE_MAX, &read));
    ck_assert(!gn_probe_read(bytes, GN_PROBE_MAX + 1, &read));
}
END_TEST

int main(void)
{
    return RUN_TESTS("probe", a_question_has_an_answer, nothing_is_amplified, what_is_no_probe);
}
