// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_ESTIMATE_COSTS_H
#define GRADNIC_TOOLS_ESTIMATE_COSTS_H
/// What processors do for an allreduce. scripts/figures writes this file from
/// docs/lab/results/exchange.json and nic.json; bench/tables/costs.py says how.

#define GN_COST_ORIGIN "2 virtual cores of an AMD EPYC (Zen 4), Linux 6.18, 23 November 2026"
#define GN_COST_DOUBTS ""
#define GN_COST_RANKS 4

// Core-seconds of a host for each GB of gradient, at GN_COST_RANKS ranks.
#define GN_COST_RING 1.191
#define GN_COST_RING_NIC 1.819
#define GN_COST_SWITCH 0.912
#define GN_COST_SWITCH_DENSE 0.875

// Core-seconds of the switch for each GB of gradient that comes in.
#define GN_COST_OF_SWITCH 0.533
#define GN_COST_OF_SWITCH_DENSE 0.500

// Seconds of a NIC's thread for each GB of values that a ring sends: it compresses them and
// decompresses as much. Profile dense.
#define GN_COST_NIC_THREAD 1.206

#endif
