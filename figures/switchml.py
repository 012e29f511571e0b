# SPDX-License-Identifier: Apache-2.0
"""The figures of SwitchML (Sapio et al., NSDI 2021)."""
import links
import switchml_links
import switchml_trainings
from model import COMPUTED, MEASURED, SIMULATED, Figure, Plot, Result, Row, over_seeds, timed

HEADER, ETHERNET = 32, 66  # bytes: of a chunk (docs/switch.md); Ethernet with its gap, IP, UDP
LOSSES = (0, 0.0001, 0.001, 0.01)
PACKET_BITS = 8 * (4 * 256 + HEADER + ETHERNET) / 256  # of a link's time, for each value
SAMPLE_MS = 5
LINKS = "10 Gbit/s, 1 us each way"


def scenario(values, workers=8, slots=128, loss=0.0, packet_values=256, **more):
    return {"link": {"loss": loss}, "packet_values": packet_values, "switch": {"mode": "switchml", "slots": slots},
            "jobs": [{"workers": workers, "values": values, "slots": slots}], **more}


def with_loss(run, loss, seed, slots=128, rto_ms=0.0):
    """100 MB, as in the paper, looked at every 5 ms."""
    about = f"8 workers, 100 MB, loss {100 * loss:g} %"
    about += f", pool of {slots} slots" if slots != 128 else ""
    about += f", least timeout {rto_ms:g} ms" if rto_ms else ""
    return run.simulate(scenario(25_000_000, loss=loss, slots=slots, sample_ns=SAMPLE_MS * 1_000_000,
                                 rto_min_ns=int(rto_ms * 1e6)), seed, about)


def inflations(run, loss, **more):
    """For each seed: the time beside that without loss."""
    times = [[with_loss(run, p, seed, **more)["jobs"][0]["seconds"] for seed in run.draws] for p in (loss, 0)]
    return [a / b for a, b in zip(*times)]


UNDER_LOSS = {"links": LINKS, "vector": "100 MB", "workers": 8, "pool": "128 slots", "least timeout": "1 ms"}


def ring_inflations(run, loss, delay_us):
    """A ring over TCP, as Gloo's: 10 MB, for each seed."""
    times = []
    for p in (loss, 0):
        setup = links.scenario("ring", 8, 2_500_000)
        # Without loss, a queue that is never full: acknowledgements are there in both.
        setup["link"].update({"loss": p, "delay_ns": delay_us * 1000, "queue_bytes": 1 << 30})
        about = f"ring of 8 over TCP, loss {100 * p:g} %, links of {delay_us} us"
        times.append([run.simulate(setup, seed, about)["jobs"][0]["seconds"] for seed in run.draws])
    return [a / b for a, b in zip(*times)]


def fig6(run):
    inflation = {loss: inflations(run, loss) for loss in LOSSES}
    rows = [over_seeds(f"loss {100 * loss:g} %", inflation[loss], "x") for loss in LOSSES[1:]]
    others = {f"pool of {slots} slots": inflations(run, 0.01, slots=slots) for slots in (256, 512)}
    others.update({f"least timeout {rto_ms:g} ms": inflations(run, 0.01, rto_ms=rto_ms) for rto_ms in (0.5, 0.25)})
    rows += [over_seeds(f"loss 1 %, {name}", values, "x") for name, values in others.items()]
    rings = {f"ring over TCP, {delay_us} us": [ring_inflations(run, loss, delay_us) for loss in LOSSES]
             for delay_us in (1, 10)}
    rows += [over_seeds(f"loss {100 * loss:g} %, {name}", values, "x") for name, all_ in rings.items()
             for loss, values in zip(LOSSES[1:], all_[1:])]
    lines = {"switch, pool of 128": list(inflation.values()), **rings}
    plot = Plot("bars", [f"{100 * loss:g} %" for loss in LOSSES],
                {name: [sum(values) / len(values) for values in all_] for name, all_ in lines.items()},
                "loss on each link", "time beside that without loss")
    return Result(rows, plot, {**UNDER_LOSS, "ring": "10 MB, TCP with Reno's window and selective acknowledgements"},
                  "A lost packet holds up its slot for a timeout: at least 1 ms, and 10 ms for the first packets of a "
                  "vector. With 1 % on each of 16 ways, every seventh chunk loses one. The pool decides what that "
                  "costs: with more slots than the links need, others go on meanwhile. A shorter least timeout helps, "
                  "too. A ring over TCP hardly notices losses on links of 1 us. With 10 us its window is the limit, and then "
                  "timeouts of 200 ms: without loss its 10 MB take 15 ms. Gloo's hosts answer later still.", run.draws)


