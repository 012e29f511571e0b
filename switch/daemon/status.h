// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_STATUS_H
#define GRADNIC_SWITCH_DAEMON_STATUS_H
/// What the switch says of itself, as JSON. New references; NULL when out of memory.

#include <jansson.h>

#include "host/prometheus.h"
#include "switch/daemon/base.h"

// status.c

/// Jobs, and where their children and channels are.
json_t *gn_switchd_jobs(gn_switchd *daemon);
/// How the switch is set, and what each job waits for.
json_t *gn_switchd_status(gn_switchd *daemon);

// stats.c

/// Every counter.
json_t *gn_switchd_stats(gn_switchd *daemon);

/// What each of its numbers is, for Prometheus.
extern const gn_metric_set gn_switchd_metrics;

#endif
