// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_COUNTERS_H
#define GRADNIC_DRIVER_COUNTERS_H
/// The packet counters of frame.h by name, for tables, JSON and the NIC's statistics.

#include <gradnic/frame.h>

#include "host/counter.h"

/// Rows of gn_tx_counters (without those of rules), gn_tx_rule_counters and gn_rx_counters. A NULL
/// name ends each.
extern const gn_counter gn_tx_counter_rows[];
extern const gn_counter gn_tx_rule_counter_rows[];
extern const gn_counter gn_rx_counter_rows[];

#endif
