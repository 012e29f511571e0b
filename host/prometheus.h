// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_HOST_PROMETHEUS_H
#define GRADNIC_HOST_PROMETHEUS_H
/// A tree of counters as Prometheus text (exposition format 0.0.4).
///
///     "tx": {"wire": {"bytes": 5}}    is    PREFIX_tx_wire_bytes{LABEL="VALUE"} 5
///
/// The strings in a member of a list are further labels. Samples of one metric stand together,
/// under `# TYPE PREFIX_tx_wire_bytes untyped`.

#include <jansson.h>

/// Takes over `stats`. @return a text to free(); NULL when out of memory, or when `stats` is NULL
char *gn_prometheus(json_t *stats, const char *prefix, const char *label, const char *value);

#endif
