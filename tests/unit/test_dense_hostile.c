// SPDX-License-Identifier: Apache-2.0
// What a decoder of profile dense rejects, with which status, and where. The tests go through every
// kernel and every call that takes a stream. The buffers lie between pages that do not exist. A
// second reader of the bytes must say the same.
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <gradnic/index.h>

#include "cage.h"
#include "dense_made.h"
#include "streams.h"
#include "suite.h"

enum { MOST = 9000, STREAM_MOST = 40000 };

static cage stream_cage, values_cage;
static dense_lane lanes[MOST];

static void setup(void)
{
    stream_cage = cage_new(STREAM_MOST), values_cage = cage_new(4 * MOST);
}

static void teardown(void)
{
    cage_free(&stream_cage), cage_free(&values_cage);
}

static void expect(const gn_codec *codec, const char *call, gn_status got, gn_status want, size_t at, size_t want_at)
{
    if (got == want && at == want_at) return;  // an assertion that holds is told to the runner, which takes long
    ck_abort_msg("%s, %s: %s at %zu, not %s at %zu", gn_codec_kernel_name(codec), call, gn_status_string(got), at,
                 gn_status_string(want), want_at);
}

static void hold(bool condition, const char *what)
{
    if (!condition) ck_abort_msg("%s", what);
}

// Sums and tally of a bad stream are as they were.
static void check_unchanged(const gn_codec *codec, const uint8_t *stream, size_t bytes, size_t count, gn_status want,
                            size_t offset)
{
    static const uint8_t known[4 * MOST] = {1, 2, 3};
    void *sums = cage_place(&values_cage, CAGE_HIGH, known, 4 * count);
    size_t at = offset + 1;
    gn_status status = gn_stream_add(codec, stream, bytes, sums, count, &at);
    expect(codec, "add", status, want, at, offset);
    unsigned flags = 99;
    at = offset + 1;
    status = gn_stream_add_integers(codec, stream, bytes, sums, count, &flags, &at);
    expect(codec, "add integers", status, want, at, offset);
    hold(flags == 0, "flags of a bad stream");

    gn_tally tally, before;
    memset(&tally, 7, sizeof tally);
    before = tally;
    expect(codec, "tally", gn_stream_tally(codec, stream, bytes, count, &tally), want, 0, 0);
    hold(!memcmp(&tally, &before, sizeof tally), "the tally of a bad stream");
    expect(codec, "add, no offset", gn_stream_add(codec, stream, bytes, sums, count, NULL), want, 0, 0);
    status = gn_stream_add_integers(codec, stream, bytes, sums, count, NULL, NULL);
    expect(codec, "add integers, no offset", status, want, 0, 0);
    hold(!memcmp(sums, known, 4 * count) && cage_intact(&values_cage), "a bad stream was added");
}

// The index of a good stream, found a second time: the item of each part's first quad.
static void check_index(const uint64_t *index, const uint8_t *stream, size_t count)
{
    size_t quads = (count + 31) / 32, at = 0, next = 0;
    for (size_t quad = 0; quad < quads;) {
        size_t length = 2, done = 1;
        for (unsigned g = 0; g < 4; g++) length += dense_bytes[stream[at + g / 2] >> 4 * (g % 2) & 15];
        if (length == 2) done = (size_t)stream[at + 2] + 1, length = 3;
        for (; next < quad + done; next += 64)
            hold(index[next / 64] == (at << 8 | (next - quad)), "an entry of the index differs");
        quad += done;
        at += length;
    }
}

