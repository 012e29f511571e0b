// SPDX-License-Identifier: Apache-2.0
// Segments of streams between ranks: whole ones in pieces of any size, and everything that a peer
// may get wrong.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gradnic/sum.h>

#include "packets.h"
#include "ring/coded.h"
#include "ring/shared.h"
#include "suite.h"

enum { VALUES = 1000, ROOM = 16384 };

static gn_comm comm;
static gn_exchange exchange;
static gn_bucket bucket;
static float values[VALUES], results[VALUES];
static gn_coded out, in;
static gn_coded_in arriving;
static int pipe_ends[2];
static gn_neighbour sender;

static void open_with(gn_profile profile)
{
    memset(&comm, 0, sizeof comm);
    memset(&exchange, 0, sizeof exchange);
    comm.size = 2;
    comm.segment = 4096;
    comm.config.quantise = true;
    comm.config.offload = GN_OFFLOAD_LIBRARY;
    ck_assert_int_eq(gn_codec_init(&comm.config.codec, profile, 10), GN_OK);
    bucket = (gn_bucket){.send = values, .recv = results, .count = VALUES};
    gn_exchange_prepare(&exchange, &comm, &bucket, GN_EXPONENT_NONE);
    uint32_t seed = 5;
    random_values(&seed, values, VALUES, 0.01f);
    ck_assert_uint_le(gn_coded_room(&comm), ROOM);
    free(out.bytes);
    free(in.bytes);
    out.bytes = malloc(gn_coded_room(&comm));
    in.bytes = malloc(gn_coded_room(&comm));
    arriving = (gn_coded_in){.to = &in};
}

static void setup(void)
{
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pipe_ends), 0);
    sender = (gn_neighbour){.data_out = -1, .data_in = pipe_ends[1]};
    open_with(GN_DENSE);
}

