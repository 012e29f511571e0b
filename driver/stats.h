// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_STATS_H
#define GRADNIC_DRIVER_STATS_H
/// What a running NIC says about itself. Each call takes a consistent picture of one direction,
/// then of the other.

#include <jansson.h>

#include "driver/nic.h"
#include "host/prometheus.h"

/// Its identity and its settings. New reference; NULL when out of memory.
json_t *gn_nic_status(gn_nic *nic);
/// Every counter, as docs/nic.md lists them. New reference; NULL when out of memory.
json_t *gn_nic_stats(gn_nic *nic);
/// The same numbers as text for Prometheus. The caller frees it; NULL when out of memory.
char *gn_nic_prometheus(gn_nic *nic, gn_metrics_format format);

#endif