static void check_one(const gn_codec *codec, const uint8_t *bytes, size_t length, size_t count, gn_status want,
                      size_t offset)
{
    for (cage_side side = CAGE_LOW; side < CAGE_SIDES; side++) {
        const uint8_t *stream = cage_place(&stream_cage, side, bytes, length);
        void *values = cage_place(&values_cage, side, NULL, 4 * count);
        size_t at = offset + 1;
        gn_status status = gn_stream_decode(codec, stream, length, values, count, &at);
        expect(codec, "decode", status, want, want ? at : offset, offset);
        status = gn_stream_decode(codec, stream, length, values, count, NULL);
        expect(codec, "decode, no offset", status, want, 0, 0);
        hold(cage_intact(&values_cage) && cage_intact(&stream_cage), "written beside the values");
        for (size_t i = 0; i < count && want == GN_OK; i++) {
            uint32_t bits;
            memcpy(&bits, values_cage.at + 4 * i, sizeof bits);
            hold(bits == dense_value(lanes[i], codec->bound_exp), "a value differs");
        }
        uint64_t *index = cage_place(&values_cage, side, NULL, (count + GN_PART - 1) / GN_PART * sizeof *index);
        at = offset + 1;
        status = gn_stream_index(codec, stream, length, count, index, &at);
        expect(codec, "index", status, want, want ? at : offset, offset);
        expect(codec, "index, no offset", gn_stream_index(codec, stream, length, count, index, NULL), want, 0, 0);
        hold(cage_intact(&values_cage), "written beside the index");
        if (want == GN_OK) check_index(index, stream, count);
        values = cage_place(&values_cage, side, NULL, 4 * count);
        unsigned flags = 99;
        at = offset + 1;
        status = gn_stream_get_integers(codec, stream, length, values, count, &flags, &at);
        expect(codec, "get integers", status, want, want ? at : offset, offset);
        hold(cage_intact(&values_cage) && (want == GN_OK || flags == 0), "integers: flags, or written beside them");
        if (want != GN_OK) check_unchanged(codec, stream, length, count, want, offset);
    }
}

// `want` and `offset` are what the format says of these bytes.
static void check_stream(const uint8_t *bytes, size_t length, size_t count, gn_status want, size_t offset)
{
    size_t fault;
    gn_status status = dense_read(bytes, length, count, lanes, NULL, &fault);
    if (status != want || fault != offset)
        ck_abort_msg("the second reader: %s at %zu, not %s at %zu", gn_status_string(status), fault,
                     gn_status_string(want), offset);
    for (unsigned n = 0; gn_kernel_name(n); n++) {
        gn_codec codec;
        hold(gn_codec_init_kernel(&codec, GN_DENSE, 10, gn_kernel_name(n)) == GN_OK, "a kernel without dense");
        check_one(&codec, bytes, length, count, want, offset);
    }
}

// ---- cut short

START_TEST(cut_anywhere)
{
    static uint8_t stream[STREAM_MOST];
    static size_t starts[MOST];
    static const size_t counts[] = {1, 8, 9, 32, 33, 64, 100, 129, 362, 1000, 2000};
    uint64_t state = 1;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        size_t items = dense_make_stream(counts[i], stream, starts, &state), item = 0;
        for (size_t bytes = 0; bytes < starts[items]; bytes++) {
            if (starts[item + 1] <= bytes) item++;
            if (counts[i] < 200 || bytes + 300 > starts[items])
                check_stream(stream, bytes, counts[i], GN_TRUNCATED, starts[item]);
        }
        check_stream(stream, starts[items], counts[i], GN_OK, starts[items]);
    }
}
END_TEST

// The header alone, the header and a byte, and each class one byte short, in each place.
START_TEST(cut_in_header_payload_and_run)
{
    for (size_t before = 0; before < 4; before++) {  // quads of zeros in front, as items
        uint8_t stream[160] = {0};
        size_t at = 3 * before, count = DENSE_QUAD * (before + 1);
        check_stream(stream, at, count, GN_TRUNCATED, at);
        check_stream(stream, at + 1, count, GN_TRUNCATED, at);
        check_stream(stream, at + 2, count, GN_TRUNCATED, at);  // the run byte is missing
        for (unsigned class = 1; class < DENSE_CLASSES; class ++) {
            for (unsigned group = 0; group < 4; group++) {
                unsigned header = class << 4 * group;
                stream[at] = (uint8_t)header, stream[at + 1] = (uint8_t)(header >> 8);
                size_t end = at + 2 + dense_bytes[class];
                for (size_t bytes = at + 1; bytes < end; bytes++) check_stream(stream, bytes, count, GN_TRUNCATED, at);
                check_stream(stream, end, count, GN_OK, end);
                check_stream(stream, end + 1, count, GN_CORRUPT, end);
            }
        }
    }
}
END_TEST