static void teardown(void)
{
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

static ssize_t receive(bool *complete)
{
    return gn_coded_receive(&comm, &arriving, &sender, complete);
}

static void give(const void *bytes, size_t length)
{
    ck_assert_int_eq(write(pipe_ends[0], bytes, length), (ssize_t)length);
}

START_TEST(in_pieces)
{
    for (gn_profile profile = GN_PAPER; profile <= GN_DENSE; profile++) {
        open_with(profile);
        for (uint32_t segment = 0; segment < 60; segment++) {
            const size_t piece = segment < 40 ? segment + 1 : 5000;
            gn_coded_own(&exchange, 0, VALUES, &out);
            gn_coded_seal(&out, segment);
            bool complete = false;
            for (size_t at = 0; at < out.length; at += piece) {
                ck_assert(!complete);
                give(out.bytes + at, out.length - at < piece ? out.length - at : piece);
                while (!complete && receive(&complete) > 0) continue;
            }
            ck_assert(complete);
            ck_assert_uint_eq(in.length, out.length);
            ck_assert_uint_eq(arriving.segment, segment + 1);
            memset(results, 0x55, sizeof results);
            ck_assert_int_eq(gn_coded_take(&exchange, 0, VALUES, &in), GN_OK);
            float wanted[VALUES];
            gn_quantise(&comm.config.codec, values, wanted, NULL, VALUES);
            ck_assert_mem_eq(results, wanted, sizeof wanted);
        }
    }
}
END_TEST

// Values as they are, where the caller wants it so, or where the stream would not be shorter.
START_TEST(plain_values)
{
    bool complete;
    memcpy(results, values, sizeof values);
    gn_coded_values_of(&exchange, 0, VALUES, true, &out);
    ck_assert_uint_eq(out.length, GN_CODED_HEADER + sizeof values);
    gn_coded_seal(&out, 0);
    give(out.bytes, out.length);
    ck_assert_int_eq(receive(&complete), (ssize_t)out.length);
    ck_assert(complete);
    memset(results, 0, sizeof results);
    ck_assert_int_eq(gn_coded_take(&exchange, 0, VALUES, &in), GN_OK);
    ck_assert_mem_eq(results, values, sizeof values);
    ck_assert_int_eq(gn_coded_join(&exchange, 0, VALUES, &in), GN_OK);
    for (int i = 0; i < VALUES; i++) ck_assert(results[i] == values[i] + values[i]);
    // Of another number of values it is refused.
    ck_assert_int_eq(gn_coded_take(&exchange, 0, VALUES - 1, &in), GN_CORRUPT);
    ck_assert_int_eq(gn_coded_join(&exchange, 0, VALUES - 1, &in), GN_CORRUPT);
    ck_assert_int_eq(gn_coded_add(&exchange, 0, VALUES - 1, &in, NULL, true, false), GN_CORRUPT);
    for (int i = 0; i < VALUES; i++) results[i] = (float)i * 0x1p40f;  // raw: longer as a stream
    gn_coded_values_of(&exchange, 0, VALUES, false, &out);
    ck_assert_uint_eq(out.length, GN_CODED_HEADER + sizeof values);
    // A rank's own values, too: as what they are rounded to.
    for (int i = 0; i < VALUES; i++) values[i] = 70 + (float)i * 0x1.23p0f;
    gn_coded_own(&exchange, 0, VALUES, &out);
    ck_assert_uint_eq(out.length, GN_CODED_HEADER + sizeof values);
    gn_coded_seal(&out, 1);
    give(out.bytes, out.length);
    ck_assert_int_eq(receive(&complete), (ssize_t)out.length);
    ck_assert_int_eq(gn_coded_take(&exchange, 0, VALUES, &in), GN_OK);
    for (int i = 0; i < VALUES; i++) ck_assert(results[i] == rintf(values[i] * 512) / 512);
}
END_TEST

// A segment that lies whole in shared memory is read there, wherever it begins in the ring, and is
// taken off when it is not needed any more. One of which a part is there is copied.
START_TEST(where_they_lie)
{
    uint8_t offer[GN_SHARED_OFFER];
    float wanted[VALUES];
    gn_shared *writer = gn_shared_make(16384, offer);
    sender.shared = gn_shared_take(offer);
    ck_assert_ptr_nonnull(writer);
    ck_assert_ptr_nonnull(sender.shared);
    gn_quantise(&comm.config.codec, values, wanted, NULL, VALUES);
    gn_coded_own(&exchange, 0, VALUES, &out);
    for (uint32_t segment = 0; segment < 100; segment++) {
        bool complete = false;
        const size_t now = segment % 3 ? out.length : segment / 3 % out.length;
        gn_coded_seal(&out, segment);
        ck_assert_int_eq(gn_shared_write(writer, out.bytes, now), (ssize_t)now);
        if (now < out.length) {
            while (receive(&complete) > 0) ck_assert(!complete);
            ck_assert_int_eq(gn_shared_write(writer, out.bytes + now, out.length - now), (ssize_t)(out.length - now));
        }
        const bool copied = now && now < out.length;
        while (!complete) ck_assert_int_gt(receive(&complete), 0);
        ck_assert_uint_eq(arriving.segment, segment + 1);
        ck_assert_int_eq(in.lies == NULL, copied);
        ck_assert_int_eq(gn_shared_has_bytes(sender.shared), !copied);
        memset(results, 0x55, sizeof results);
        ck_assert_int_eq(gn_coded_take(&exchange, 0, VALUES, &in), GN_OK);
        ck_assert_mem_eq(results, wanted, sizeof wanted);
        if (segment % 2)
            gn_coded_keep(&in, &sender);
        else
            gn_coded_release(&in, &sender);
        ck_assert_ptr_null(in.lies);
        ck_assert(!gn_shared_has_bytes(sender.shared));
        if (copied || segment % 2) ck_assert_mem_eq(in.bytes, out.bytes, out.length);
    }
    // A wrong byte is noticed there, too.
    bool complete = false;
    gn_coded_seal(&out, 100);
    out.bytes[out.length - 1] ^= 1;
    ck_assert_int_eq(gn_shared_write(writer, out.bytes, out.length), (ssize_t)out.length);
    ck_assert_int_eq(receive(&complete), -2);
    ck_assert(!complete);
    gn_shared_free(writer);
    gn_shared_free(sender.shared);
}
END_TEST

// Values that are no stream are read there only where a float can lie.
START_TEST(values_where_they_lie)
{
    uint8_t offer[GN_SHARED_OFFER];
    gn_shared *writer = gn_shared_make(16384, offer);
    sender.shared = gn_shared_take(offer);
    memcpy(results, values, sizeof values);
    gn_coded_values_of(&exchange, 0, VALUES, true, &out);
    for (uint32_t segment = 0; segment < 8; segment++) {
        bool complete = false;
        uint8_t odd;
        ck_assert_int_eq(gn_shared_write(writer, "x", 1), 1);
        ck_assert_int_eq(gn_shared_read(sender.shared, &odd, 1), 1);
        gn_coded_seal(&out, segment);
        ck_assert_int_eq(gn_shared_write(writer, out.bytes, out.length), (ssize_t)out.length);
        while (!complete) ck_assert_int_gt(receive(&complete), 0);
        ck_assert_int_eq(in.lies != NULL, segment % 4 == 3);  // each time one byte further on
        memset(results, 0, sizeof results);
        ck_assert_int_eq(gn_coded_take(&exchange, 0, VALUES, &in), GN_OK);
        ck_assert_mem_eq(results, values, sizeof values);
        gn_coded_release(&in, &sender);
    }
    gn_shared_free(writer);
    gn_shared_free(sender.shared);
}
END_TEST

/// The bytes of docs/collectives-protocol.md, of two values in segment 7.
START_TEST(bytes_of_a_segment)
{
    static const char *const wanted[] = {"47530101070000000800000095c6d1130000803f000000c0",
                                         "4753010307000000080000005256edc70000803f000000c0"};
    for (int result = 0; result < 2; result++) {
        char text[2 * (GN_CODED_HEADER + 8) + 1];
        results[0] = 1, results[1] = -2;
        gn_coded_values_of(&exchange, 0, 2, true, &out);
        (result ? gn_coded_seal_result : gn_coded_seal)(&out, 7);
        ck_assert_uint_eq(out.length, GN_CODED_HEADER + 8);
        for (size_t i = 0; i < out.length; i++) sprintf(text + 2 * i, "%02x", out.bytes[i]);
        ck_assert_str_eq(text, wanted[result]);
    }
}
END_TEST

// Any wrong byte is noticed: in the header, or by the check.
START_TEST(wrong_bytes)
{
    gn_coded_own(&exchange, 0, 100, &out);
    for (size_t at = 0; at < out.length; at++) {
        bool complete = false;
        teardown();
        setup();
        gn_coded_own(&exchange, 0, 100, &out);
        gn_coded_seal(&out, 0);
        out.bytes[at] ^= 0x20;
        give(out.bytes, out.length);
        ssize_t got;
        do got = receive(&complete);
        while (got > 0 && !complete);
        // A length that is too large, but allowed, waits for more, which is then wrong.
        if (got == 0) {
            static uint8_t more[ROOM];
            give(more, sizeof more);
            got = receive(&complete);
        }
        ck_assert_msg(got == -2 && !complete, "byte %zu: %zd", at, got);
    }
}
END_TEST

// A header may promise no more than a segment needs, and must be the next one.
START_TEST(wrong_headers)
{
    static const struct {
        size_t at;
        uint8_t value;
    } changes[] = {{0, 'H'}, {2, 2}, {3, 2}, {4, 1}, {7, 1}, {10, 1}, {11, 0x80}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        bool complete;
        teardown();
        setup();
        gn_coded_own(&exchange, 0, 100, &out);
        gn_coded_seal(&out, 0);
        out.bytes[changes[i].at] = changes[i].value;
        give(out.bytes, GN_CODED_HEADER);
        ck_assert_int_eq(receive(&complete), -2);
    }
    // The end of the connection, between segments and inside one.
    for (size_t length = 0; length <= 20; length += 5) {
        bool complete;
        teardown();
        setup();
        gn_coded_own(&exchange, 0, 100, &out);
        gn_coded_seal(&out, 0);
        give(out.bytes, length);
        shutdown(pipe_ends[0], SHUT_WR);
        ssize_t got;
        do got = receive(&complete);
        while (got > 0);
        ck_assert_int_eq(got, -1);
        ck_assert_int_eq(errno, 0);
    }
}
END_TEST

// A right frame around a stream that is none.
START_TEST(wrong_streams)
{
    for (gn_profile profile = GN_PAPER; profile <= GN_DENSE; profile++) {
        open_with(profile);
        gn_coded_own(&exchange, 0, VALUES, &in);
        in.length--;
        ck_assert_int_ne(gn_coded_take(&exchange, 0, VALUES, &in), GN_OK);
        ck_assert_int_ne(gn_coded_join(&exchange, 0, VALUES, &in), GN_OK);
        ck_assert_int_ne(gn_coded_add(&exchange, 0, VALUES, &in, &out, true, false), GN_OK);
        in.length++;
        ck_assert_int_eq(gn_coded_add(&exchange, 0, VALUES, &in, &out, true, false), GN_OK);
        ck_assert_int_ne(gn_coded_take(&exchange, 0, VALUES - 100, &in), GN_OK);
    }
}
END_TEST

// direct: results come among contributions, each with numbers of their own.
START_TEST(results_among_contributions)
{
    static const char legs[] = "crrccr";
    uint32_t number[2] = {0, 0};
    arriving.results = true;
    for (const char *leg = legs; *leg; leg++) {
        bool complete;
        const bool result = *leg == 'r';
        gn_coded_own(&exchange, 0, 100, &out);
        if (result)
            gn_coded_seal_result(&out, number[1]++);
        else
            gn_coded_seal(&out, number[0]++);
        give(out.bytes, out.length);
        ck_assert_int_eq(receive(&complete), (ssize_t)out.length);
        ck_assert(complete && gn_coded_is_result(&in) == result);
        ck_assert_uint_eq(arriving.segment, number[0]);
        ck_assert_uint_eq(arriving.result, number[1]);
        ck_assert_int_eq(gn_coded_take(&exchange, 0, 100, &in), GN_OK);
    }
}
END_TEST

// A result with a contribution's number, one where none may come, another kind, more than there is
// room for.
START_TEST(wrong_results)
{
    for (int wrong = 0; wrong < 4; wrong++) {
        bool complete;
        teardown();
        setup();
        arriving.results = wrong != 1;
        arriving.segment = 5;
        arriving.room = wrong == 3 ? 64 : 0;
        gn_coded_own(&exchange, 0, 100, &out);
        gn_coded_seal_result(&out, wrong == 0 ? 5 : 0);
        if (wrong == 2) out.bytes[3] = 4 + 2;
        give(out.bytes, out.length);
        ck_assert_int_eq(receive(&complete), -2);
        arriving.room = 0;
    }
}
END_TEST

enum { MANY = GN_SUM_STREAMS + 30 };

// More streams than one pass takes, and streams with values among them. The one at fault is named.
START_TEST(sums_of_many)
{
    static gn_coded all[MANY];
    const gn_coded *some[MANY];
    for (int mixed = 0; mixed < 2; mixed++) {
        for (size_t i = 0; i < MANY; i++) {
            values[7] = (float)i;
            all[i].bytes = malloc(gn_coded_room(&comm));
            gn_coded_own(&exchange, 0, VALUES, &all[i]);
            some[i] = &all[i];
        }
        if (mixed) {
            gn_quantise(&comm.config.codec, values, results, NULL, VALUES);
            gn_coded_values_of(&exchange, 0, VALUES, true, &all[3]);
        }
        size_t wrong;
        ck_assert_int_eq(gn_coded_sum(&exchange, 0, VALUES, some, MANY, &out, &wrong), GN_OK);
        float summed[VALUES], wanted[VALUES];
        memcpy(summed, results, sizeof summed);
        ck_assert_int_eq(gn_coded_take(&exchange, 0, VALUES, &out), GN_OK);
        ck_assert_mem_eq(results, summed, sizeof summed);
        gn_quantise(&comm.config.codec, values, results, NULL, VALUES);
        for (size_t i = 0; i < MANY; i++) ck_assert_int_eq(gn_coded_join(&exchange, 0, VALUES, some[i]), GN_OK);
        memcpy(wanted, results, sizeof wanted);
        ck_assert_mem_eq(summed, wanted, sizeof wanted);
        all[MANY - 2].length--;
        ck_assert_int_ne(gn_coded_sum(&exchange, 0, VALUES, some, MANY, &out, &wrong), GN_OK);
        ck_assert_uint_eq(wrong, MANY - 2);
        for (size_t i = 0; i < MANY; i++) free(all[i].bytes);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("coded");
    TCase *tcase = tcase_create("coded");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, in_pieces);
    tcase_add_test(tcase, plain_values);
    tcase_add_test(tcase, where_they_lie);
    tcase_add_test(tcase, values_where_they_lie);
    tcase_add_test(tcase, bytes_of_a_segment);
    tcase_add_test(tcase, wrong_bytes);
    tcase_add_test(tcase, wrong_headers);
    tcase_add_test(tcase, wrong_streams);
    tcase_add_test(tcase, results_among_contributions);
    tcase_add_test(tcase, wrong_results);
    tcase_add_test(tcase, sums_of_many);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
