// SPDX-License-Identifier: Apache-2.0
// Numbers as text for Prometheus, and the header that chooses the format.
#include <stdlib.h>
#include <string.h>

#include "host/metrics.h"
#include "suite.h"

static const gn_counter rows[] = {{"packets", "packets seen", 0}, {"now", "wrongly a counter", 0}, {0}};
static const gn_metric first[] = {{"now", "flows", GN_METRIC_GAUGE, NULL}, {0}};
static const gn_metric more[] = {
    {"size", "of them", GN_METRIC_COUNTER, "size_bytes"}, {"for_s", "since", GN_METRIC_GAUGE, NULL}, {0}};
static const gn_metric_group groups[] = {{"a.b", "Both", first, rows}, {"list", "List", more, NULL}, {0}};
static const gn_metric_set set = {"gn", "name", "left.out", groups};

/// The text of `json` in one format, for the caller to free.
static char *text_of(const char *json, const char *value, gn_metrics_format format)
{
    json_t *root = json_loads(json, 0, NULL);
    ck_assert_ptr_nonnull(root);
    char *text = gn_prometheus(root, &set, value, format);
    ck_assert_ptr_nonnull(text);
    return text;
}

static void expect(const char *json, const char *value, gn_metrics_format format, const char *wanted)
{
    char *text = text_of(json, value, format);
    ck_assert_str_eq(text, wanted);
    free(text);
}

START_TEST(test_formats)
{
    const char *const json = "{\"a\": {\"b\": {\"packets\": 5, \"now\": 2}}, \"x\": \"no number\", \"y\": null}";
    expect(json, "v", GN_METRICS_PROMETHEUS,
           "# TYPE gn_a_b_packets_total counter\n# HELP gn_a_b_packets_total Both: packets seen\n"
           "gn_a_b_packets_total{name=\"v\"} 5\n"
           "# TYPE gn_a_b_now gauge\n# HELP gn_a_b_now Both: flows\ngn_a_b_now{name=\"v\"} 2\n");
    expect(json, "v", GN_METRICS_OPENMETRICS,
           "# TYPE gn_a_b_packets counter\n# HELP gn_a_b_packets Both: packets seen\n"
           "gn_a_b_packets_total{name=\"v\"} 5\n"
           "# TYPE gn_a_b_now gauge\n# HELP gn_a_b_now Both: flows\ngn_a_b_now{name=\"v\"} 2\n# EOF\n");
}
END_TEST

START_TEST(test_lists_units_and_names)
{
    expect(
        "{\"list\": [{\"who\": \"a\", \"size\": 1, \"for_s\": 0.5}, {\"who\": \"b\", \"size\": 2}]}", "v",
        GN_METRICS_OPENMETRICS,
        "# TYPE gn_list_size_bytes counter\n# UNIT gn_list_size_bytes bytes\n# HELP gn_list_size_bytes List: of them\n"
        "gn_list_size_bytes_total{name=\"v\",who=\"a\"} 1\ngn_list_size_bytes_total{name=\"v\",who=\"b\"} 2\n"
        "# TYPE gn_list_for_seconds gauge\n# UNIT gn_list_for_seconds seconds\n# HELP gn_list_for_seconds List: since\n"
        "gn_list_for_seconds{name=\"v\",who=\"a\"} 0.5\n# EOF\n");
}
END_TEST

// Below names and lists alike; what is neither number nor one of them is left out.
START_TEST(test_labels_of_lists_in_lists)
{
    expect("{\"list\": [{\"who\": \"a\", \"more\": [{\"which\": \"b\", \"new\": 2.5, \"no\": null}]}]}", "v",
           GN_METRICS_PROMETHEUS,
           "# TYPE gn_list_more_new untyped\ngn_list_more_new{name=\"v\",who=\"a\",which=\"b\"} 2.5\n");
}
END_TEST