def fig7(run):
    lines, rows = {}, []
    for loss in (0, 0.0001, 0.01):
        sent = [0] + [sample["sent"][0] / 8 for sample in with_loss(run, loss, 1)["samples"]]
        rates = [(b - a) / SAMPLE_MS for a, b in zip(sent, sent[1:])]
        lines[f"loss {100 * loss:g} %"] = rates
        rows.append(Row(f"loss {100 * loss:g} %: packets in a ms, median", sorted(rates)[len(rates) // 2]))
    longest = max(map(len, lines.values()))
    plot = Plot("lines", [(i + 1) * SAMPLE_MS for i in range(longest)],
                {name: rates + [None] * (longest - len(rates)) for name, rates in lines.items()}, "ms",
                "packets that a worker sends in a ms")
    return Result(rows, plot, UNDER_LOSS,
                  "The paper has a picture alone. With little loss packets flow on at the full rate, as there.", [1])


def fig8(_run):
    sizes = [32, 64, 256, 366]
    share = [100 * 4 * n / (4 * n + HEADER + ETHERNET) for n in sizes]
    rows = [Row(f"{n} values: payload of the link's time", value, "%") for n, value in zip(sizes, share)]
    return Result(rows, Plot("lines", sizes, {"int32": share}, "values in a packet", "payload, %"),
                  {"header": f"{HEADER} bytes", "Ethernet with its gap, IP, UDP": f"{ETHERNET} bytes"},
                  "Arithmetic. Our header has 32 bytes, and 366 values fill an MTU of 1500.")


def fig9(run):
    workers = [2, 4, 8, 16]
    values = 2_500_000
    rates = []
    for n in workers:
        job = run.simulate(scenario(values, workers=n), 1, f"{n} workers")["jobs"][0]
        rates.append(values / job["seconds"] * 1e-6)
    rows = [Row("16 workers beside 2", rates[-1] / rates[0], "x"),
            Row("16 workers: elements a second", rates[-1], "million")]
    plot = Plot("lines", workers, {"SwitchML": rates}, "workers", "elements a second, million")
    return Result(rows, plot, {"links": LINKS, "values": values, "pool": "128 slots"},
                  "The rate does not depend on the number of workers, here as in the paper.", [1])


def pool(run):
    slots = [8, 16, 32, 64, 128, 256]
    values, packet = 1_000_000, 4 * 256 + HEADER + ETHERNET
    lines, rows = {}, []
    for delay_us in (1, 10):
        seconds = []
        for n in slots:
            setup = scenario(values, slots=n)
            setup["link"]["delay_ns"] = delay_us * 1000
            about = f"pool of {n} slots, links of {delay_us} us"
            seconds.append(run.simulate(setup, 1, about)["jobs"][0]["seconds"])
        lines[f"links of {delay_us} us"] = [1e3 * time for time in seconds]
        enough = next(n for n, time in zip(slots, seconds) if time < 1.05 * min(seconds))
        product = 10e9 / 8 * (4 * delay_us * 1e-6 / 2) + 2 * packet
        rule = 1
        while rule * packet < product:
            rule *= 2
        rows += [Row(f"links of {delay_us} us: smallest pool within 5 % of the best", enough, "slots"),
                 Row(f"links of {delay_us} us: by the paper's rule", rule, "slots")]
    return Result(rows, Plot("lines", slots, lines, "slots of the pool", "ms", log_x=True),
                  {"links": "10 Gbit/s", "values": values, "rule": "power of two above delay times bandwidth by packet"},
                  "The rule gives the pool from which on the network is the limit. Real hosts answer later than "
                  "simulated ones, so they need more slots.", [1])


def types(run):
    values = 2_500_000
    rate = {}
    for name, packet_values in (("int32", 256), ("half", 512)):
        job = run.simulate(scenario(values, packet_values=packet_values, format=name), 1, f"values as {name}")["jobs"][0]
        rate[name] = values / job["seconds"] * 1e-6
    rows = [Row("halves beside int32", rate["half"] / rate["int32"], "x")]
    return Result(rows, Plot("bars", list(rate), {"elements a second, million": list(rate.values())}, "",
                             "elements a second, million"),
                  {"links": LINKS, "values": values, "packets": "1122 bytes of the link's time in both"},
                  "Twice as many values fill the same packets.", [1])


def table1(run):
    """Bytes and compute time of a step, and how much of a step an exchange takes."""
    rows, bars = [], {"10 Gbit/s": [], "100 Gbit/s": []}
    names = ("alexnet", "vgg16", "resnet50", "bert-large")
    for name in names:
        network = run.network(name)
        bits = 32 * sum(layer["values"] for layer in network["layers"])
        compute = 6 * network["samples"] * sum(layer["macs"] for layer in network["layers"]) / 16e12
        rows.append(Row(f"{name}: gradient", bits / 8e6, "MB"))
        for gigabits in (10, 100):
            exchange = bits * PACKET_BITS / 32 / (gigabits * 1e9)
            part = 100 * exchange / (exchange + compute)
            bars[f"{gigabits} Gbit/s"].append(part)
            rows.append(Row(f"{name}: communication at {gigabits} Gbit/s", part, "%"))
    return Result(rows, Plot("bars", list(names), bars, "", "communication, % of a step"),
                  {"exchange": "one way of a worker's link, as a switch needs it", "overlap": "none",
                   "compute time": "6 floating-point operations for each multiplication of a forward pass, 16 TFLOP/s"},
                  "Compute times are assumed, not measured on the paper's GPUs, so shares of a step may differ much. "
                  "The order of networks follows from bytes and operations alone.")


# Bits of a worker's link for one value in one exchange of n workers, one way.
ONE_HOST = {"switch, or a dedicated parameter server": "switch",
            "colocated parameter servers": "direct", "ring": "ring",
            "one worker is the parameter server": "worker-aggregator"}


def on_links(workers):
    packet = PACKET_BITS
    both_ways = 2 * (workers - 1) / workers  # each is a worker and a server for a part of the values
    return {"switch": packet, "dedicated parameter servers": packet, "colocated parameter servers": packet * both_ways,
            "ring": 32 * both_ways, "one worker is the parameter server": packet * (workers - 1)}


def on_this_machine(ranks, megabytes, times=5):
    """Words of a benchmark of one size."""
    return ["bench", "allreduce", "-N", ranks, "-b", f"{megabytes}M", "-e", f"{megabytes}M", "-n", times, "-w", 1,
            "-c", 0, "-p", "none"]


def millions(said):
    """Elements a second: the median, the least and the most."""
    row = said["results"][0]
    return [row["count"] / row[time] for time in ("time_us", "time_max_us", "time_min_us")]


def types_here(run):
    ranks, megabytes, times, rates = 4, 16, 25, {}
    for name, half in (("int32", "none"), ("half", "all")):
        words = [*on_this_machine(ranks, megabytes, times), "--algorithm", "switch", "--switch-half", half]
        rates[name] = millions(run.over_switch(words))
    rows = [timed(f"{name}: elements a second", sorted(rate), "million") for name, rate in rates.items()]
    rows.insert(0, Row("halves beside int32", rates["half"][0] / rates["int32"][0], "x", timed=True))
    bars = {"elements a second, million": [rate[0] for rate in rates.values()]}
    return Result(rows, Plot("bars", list(rates), bars, "", "elements a second, million"),
                  {"workers": f"{ranks}, and a switch, over loopback", "vector": f"{megabytes} MiB, median of {times}"},
                  "Halves fill half as many packets, but workers make them of binary32, and the switch adds "
                  "each. All of them share one machine's processors, and these are the limit, not links. So the gain "
                  "varies with what else the machine does: from 0.7 to 1.4 in three runs beside other programs.")


def fig3(run):
    """Elements a second: arithmetic at two rates, and what processes of one machine reach."""
    workers, ranks, megabytes = 8, 4, 16
    rows, bars = [], {}
    for gigabits in (10, 100):
        rates = {name: gigabits * 1e3 / bits for name, bits in on_links(workers).items()}
        rows += [Row(f"{gigabits} Gbit/s: {name}", rate, "million", exact=True) for name, rate in rates.items()]
        bars[f"{gigabits} Gbit/s"] = list(rates.values())
    rows.append(Row("colocated beside a switch", on_links(workers)["switch"] /
                    on_links(workers)["colocated parameter servers"], "x", exact=True))
    for name, algorithm in ONE_HOST.items():
        run.say(f"  {name}")
        words = [*on_this_machine(ranks, megabytes), "--algorithm", algorithm]
        if algorithm == "switch":
            said = run.over_switch(words)
        else:
            said = run.json(*words, "--no-shared-memory")
        rows.append(timed(f"this machine: {name}", sorted(millions(said)), "million"))
    return Result(rows, Plot("bars", list(on_links(workers)), bars, "", "elements a second, million", log_y=True),
                  {"links": f"arithmetic, {workers} workers, packets of 256 values",
                   "this machine": f"{ranks} workers over loopback, {megabytes} MiB, median of five",
                   "dedicated parameter servers": "as many machines as workers; each adds a part of the values"},
                  "Dedicated servers reach a switch's rate with twice the machines. Colocated ones share the workers' "
                  "links, so they reach about half, as in the paper. On one machine processors are the limit: our "
                  "switch is software there, as a dedicated server is.")


def gains(run):
    """Ring, sums in the network and sparse or small encodings, with compute times of an assumed
    processor."""
    workers, rate = 8, 10e9
    rows, bars = [], {"4 TFLOP/s": [], "16 TFLOP/s": []}
    names = ("alexnet", "vgg16", "resnet50", "bert-large")
    for name in names:
        layers = run.network(name)
        bits = 32 * sum(layer["values"] for layer in layers["layers"])
        flop = 6 * layers["samples"] * sum(layer["macs"] for layer in layers["layers"])
        ring, switch = bits / rate * 2 * (workers - 1) / workers, bits / rate * 1122 / 1024
        for tera in (4, 16):
            compute = flop / (tera * 1e12)
            bars[f"{tera} TFLOP/s"].append((compute + ring) / (compute + switch))
        rows.append(Row(f"{name}: gain over the ring, 16 TFLOP/s", bars["16 TFLOP/s"][-1], "x"))
        if name == "vgg16":  # each worker's encoding goes to all others; choosing and rounding cost nothing
            for encoding, ratio in (("Top-k 1 %", 50), ("Top-k 10 %", 5), ("4 bits", 8)):
                exchange = bits / ratio / rate * (workers - 1)
                rows.append(Row(f"{name}: {encoding} over the ring, 16 TFLOP/s",
                                (compute + ring) / (compute + exchange), "x"))
    return Result(rows, Plot("bars", list(names), bars, "", "gain over a ring at 10 Gbit/s"),
                  {"workers": workers, "links": "10 Gbit/s", "overlap": "none",
                   "compute time": "6 floating-point operations for each multiplication of a forward pass"},
                  "A ring at the links' full rate is at most 1.75 times slower. The paper's rings are slower than "
                  "their links: its largest gains are over Gloo and NCCL on TCP. With Top-k and 4 bits each worker's encoding "
                  "goes to all others. Choosing and rounding cost nothing here; switchml-fig2 measures them.")


FIGURES = [
    Figure("switchml-table1", "Table 1", "networks", COMPUTED, table1, checked=True),
    switchml_trainings.FIG2,
    Figure("switchml-fig3", "Fig. 3", "elements a second, parameter servers", MEASURED, fig3),
    *switchml_links.FIGURES,
    Figure("switchml-table2", "Table 2, Fig. 4 and 5", "gain over a ring", COMPUTED, gains, checked=True),
    Figure("switchml-fig6", "Fig. 6", "inflation by loss", SIMULATED, fig6),
    Figure("switchml-fig7", "Fig. 7", "packets over time under loss", SIMULATED, fig7),
    Figure("switchml-fig8", "Fig. 8", "packet sizes and headers", COMPUTED, fig8, checked=True),
    Figure("switchml-fig9", "Fig. 9", "workers", SIMULATED, fig9),
    switchml_trainings.FIG10,
    Figure("switchml-fig12", "Fig. 11 and 12", "types of values", SIMULATED, types, checked=True),
    Figure("switchml-fig12-here", "Fig. 11 and 12", "types of values on this machine", MEASURED, types_here),
    Figure("switchml-pool", "Appendix C", "size of the pool", SIMULATED, pool, checked=True),
]
