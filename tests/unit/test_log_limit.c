// SPDX-License-Identifier: Apache-2.0
// Log lines of one kind: some are logged, the rest is counted and told once.
#include "net/clock.h"
#include "net/log_limit.h"
#include "suite.h"

static const uint64_t span = GN_LOG_SPAN_S * GN_SECOND;

START_TEST(few_lines_all_go)
{
    gn_log_limit limit = {0};
    uint64_t now = 5 * GN_SECOND;
    for (int i = 0; i < 1000; i++, now += span / GN_LOG_LINES) {
        ck_assert_uint_eq(gn_log_limit_rest(&limit, now), 0);
        ck_assert(gn_log_limit_take(&limit, now));
        ck_assert_uint_eq(gn_log_limit_due(&limit), UINT64_MAX);
    }
}
END_TEST

START_TEST(many_lines_are_counted)
{
    gn_log_limit limit = {0};
    const uint64_t begin = 1000 * GN_SECOND;
    for (int i = 0; i < GN_LOG_LINES; i++) ck_assert(gn_log_limit_take(&limit, begin + (uint64_t)i));
    for (int i = 0; i < 2999; i++) {
        ck_assert_uint_eq(gn_log_limit_rest(&limit, begin + GN_SECOND), 0);
        ck_assert(!gn_log_limit_take(&limit, begin + GN_SECOND));
    }
    ck_assert_uint_eq(gn_log_limit_due(&limit), begin + span);
    ck_assert_uint_eq(gn_log_limit_rest(&limit, begin + span - 1), 0);
    ck_assert_uint_eq(gn_log_limit_rest(&limit, begin + span), 2999);
    ck_assert_uint_eq(gn_log_limit_rest(&limit, begin + span), 0);
    ck_assert_uint_eq(gn_log_limit_due(&limit), UINT64_MAX);
    ck_assert(gn_log_limit_take(&limit, begin + span));
}
END_TEST

// A span begins with a line, not with the clock.
START_TEST(a_span_begins_with_its_first_line)
{
    gn_log_limit limit = {0};
    const uint64_t begin = 1000 * GN_SECOND + span - 1;
    ck_assert_uint_eq(gn_log_limit_rest(&limit, 1000 * GN_SECOND), 0);
    for (int i = 0; i < GN_LOG_LINES; i++) ck_assert(gn_log_limit_take(&limit, begin));
    ck_assert_uint_eq(gn_log_limit_rest(&limit, begin + 2), 0);
    ck_assert(!gn_log_limit_take(&limit, begin + 2));
    ck_assert_uint_eq(gn_log_limit_rest(&limit, begin + span), 1);
}
END_TEST

int main(void)
{
    return RUN_TESTS("log_limit", few_lines_all_go, many_lines_are_counted, a_span_begins_with_its_first_line);
}
