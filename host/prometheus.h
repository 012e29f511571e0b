// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_HOST_PROMETHEUS_H
#define GRADNIC_HOST_PROMETHEUS_H
/// A tree of numbers as text for Prometheus, in one of two formats: the exposition format 0.0.4, or
/// OpenMetrics 1.0. A set of metrics says what each number is.
///
///     "tx": {"wire": {"bytes": 5}}    is    PREFIX_tx_wire_bytes_total{LABEL="VALUE"} 5
///
/// * The names on the way to a number make the metric's name. A counter's sample ends in `_total`.
///   `_s` at the end becomes `_seconds`.
/// * A name that ends in `_bytes`, `_seconds` or `_ratio` has that unit.
/// * The strings in a member of a list are further labels.
/// * Samples of one metric stand together, under its HELP, TYPE and (OpenMetrics) UNIT.

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "host/counter.h"

typedef enum gn_metrics_format { GN_METRICS_PROMETHEUS, GN_METRICS_OPENMETRICS, GN_METRICS_FORMATS } gn_metrics_format;

typedef enum gn_metric_type { GN_METRIC_COUNTER, GN_METRIC_GAUGE } gn_metric_type;

typedef struct gn_metric {
    const char *name;  ///< in the tree
    const char *text;  ///< what it is, in a few words
    gn_metric_type type;
    const char *called;  ///< the last part of the metric's name; NULL: `name`
} gn_metric;

// clang-format off
/// Rows of a list of metrics, and such a list.
#define GN_COUNTER(name, text) {name, text, GN_METRIC_COUNTER, NULL}
#define GN_GAUGE(name, text) {name, text, GN_METRIC_GAUGE, NULL}
#define GN_METRICS(...) ((const gn_metric[]){__VA_ARGS__, {0}})
// clang-format on

/// The numbers of one object of the tree. Where two groups have the same path, the first that knows
/// a name decides.
typedef struct gn_metric_group {
    const char *path;            ///< "tx.wire"; lists have no mark of their own: "jobs.channels.udp"
    const char *text;            ///< what the group counts; HELP is "TEXT: the metric's text"
    const gn_metric *metrics;    ///< ends with the name NULL; NULL: none
    const gn_counter *counters;  ///< the same; all of them are counters
} gn_metric_group;

typedef struct gn_metric_set {
    const char *prefix;             ///< of all names
    const char *label;              ///< the label that tells one daemon from another
    const char *skip;               ///< a path that is left out; NULL: none
    const gn_metric_group *groups;  ///< ends with the path NULL
} gn_metric_set;

/// "prometheus" or "openmetrics". `name` may be NULL. @return false for anything else
bool gn_metrics_format_parse(const char *name, gn_metrics_format *format);

/// Takes over `stats`. `value` is that of the set's label. A number that the set does not know is
/// exported without a type. @return a text to free(); NULL when out of memory, or when `stats` is
/// NULL
char *gn_prometheus(json_t *stats, const gn_metric_set *set, const char *value, gn_metrics_format format);

/// Prints every metric of the set as a row "| NAME | TYPE | HELP |", for the documents.
void gn_prometheus_list(const gn_metric_set *set, FILE *out);

#endif
