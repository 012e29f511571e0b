#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What gradnic asks of processors, for `gradnic estimate`: makes tools/estimate/costs.h.

Costs are core-seconds for each GB. They come from the fastest links of the benchmark exchange,
where processors are the limit.
"""

from results import ROOT, day, doubts, load, machine

SIZE = 25000000  # bytes of a gradient; larger ones leave the caches


def core_seconds(result, name):
    """(of a host for each GB of gradient, of the switch for each GB that comes in)"""
    rows = [row for row in result["results"]["results"] if row["name"] == name and row["size"] == SIZE]
    row = max(rows, key=lambda row: row["rate_bits"])
    hosts = result["results"]["hosts"]
    switch = row["switch_cpu_ms"] / 1e3
    used = row["time_ms"] / 1e3 * row["cpu"] * result["machine"]["cores"] - switch
    return used / hosts / (SIZE / 1e9), switch / hosts / (SIZE / 1e9)


def header(results):
    exchange, nic = results["exchange"], results["nic"]
    ring, _ = core_seconds(exchange, "ring")
    ring_nic, _ = core_seconds(exchange, "ring-dense-fill")
    switch, of_switch = core_seconds(exchange, "switch")
    dense, of_switch_dense = core_seconds(exchange, "switch-dense")
    both_nics = nic["results"]["medians"]["gradnic-dense-fill"]["nic_cpu_ms_per_gb"] / 1e3
    hosts = exchange["results"]["hosts"]
    where = f"{machine(exchange)}, {day(exchange)}"
    said = " ".join(doubts(exchange))
    return f"""// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_ESTIMATE_COSTS_H
#define GRADNIC_TOOLS_ESTIMATE_COSTS_H
/// What processors do for an allreduce. scripts/figures writes this file from
/// docs/lab/results/exchange.json and nic.json; bench/tables/costs.py says how.

#define GN_COST_ORIGIN "{where}"
#define GN_COST_DOUBTS "{said}"
#define GN_COST_RANKS {hosts}

// Core-seconds of a host for each GB of gradient, at GN_COST_RANKS ranks.
#define GN_COST_RING {ring:.3f}
#define GN_COST_RING_NIC {ring_nic:.3f}
#define GN_COST_SWITCH {switch:.3f}
#define GN_COST_SWITCH_DENSE {dense:.3f}

// Core-seconds of the switch for each GB of gradient that comes in.
#define GN_COST_OF_SWITCH {of_switch:.3f}
#define GN_COST_OF_SWITCH_DENSE {of_switch_dense:.3f}

// Seconds of a NIC's thread for each GB of values that a ring sends: it compresses them and
// decompresses as much. Profile dense.
#define GN_COST_NIC_THREAD {both_nics:.3f}

#endif
"""


if __name__ == "__main__":
    (ROOT / "tools/estimate/costs.h").write_text(header(load()))
