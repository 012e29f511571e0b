// SPDX-License-Identifier: Apache-2.0
// The streams of tests/golden/streams.txt. A second implementation made and read them, so profile
// dense cannot drift unnoticed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <gradnic/codec.h>
#include <zlib.h>

#include "streams.h"
#include "suite.h"

enum { LINE = 1 << 18, BYTES = LINE / 2 };

typedef struct bytes {
    bool given;
    size_t length;
    uint8_t data[BYTES] __attribute__((aligned(4)));
} bytes;

static struct {
    char name[100], dump[60], fault[20];
    int k;
    size_t count, length, fault_at;
    unsigned long crc;
    bytes values, stream, decoded, integers;
} golden;

static unsigned encoded, decoded, faults, dumps, sums;

static void parse_hex(const char *text, bytes *out)
{
    out->given = true;
    for (out->length = 0; text[2 * out->length] > ' '; out->length++) {
        const char digits[3] = {text[2 * out->length], text[2 * out->length + 1], 0};
        out->data[out->length] = (uint8_t)strtoul(digits, NULL, 16);
    }
}

static void parse_line(char *line)
{
    char *value = line + strcspn(line, " \n");
    if (*value) *value++ = 0;
    value[strcspn(value, "\n")] = 0;
    if (!strcmp(line, "name"))
        snprintf(golden.name, sizeof golden.name, "%s", value);
    else if (!strcmp(line, "k"))
        golden.k = atoi(value);
    else if (!strcmp(line, "dump"))
        snprintf(golden.dump, sizeof golden.dump, "%s", value);
    else if (!strcmp(line, "count"))
        golden.count = strtoul(value, NULL, 10);
    else if (!strcmp(line, "length"))
        golden.length = strtoul(value, NULL, 10);
    else if (!strcmp(line, "crc"))
        golden.crc = strtoul(value, NULL, 16);
    else if (!strcmp(line, "fault"))
        ck_assert_int_eq(sscanf(value, "%19s %zu", golden.fault, &golden.fault_at), 2);
    else if (!strcmp(line, "values"))
        parse_hex(value, &golden.values);
    else if (!strcmp(line, "stream"))
        parse_hex(value, &golden.stream);
    else if (!strcmp(line, "decoded"))
        parse_hex(value, &golden.decoded);
    else if (!strcmp(line, "integers"))
        parse_hex(value, &golden.integers);
    else
        ck_abort_msg("a line of kind '%s'", line);
}

static void expect(const gn_codec *codec, const char *what, bool condition)
{
    ck_assert_msg(condition, "%s, %s: %s", golden.name, gn_codec_kernel_name(codec), what);
}

static void check_dump(const gn_codec *codec)
{
    char path[512];
    size_t count, got, room = gn_stream_bound(GN_DENSE, golden.count);
    snprintf(path, sizeof path, "%s/gradients/%s.npy.gz", GN_TEST_DATA, golden.dump);
    float *values = stream_load_npy(path, &count);
    uint8_t *stream = malloc(room);
    ck_assert(stream && count >= golden.count);
    expect(codec, "encodes", gn_stream_encode(codec, values, golden.count, stream, room, &got) == GN_OK);
    expect(codec, "length", got == golden.length);
    expect(codec, "bytes", crc32(0, stream, (uInt)got) == golden.crc);
    free(values), free(stream);
    dumps++;
}

static void check_encoded(const gn_codec *codec)
{
    static uint8_t stream[BYTES];
    size_t got, count = golden.values.length / 4;
    gn_status status = gn_stream_encode(codec, golden.values.data, count, stream, sizeof stream, &got);
    expect(codec, "encodes", status == GN_OK && got == golden.stream.length);
    expect(codec, "bytes", !memcmp(stream, golden.stream.data, got));
    golden.count = count;
    encoded++;
}

static void check_decoded(const gn_codec *codec)
{
    static uint8_t values[BYTES];
    size_t at = 99, count = golden.count;
    gn_status want = !golden.fault[0] ? GN_OK : !strcmp(golden.fault, "truncated") ? GN_TRUNCATED : GN_CORRUPT;
    gn_status status = gn_stream_decode(codec, golden.stream.data, golden.stream.length, values, count, &at);
    expect(codec, "status", status == want);
    if (want != GN_OK) {
        expect(codec, "where it is bad", at == golden.fault_at);
        faults++;
        return;
    }
    expect(codec, "values", golden.decoded.length == 4 * count && !memcmp(values, golden.decoded.data, 4 * count));
    decoded++;
}

static void check_integers(const gn_codec *codec)
{
    static uint8_t stream[BYTES];
    static int32_t back[BYTES / 4];
    size_t got, count = golden.integers.length / 4;
    const int32_t *integers = (const int32_t *)(const void *)golden.integers.data;
    gn_status status = gn_stream_encode_integers(codec, integers, count, stream, sizeof stream, &got);
    expect(codec, "encodes", status == GN_OK && got == golden.stream.length);
    expect(codec, "bytes", !memcmp(stream, golden.stream.data, got));
    memset(back, 0, sizeof back);
    expect(codec, "adds", gn_stream_add_integers(codec, stream, got, back, count, NULL, NULL) == GN_OK);
    expect(codec, "integers", !memcmp(back, integers, 4 * count));
    sums++;
}

static void check_case(const gn_codec *codec)
{
    if (golden.dump[0]) check_dump(codec);
    if (golden.values.given) check_encoded(codec);
    if (golden.integers.given) check_integers(codec);
    if (golden.decoded.given || golden.fault[0]) check_decoded(codec);
}

START_TEST(streams_as_a_second_implementation_makes_them)
{
    FILE *file = fopen(GN_TEST_DATA "/../golden/streams.txt", "r");
    ck_assert_ptr_nonnull(file);
    static char line[LINE];
    for (bool more = true; more;) {
        more = fgets(line, sizeof line, file) != NULL;
        if (more && *line == '#') continue;
        if (more && *line != '\n') {
            ck_assert_ptr_nonnull(strchr(line, '\n'));
            parse_line(line);
            continue;
        }
        if (golden.name[0]) stream_each_kernel_of(GN_DENSE, golden.k, check_case);
        memset(&golden, 0, sizeof golden);
    }
    fclose(file);
    ck_assert(encoded > 15 && decoded > 40 && faults > 50 && dumps >= 9 && sums > 10);
}
END_TEST

int main(void)
{
    return RUN_TESTS("golden_streams", streams_as_a_second_implementation_makes_them);
}
