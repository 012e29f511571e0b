# SPDX-License-Identifier: Apache-2.0
"""The simulator beside the real programs on emulated links. calibration.json has what
bench/calibration.sh measured; the same is simulated here."""
import json
import pathlib

from model import SIMULATED, Figure, Plot, Result, Row

MEASURED = pathlib.Path(__file__).resolve().parent / "calibration.json"
ETHERNET = 42  # bytes that tc counts: Ethernet without its gap, IP, UDP
QUEUE = 1 << 20  # bytes that tc keeps in front of a link
DELAY_US = 30  # of a link of the testbed, one way
TITLES = {
    "ring": "ring of 4",
    "ring6": "ring of 6",
    "direct": "direct, 4 ranks",
    "worker-aggregator": "worker-aggregator, 4 ranks",
    "switch": "switch, 4 workers",
    "switch-loss": "switch, 4 workers, loss of 1 %",
    "tree": "two leaves and a root, 4 workers",
    "shared": "shared slots, 4 workers",
    "preemptive": "preemptive slots, 4 workers",
    "two-partitioned": "two jobs of 3, slots of their own",
    "two-shared": "two jobs of 3, shared slots",
    "two-preemptive": "two jobs of 3, preemptive slots",
}


def bits(rate):
    """As tc writes a rate: 100mbit."""
    return int(rate.removesuffix("mbit")) * 1_000_000


def scenario(name, measured):
    """What bench/calibration.sh does, for the simulator."""
    vectors, rate = measured["iterations"] + 1, bits(measured["rate"])
    link = {"rate_bit_s": rate, "delay_ns": DELAY_US * 1000, "overhead_bytes": ETHERNET}
    job = {"workers": 6 if name == "ring6" else 4, "values": measured["size"] // 4, "vectors": vectors}
    if name in ("ring", "ring6", "direct", "worker-aggregator"):
        job["exchange"] = "ring" if name == "ring6" else name
        link["queue_bytes"] = QUEUE
        return {"limit_s": 3600, "link": link, "jobs": [job]}
    job["slots"] = 256
    setup = {"limit_s": 3600, "packet_values": 360, "rto_min_ns": 10_000_000, "link": link, "jobs": [job],
             "switch": {"slots": 8192}}
    if name == "switch-loss":
        link["loss"] = 0.01
    if name == "tree":
        setup["switch"]["tree"] = [2, 2]
        setup["uplink"] = {"rate_bit_s": 10_000_000_000}
    if name in ("shared", "preemptive"):
        setup["switch"] = {"mode": name, "slots": 64}
    if name.startswith("two-"):
        mode = name.removeprefix("two-")
        job.update({"workers": 3, "slots": 32 if mode == "partitioned" else 256, "priority": "auto"})
        setup["switch"] = {"mode": mode, "slots": 64}
        setup["jobs"] = [job, job]
    return setup


def merged(results):
    """One entry for each configuration: the mean over its jobs."""
    by_name = {}
    for result in results:
        by_name.setdefault(result["name"], []).append(result)
    return [{"name": name, "ms": sum(r["ms"] for r in found) / len(found), "min_ms": min(r["min_ms"] for r in found),
             "max_ms": max(r["max_ms"] for r in found)} for name, found in by_name.items()]


def calibration(run):
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    rows, bars = [], {"emulated": [], "simulated": []}
    close = 0
    for result in merged(measured["results"]):
        title = TITLES[result["name"]]
        jobs = run.simulate(scenario(result["name"], measured), 1, title)["jobs"]
        simulated = 1e3 * sum(job["seconds"] for job in jobs) / len(jobs) / (measured["iterations"] + 1)
        difference = 100 * (simulated / result["ms"] - 1)
        close += abs(difference) <= 10
        rows += [Row(f"{title}: emulated", result["ms"], "ms", result["min_ms"], result["max_ms"]),
                 Row(f"{title}: simulated", simulated, "ms"), Row(f"{title}: difference", difference, "%")]
        bars["emulated"].append(result["ms"])
        bars["simulated"].append(simulated)
    rows.append(Row("within 10 %", close, f"of {len(bars['emulated'])}"))
    about = {"links": f"{measured['rate'].removesuffix('mbit')} Mbit/s, emulated by tc between namespaces",
             "vector": f"{measured['size'] / 1e6:g} MB, {measured['iterations']} times after one that does not count",
             "emulated": f"{measured['date']}, {measured['cpu']}, {measured['cores']} cores, Linux {measured['kernel']}; "
                         "other programs ran beside it",
             "delay of a simulated link (our choice)": f"{DELAY_US} us",
             "TCP": "Reno's window, queues of 1 MiB",
             "shared and preemptive": "64 slots for windows of 256 chunks; two jobs with slots of their own have 32 each",
             "parameter server": "its link is as slow as the workers' with one job, not limited with two"}
    return Result(rows, Plot("bars", [r["name"] for r in merged(measured["results"])], bars, "", "ms a vector"), about,
                  "Emulated times are a median with the least and the longest. What differs by more than 10 % has "
                  "these reasons. Flows that share a link share it unevenly under Linux's TCP, and an aggregator waits "
                  "for the last one; direct does so less. With shared slots real hosts send in bursts, so more chunks "
                  "are open at a time: one packet of nine found its slot taken, and none of the simulated ones did. "
                  "Those cross the parameter server's link. Where that link is no limit, with two jobs, the times "
                  "agree.", [1])


FIGURES = [Figure("calibration", "Calibration", "simulated and emulated", SIMULATED, calibration)]
