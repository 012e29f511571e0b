// SPDX-License-Identifier: Apache-2.0
// Segments of streams between ranks: whole ones in pieces of any size, and everything that a peer
// may get wrong.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "packets.h"
#include "ring/coded.h"
#include "suite.h"

enum { VALUES = 1000, ROOM = 16384 };

static gn_comm comm;
static gn_exchange exchange;
static gn_bucket bucket;
static float values[VALUES], results[VALUES];
static gn_coded out, in;
static gn_coded_in arriving;
static int pipe_ends[2];

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
    open_with(GN_DENSE);
}

static void teardown(void)
{
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

static ssize_t receive(bool *complete)
{
    return gn_coded_receive(&comm, &arriving, pipe_ends[1], complete);
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

int main(void)
{
    Suite *suite = suite_create("coded");
    TCase *tcase = tcase_create("coded");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, in_pieces);
    tcase_add_test(tcase, plain_values);
    tcase_add_test(tcase, wrong_bytes);
    tcase_add_test(tcase, wrong_headers);
    tcase_add_test(tcase, wrong_streams);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
