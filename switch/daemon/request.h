// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_REQUEST_H
#define GRADNIC_SWITCH_DAEMON_REQUEST_H
/// What a client may ask of a running switch over its control socket. A request is one JSON object:
///
///     {"command": "status"}                              how it is set; which slot waits for whom
///     {"command": "jobs"}                                jobs, their children and channels
///     {"command": "stats"}                               every counter
///     {"command": "stats", "format": "prometheus"}       the same as Prometheus text (0.0.4)
///     {"command": "stats", "format": "openmetrics"}      the same as OpenMetrics text
///     {"command": "end", "job": NAME}                    ends a job, and tells its workers
///
/// The answer is a JSON object (or Prometheus text); a refusal is {"error": "what and why"}.

#include <stdbool.h>
#include <stddef.h>

#include <gradnic/admission.h>

#include "host/prometheus.h"
#include "net/error.h"

typedef struct gn_switch_request {
    enum { GN_SWITCH_STATUS, GN_SWITCH_JOBS, GN_SWITCH_STATS, GN_SWITCH_END } command;
    bool metrics;  ///< as text for Prometheus, in this format:
    gn_metrics_format format;
    char job[GN_ADMISSION_NAME];
} gn_switch_request;

/// Reads a request from untrusted bytes. @return GN_OK, GN_INVALID
gn_status gn_switch_request_parse(const char *text, size_t length, gn_switch_request *request, gn_error *error);

/// Answers a request of the control socket: a gn_control_answer, whose `context` is the daemon.
char *gn_switchd_answer(void *context, const char *text, size_t length);

#endif
