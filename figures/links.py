# SPDX-License-Identifier: Apache-2.0
"""Exchanges without a switch that adds, on simulated links, for the figures that compare with
them."""

BURST = 65536  # bytes that are simulated as one packet, where there are thousands of millions


def scenario(how, workers, values, rate=10_000_000_000, compute_ns=0, payload=1448, **more):
    """A job of one vector. `how`: a value of the field exchange (docs/sim-net.md)."""
    job = {"exchange": how, "workers": workers, "values": values, "compute_ns": int(compute_ns),
           "payload_bytes": payload, **more}
    return {"limit_s": 3600, "link": {"rate_bit_s": rate}, "jobs": [job]}


def seconds(run, how, workers, values, about, **more):
    """Of a step, and of its exchange alone."""
    job = run.simulate(scenario(how, workers, values, **more), 1, about)["jobs"][0]
    return job["seconds"], job["exchange_seconds"]