// ---- runs

START_TEST(run_past_the_last_quad)
{
    for (size_t count = 1; count <= MOST - 300; count += count < 70 ? 9 : 1171) {
        size_t quads = (count + 31) / 32, whole = (quads - 1) / 256, left = quads - 256 * whole;
        uint8_t stream[300] = {0};
        for (size_t i = 0; i < whole; i++) stream[3 * i + 2] = 255;
        const size_t runs[] = {1, 2, left - 1, left, left + 1, left + 2, left + 31, 255, 256};
        for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
            size_t run = runs[i];
            if (run < 1 || run > 256) continue;
            stream[3 * whole + 2] = (uint8_t)(run - 1);
            size_t end = 3 * whole + 3;
            if (run > left)
                check_stream(stream, end, count, GN_CORRUPT, end - 3);
            else
                check_stream(stream, end, count, run == left ? GN_OK : GN_TRUNCATED, end);
        }
    }
}
END_TEST

START_TEST(three_bytes_stand_for_8192_values)
{
    const uint8_t run[6] = {0, 0, 255, 0, 0, 0};
    check_stream(run, 3, 8192, GN_OK, 3);
    check_stream(run, 3, 8192 - 31, GN_OK, 3);
    check_stream(run, 3, 8192 - 32, GN_CORRUPT, 0);
    check_stream(run, 3, 8193, GN_TRUNCATED, 3);
    check_stream(run, 6, 8193, GN_OK, 6);
    check_stream(run, 6, 8192, GN_CORRUPT, 3);
    check_stream(run, 5, 8193, GN_TRUNCATED, 3);
    check_stream(run, 3, 1, GN_CORRUPT, 0);
}
END_TEST

// ---- what is missing in the last quad

START_TEST(class_of_a_missing_group)
{
    for (size_t before = 0; before < 3; before++) {
        for (size_t lanes_left = 1; lanes_left <= 24; lanes_left++) {
            for (unsigned group = (unsigned)(lanes_left + 7) / 8; group < 4; group++) {
                for (unsigned class = 1; class < DENSE_CLASSES;
                     class ++) {  // also with nothing but zeros in its planes
                    uint8_t stream[200] = {0};
                    unsigned header = class << 4 * group;
                    stream[3 * before] = (uint8_t)header, stream[3 * before + 1] = (uint8_t)(header >> 8);
                    check_stream(stream, 3 * before + 2 + dense_bytes[class], DENSE_QUAD * before + lanes_left,
                                 GN_CORRUPT, 3 * before);
                }
            }
        }
    }
}
END_TEST

// Each bit of each class, in the last group that has values: legal in a lane that is there.
START_TEST(bits_of_missing_lanes)
{
    for (size_t group = 0; group < 4; group++) {
        for (unsigned class = 1; class < DENSE_CLASSES; class ++) {
            unsigned header = class << 4 * group;
            for (size_t bit = 0; bit < (size_t)8 * dense_bytes[class]; bit++) {  // class 15: the raw mask too
                uint8_t stream[40] = {(uint8_t)header, (uint8_t)(header >> 8)};
                size_t length = (size_t)2 + dense_bytes[class];
                stream[2 + bit / 8] = (uint8_t)(1u << bit % 8);
                for (size_t present = 1; present <= 8; present++) {
                    bool legal = bit % 8 < present;
                    check_stream(stream, length, 8 * group + present, legal ? GN_OK : GN_CORRUPT, legal ? length : 0);
                }
            }
        }
    }
}
END_TEST

