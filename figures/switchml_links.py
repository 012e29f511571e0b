# SPDX-License-Identifier: Apache-2.0
"""What SwitchML is compared with, on simulated links: parameter servers, and a ring."""
import links
from model import SIMULATED, Figure, Plot, Result, Row

WAYS = {"ring": "ring", "colocated parameter servers": "direct", "dedicated parameter servers": "servers",
        "one worker adds": "worker-aggregator"}
VALUES = 2_500_000
WORKERS = 8


def switch(run, gigabits):
    """Elements a second and worker, in millions."""
    slots = 128 if gigabits == 10 else 512
    setup = {"link": {"rate_bit_s": gigabits * 1_000_000_000}, "switch": {"mode": "switchml", "slots": slots},
             "jobs": [{"workers": WORKERS, "values": VALUES, "slots": slots}]}
    return VALUES / run.simulate(setup, 1, f"switch, {gigabits} Gbit/s")["jobs"][0]["seconds"] * 1e-6


def rates(run):
    rows, bars = [], {}
    for gigabits in (10, 100):
        found = {"switch": switch(run, gigabits)}
        for name, how in WAYS.items():
            time = links.seconds(run, how, WORKERS, VALUES, f"{name}, {gigabits} Gbit/s", rate=gigabits * 1_000_000_000)[1]
            found[name] = VALUES / time * 1e-6
        rows += [Row(f"{gigabits} Gbit/s: {name}", rate, "million") for name, rate in found.items()]
        rows += [Row(f"{gigabits} Gbit/s: switch over {name}", found["switch"] / found[name], "x") for name in WAYS]
        bars[f"{gigabits} Gbit/s"] = list(found.values())
    return Result(rows, Plot("bars", ["switch", *WAYS], bars, "", "elements a second, million", log_y=True),
                  {"workers": WORKERS, "vector": f"{4 * VALUES / 1e6:g} MB", "links": "1 us each way",
                   "packets": "256 values to the switch, 1448 bytes over TCP",
                   "TCP": "an ideal pipe; who sums does so in no time"},
                  "Dedicated servers need as many hosts as workers, and then reach the links' rate. Colocated ones share "
                  "the workers' links, as a ring does: 7/4 of the vector each way. The paper's rings over Gloo and NCCL "
                  "are slower than their links.")


FIGURES = [Figure("switchml-fig3-links", "Fig. 3", "elements a second on simulated links", SIMULATED, rates, checked=True)]
