// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_HOST_METRICS_H
#define GRADNIC_HOST_METRICS_H
/// A daemon's counters over HTTP, for Prometheus: GET and HEAD of /metrics. It has a thread of its
/// own, and anybody may connect, so everything has a limit:
///
/// | what | limit |
/// | --- | --- |
/// | connections at a time | GN_METRICS_CONNECTIONS; the oldest that has not asked gives way |
/// | a moment to ask before that | GN_METRICS_GRACE_MS |
/// | a connection's whole life | GN_METRICS_LIFE_MS |
/// | a request's header | GN_METRICS_HEADER bytes |
/// | pictures of the counters | one in GN_METRICS_AGE_MS, whoever asks however often |
///
/// The daemon's main thread takes the picture, since the counters are its own:
///
///     watched[0] = (struct pollfd){.fd = gn_metrics_fd(metrics), .events = POLLIN};
///     ... poll() ...
///     if (watched[0].revents) gn_metrics_give(metrics, stats());

#include <jansson.h>

#include "host/prometheus.h"
#include "net/address.h"
#include "net/error.h"

enum {
    GN_METRICS_CONNECTIONS = 32,
    GN_METRICS_GRACE_MS = 10,
    GN_METRICS_LIFE_MS = 5000,
    GN_METRICS_HEADER = 16384,
    GN_METRICS_AGE_MS = 200,
    GN_METRICS_PATIENCE_MS = 1000  ///< for the main thread; then the answer is 503
};

typedef struct gn_metrics gn_metrics;

/// "192.0.2.1:9464", "[::1]:9464", "host:9464", or ":9464", which is the loopback address.
/// @return GN_OK, GN_INVALID
gn_status gn_metrics_parse(const char *text, gn_endpoint *at, gn_error *error);

/// Listens at `at`. Call it before root is given up. `set` must stay. @return NULL on failure
gn_metrics *gn_metrics_open(const gn_endpoint *at, const gn_metric_set *set, gn_error *error);
/// Starts the thread. `value` is that of the set's label. Call it when signals are blocked.
gn_status gn_metrics_start(gn_metrics *metrics, const char *value, gn_error *error);
/// Ends the thread and hangs up. NULL allowed.
void gn_metrics_close(gn_metrics *metrics);

/// Readable when a picture is wanted. `metrics` may be NULL: -1
int gn_metrics_fd(const gn_metrics *metrics);
/// The main thread's answer. Takes over `stats`; NULL: out of memory.
void gn_metrics_give(gn_metrics *metrics, json_t *stats);

/// The format that a request's Accept header prefers. `accept` is untrusted; NULL: none was sent.
gn_metrics_format gn_metrics_accepted(const char *accept);

#endif
