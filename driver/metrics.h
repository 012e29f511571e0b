// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_METRICS_H
#define GRADNIC_DRIVER_METRICS_H
/// What each number of gn_nic_stats() is, for Prometheus.

#include "host/prometheus.h"

extern const gn_metric_set gn_nic_metrics;

#endif