START_TEST(test_labels_are_escaped)
{
    expect("{\"a\": {\"b\": {\"now\": 1}}}", "x\"y\\z\nw", GN_METRICS_PROMETHEUS,
           "# TYPE gn_a_b_now gauge\n# HELP gn_a_b_now Both: flows\ngn_a_b_now{name=\"x\\\"y\\\\z\\nw\"} 1\n");
}
END_TEST

START_TEST(test_unknown_and_left_out)
{
    const char *const json = "{\"new\": 7, \"left\": {\"out\": [{\"size\": 1}]}}";
    expect(json, "v", GN_METRICS_PROMETHEUS, "# TYPE gn_new untyped\ngn_new{name=\"v\"} 7\n");
    expect(json, "v", GN_METRICS_OPENMETRICS, "# TYPE gn_new unknown\ngn_new{name=\"v\"} 7\n# EOF\n");
}
END_TEST

START_TEST(test_long_labels)
{
    char value[4000];
    memset(value, '"', sizeof value - 1);
    value[sizeof value - 1] = 0;
    char *text = text_of("{\"a\": {\"b\": {\"now\": 1}}}", value, GN_METRICS_PROMETHEUS);
    ck_assert_ptr_nonnull(strstr(text, "\\\"\"} 1\n"));  // whole escapes, then the quote
    free(text);
}
END_TEST

START_TEST(test_accept)
{
    static const struct {
        const char *accept;
        gn_metrics_format format;
    } cases[] = {
        {NULL, GN_METRICS_PROMETHEUS},
        {"", GN_METRICS_PROMETHEUS},
        {"*/*", GN_METRICS_PROMETHEUS},
        {"text/plain", GN_METRICS_PROMETHEUS},
        {"application/openmetrics-text", GN_METRICS_OPENMETRICS},
        {"Application/OpenMetrics-Text ; version=1.0.0", GN_METRICS_OPENMETRICS},
        {"application/openmetrics-text; q=0", GN_METRICS_PROMETHEUS},
        {"application/openmetrics-text; q=0.001", GN_METRICS_OPENMETRICS},
        {"application/openmetrics-textual", GN_METRICS_PROMETHEUS},
        {"application/openmetrics-text;q=0.5,text/plain;q=0.6", GN_METRICS_PROMETHEUS},
        {"text/plain;q=0.4,application/openmetrics-text;version=1.0.0;q=0.5", GN_METRICS_OPENMETRICS},
        {"text/plain;q=0.5,application/openmetrics-text;q=0.5", GN_METRICS_OPENMETRICS},
        {"application/openmetrics-text;q=99999999999999999999", GN_METRICS_OPENMETRICS},
        {",,;;,;q=,application/openmetrics-text;;q=", GN_METRICS_PROMETHEUS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_msg(gn_metrics_accepted(cases[i].accept) == cases[i].format, "%s", cases[i].accept);
}
END_TEST

START_TEST(test_addresses)
{
    gn_endpoint at;
    gn_error error;
    char text[GN_ENDPOINT_TEXT];
    ck_assert(!gn_metrics_parse(":9464", &at, &error));
    ck_assert_str_eq(gn_endpoint_format(&at, text), "127.0.0.1:9464");
    ck_assert(!gn_metrics_parse("[::1]:9464", &at, &error));
    ck_assert_str_eq(gn_endpoint_format(&at, text), "[::1]:9464");
    ck_assert(gn_metrics_parse("", &at, &error));
    ck_assert(gn_metrics_parse(":", &at, &error));
    ck_assert(gn_metrics_parse(":65536", &at, &error));
    ck_assert(gn_metrics_parse("127.0.0.1", &at, &error));
}
END_TEST

int main(void)
{
    return RUN_TESTS("metrics", test_formats, test_lists_units_and_names, test_labels_of_lists_in_lists,
                     test_labels_are_escaped, test_unknown_and_left_out, test_long_labels, test_accept, test_addresses);
}