// ---- bytes behind

START_TEST(bytes_after_the_last_quad)
{
    static uint8_t stream[STREAM_MOST];
    static size_t starts[MOST];
    static const size_t counts[] = {1, 32, 45, 64, 362, 2000};
    uint64_t state = 2;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (int with = 0; with < 256; with += 51) {
            size_t items = dense_make_stream(counts[i], stream, starts, &state), end = starts[items];
            memset(stream + end, with, 400);
            for (size_t more = 1; more <= 400; more += more < 180 ? 1 : 19)
                check_stream(stream, end + more, counts[i], GN_CORRUPT, end);
        }
    }
    memset(stream, 0, sizeof stream);
    check_stream(stream, sizeof stream, 32, GN_CORRUPT, 3);
    check_stream(stream, 9000, MOST, GN_CORRUPT, (MOST + 31) / 32 * 3);
    memset(stream, 0xff, sizeof stream);
    check_stream(stream, 100, 32, GN_TRUNCATED, 0);
    check_stream(stream, 13000, MOST, GN_TRUNCATED, 13000 / 134 * 134);
}
END_TEST

// No values: no bytes.
START_TEST(nothing)
{
    const uint8_t run[3] = {0};
    check_stream(run, 0, 0, GN_OK, 0);
    check_stream(run, 1, 0, GN_CORRUPT, 0);
    check_stream(run, 3, 0, GN_CORRUPT, 0);
    check_stream(run, 0, 1, GN_TRUNCATED, 0);
    check_stream(run, 0, MOST, GN_TRUNCATED, 0);
}
END_TEST

// ---- anything

static void check_as_read(const uint8_t *stream, size_t bytes, size_t count)
{
    size_t fault;
    gn_status status = dense_read(stream, bytes, count, lanes, NULL, &fault);
    check_stream(stream, bytes, count, status, fault);
}

START_TEST(any_bytes)
{
    uint64_t state = 3;
    for (int round = 0; round < 20000; round++) {
        uint8_t stream[600];
        size_t bytes = stream_random(&state) % sizeof stream, count = stream_random(&state) % 500;
        unsigned sparse = stream_random(&state) & 7;
        for (size_t i = 0; i < bytes; i++)
            stream[i] = stream_random(&state) & sparse ? 0 : (uint8_t)stream_random(&state);
        check_as_read(stream, bytes, count);
    }
}
END_TEST

// Good streams with some bytes changed, cut out or put in.
START_TEST(damaged_streams)
{
    static uint8_t stream[STREAM_MOST], damaged[STREAM_MOST];
    static size_t starts[MOST];
    uint64_t state = 4;
    for (int round = 0; round < 10000; round++) {
        size_t count = 1 + stream_random(&state) % 300, items = dense_make_stream(count, stream, starts, &state);
        size_t length = starts[items], at = stream_random(&state) % length, put, cut = 0;
        memcpy(damaged, stream, length);
        for (unsigned n = stream_random(&state) & 3; n > 0; n--)
            damaged[stream_random(&state) % length] ^= (uint8_t)(1u << stream_random(&state) % 8);
        put = stream_random(&state) % 4;
        if (round & 1) cut = stream_random(&state) % (length - at + 1), put = 0;
        memmove(damaged + at + put, damaged + at + cut, length - at - cut);
        check_as_read(damaged, length + put - cut, count + stream_random(&state) % 3 - 1);
    }
}
END_TEST

int main(void)
{
    return RUN_SUITE("dense_hostile", setup, teardown, cut_anywhere, cut_in_header_payload_and_run,
                     run_past_the_last_quad, three_bytes_stand_for_8192_values, class_of_a_missing_group,
                     bits_of_missing_lanes, bytes_after_the_last_quad, nothing, any_bytes, damaged_streams);
}
