// SPDX-License-Identifier: Apache-2.0
// What daemons say of themselves: numbers, counters, settings of a bad link, refusals.
#include <stdlib.h>
#include <string.h>

#include "host/json.h"
#include "suite.h"

/// Takes over the value. Fails unless it is written so.
static void is(json_t *value, const char *text)
{
    char *written = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17)) : NULL;
    ck_assert_ptr_nonnull(written);
    ck_assert_str_eq(written, text);
    free(written);
    json_decref(value);
}

START_TEST(numbers)
{
    is(gn_json_number(0), "0");
    is(gn_json_number(UINT64_MAX >> 1), "9223372036854775807");
    is(gn_json_number(UINT64_MAX), "9223372036854775807");
    is(GN_JSON_FIELDS({"packets", 3}, {"bytes", 4000000000}), "{\"packets\":3,\"bytes\":4000000000}");
    is(gn_json_fields(NULL, 0), "{}");
}
END_TEST

START_TEST(rows_of_counters)
{
    static const struct {
        uint64_t first, second, third;
    } counters = {1, 2, 3};
    const gn_counter rows[] = {{"third", "the last one", 16}, {"first", "the first one", 0}, {NULL, NULL, 0}};
    is(gn_json_rows(rows, &counters), "{\"third\":3,\"first\":1}");
    is(gn_json_rows(rows + 2, &counters), "{}");
}
END_TEST

START_TEST(a_bad_link)
{
    is(gn_json_fault_settings(&(gn_fault_config){.seed = 7,
                                                 .loss = 0.5,
                                                 .duplicate = 0.25,
                                                 .reorder = 0.125,
                                                 .delay_ns = 1,
                                                 .jitter_ns = 2,
                                                 .reorder_ns = 3}),
       "{\"loss\":0.5,\"duplicate\":0.25,\"reorder\":0.125,\"delay_ns\":1,\"jitter_ns\":2,\"reorder_ns\":3,\"seed\":"
       "7}");
    is(gn_json_fault_counters(
           &(gn_fault_counters){.lost = 1, .duplicated = 2, .reordered = 3, .delayed = 4, .overflow = 5}),
       "{\"lost\":1,\"duplicated\":2,\"reordered\":3,\"delayed\":4,\"overflow\":5}");
}
END_TEST

START_TEST(texts)
{
    char long_word[1000], *text = gn_json_text(json_pack("{s:f}", "share", 0.1));
    ck_assert_str_eq(text, "{\n  \"share\": 0.10000000000000001\n}");
    free(text);
    ck_assert_ptr_null(gn_json_text(NULL));
    text = gn_json_refuse("no job '%s', nor %d", "a\"b", 5);
    ck_assert_str_eq(text, "{\n  \"error\": \"no job 'a\\\"b', nor 5\"\n}");
    free(text);
    memset(long_word, 'w', sizeof long_word - 1), long_word[sizeof long_word - 1] = 0;
    text = gn_json_refuse("%s", long_word);
    ck_assert_uint_eq(strspn(strchr(text, 'w'), "w"), 399);  // cut, but whole as JSON
    free(text);
}
END_TEST

int main(void)
{
    return RUN_TESTS("json", numbers, rows_of_counters, a_bad_link, texts);
}
