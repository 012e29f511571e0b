# SPDX-License-Identifier: Apache-2.0
"""The figures of INCEPTIONN (Li et al., MICRO 2018)."""
import glob

import numpy as np

import inceptionn_trainings
import links
from model import COMPUTED, MEASURED, SIMULATED, Figure, Plot, Result, Row, missing

NETWORKS = ("alexnet", "hdc", "resnet50", "vgg16")
BOUNDS = (10, 8, 6)
STEPS = 150
MIB = 1 << 20


def size(run, name):
    """Bytes of a gradient."""
    return 4 * sum(layer["values"] for layer in run.network(name)["layers"])


def fig3a(run):
    sizes = [size(run, name) / MIB for name in NETWORKS]
    rows = [Row(name, value, "MiB") for name, value in zip(NETWORKS, sizes)]
    return Result(rows, Plot("bars", list(NETWORKS), {"gradient": sizes}, "", "MiB"), {"values": "binary32"},
                  "Counted from the architectures. The paper's HDC contradicts itself (docs/errata.md, 6).")


def step_seconds(run, name, tera):
    """Compute time of a worker's step: forward and backward pass, at so many TFLOP/s."""
    network = run.network(name)
    return 6 * network["samples"] * sum(layer["macs"] for layer in network["layers"]) / (tera * 1e12)


def ways(run, bytes_, world, ratio=11):
    said = run.json("estimate", "--rate", "10gbit", "--world-size", world, "--size", bytes_, "--ratio", f"{ratio:g}")
    return {way["way"]: way for way in said["rates"][0]["ways"]}


def on_links(way):
    """Seconds of the busiest link: the paper's codec is in NICs, so processors do not count."""
    return way["link_seconds"]


ASSUMED = {"links": "10 Gbit/s", "compute": "counted operations at 4 TFLOP/s, and at 16 (our assumption)"}


def fig3b(run):
    rows, bars = [], {"4 TFLOP/s": [], "16 TFLOP/s": []}
    for name in NETWORKS:
        exchange = on_links(ways(run, size(run, name), 4)["worker-aggregator"])
        for tera in (4, 16):
            bars[f"{tera} TFLOP/s"].append(100 * exchange / (exchange + step_seconds(run, name, tera)))
        rows.append(Row(f"{name}: share of communication, 4 TFLOP/s", bars["4 TFLOP/s"][-1], "%"))
    return Result(rows, Plot("bars", list(NETWORKS), bars, "", "share of a step, %"), {"workers": 4, **ASSUMED},
                  "Only passes and exchange count here. In the paper copies, sums and updates take 10 to 20 % of a "
                  "step, too.")


TRAINED = {"network": "HDC, five layers of 500", "data": "8 x 8 digits of UCI", "workers": 4,
           "steps": "150 (--full: 450)"}


def dumps(run):
    """Gradients of a training: early, middle, late."""
    folder = run.folder / "gradients"
    steps = STEPS if not run.full else 450
    run.json("train", "-N", 4, "--steps", steps, "--data", run.data(), "-p", "none", "--dump-gradients", folder,
             "--dump-steps", steps // 3)
    return [sorted(glob.glob(f"{folder}/step{i * steps // 3:05}-*weight.npy")) for i in (1, 2, 3)]


def fig5(run):
    edges = np.linspace(-1, 1, 201)
    lines, rows = {}, []
    for stage, paths in zip(("early", "middle", "late"), dumps(run)):
        values = np.concatenate([np.load(path).ravel() for path in paths])
        counts = np.histogram(values, edges)[0] / values.size
        lines[stage] = [float(max(c, 1e-9)) for c in counts]
        rows.append(Row(f"{stage}: values within [-1, 1]", 100 * float(np.mean(np.abs(values) <= 1)), "%"))
        rows.append(Row(f"{stage}: values within 0.01 of zero", 100 * float(np.mean(np.abs(values) <= 0.01)), "%"))
    middle = [float(x) for x in (edges[:-1] + edges[1:]) / 2]
    return Result(rows, Plot("lines", middle, lines, "value", "share of values", log_y=True), TRAINED,
                  "Another network and other data, the same form: a narrow peak at zero, nothing outside [-1, 1].", [1])


def compressed(run):
    """Name of each codec and compressor, and what `gradnic ratio` says of it, on the early
    gradients of a training."""
    said = run.json("ratio", "-p", "all", "-k", ",".join(map(str, BOUNDS)), "--", *dumps(run)[0])
    return {row["codec"] + (f" 2^-{row['bound_exp']}" if not row["lossless"] and "bound_exp" in row else ""): row
            for row in said["total"]["results"]}


def ratios(run):
    return {name: row["ratio"] for name, row in compressed(run).items()}


def fig14(run):
    names = [(profile, bound) for profile in ("paper", "lattice", "dense") for bound in BOUNDS]
    found = ratios(run)
    rows = [Row(f"without {bits} bits", 32 / (32 - bits), "x", exact=True) for bits in (16, 22, 24)]
    rows += [Row(f"{profile} 2^-{bound}", found[f"{profile} 2^-{bound}"], "x") for profile, bound in names]
    bars = {profile: [found[f"{profile} 2^-{bound}"] for bound in BOUNDS] for profile in ("paper", "lattice", "dense")}
    return Result(rows, Plot("bars", [f"2^-{bound}" for bound in BOUNDS], bars, "bound", "ratio"),
                  {**TRAINED, "gradients": "after a third of the steps"},
                  "Ratios depend on how small gradients are beside the bound, and these are small. A tag for each value limits the "
                  "paper's codec to 16; dense has no such limit.", [1])


CLASSES = ("0", "8", "16", "32")  # bits behind a value's tag


def table3(run):
    found = {bound: compressed(run)[f"paper 2^-{bound}"]["tags"] for bound in BOUNDS}
    rows = [Row(f"2^-{bound}: values of {bits} bits", 100 * found[bound][bits]["share"], "%")
            for bound in BOUNDS for bits in CLASSES]
    bars = {f"{bits} bits": [100 * found[bound][bits]["share"] for bound in BOUNDS] for bits in CLASSES}
    return Result(rows, Plot("bars", [f"2^-{bound}" for bound in BOUNDS], bars, "bound", "share of values, %"),
                  {**TRAINED, "gradients": "after a third of the steps",
                   "codec": "paper; a tag of 2 bits comes on top"},
                  "These gradients are small, so nearly all are below the bounds. Only those of 2^-5 and more take "
                  "16 bits in Algorithm 2. The published share of them contradicts the paper's own text "
                  "(docs/errata.md, 4).", [1])


ENGINE = 25_600_000_000  # bit/s of values: a NIC of 256 bits at 100 MHz


def exchanges(run, name, ratio, gather_first=False):
    """Seconds of a step and of its exchange, for each of the paper's four ways, at four nodes."""
    values, compute = size(run, name) // 4, 1e9 * step_seconds(run, name, 4)
    star, nic = {"how": "worker-aggregator", "gather_first": gather_first}, {"ratio": ratio, "engine_bit_s": ENGINE}
    ways_ = {"WA": star, "WA+C": {**star, **nic, "ratio_back": 1}, "INC": {"how": "ring"}, "INC+C": {"how": "ring", **nic}}
    about = f"{name}, " + ("all gradients before the first sum, " if gather_first else "")
    return {way: links.seconds(run, workers=4, values=values, compute_ns=compute, about=about + way, **setup)
            for way, setup in ways_.items()}


def beside(found, way):
    """What a way's communication takes less than WA's, in percent."""
    return 100 * (found[way][1] / found["WA"][1] - 1)


def fig12(run):
    """Times of a step: worker-aggregator and ring, without and with compression in NICs."""
    ratio = round(ratios(run)["paper 2^-10"], 2)
    names = ("alexnet", "resnet50", "vgg16")
    found = {name: exchanges(run, name, ratio) for name in names}
    rows = [Row(f"{name}: INC+C over WA", found[name]["WA"][0] / found[name]["INC+C"][0], "x") for name in names]
    rows += [Row(f"{way}: communication beside WA", beside(found["vgg16"], way), "%") for way in ("WA+C", "INC+C")]
    first = exchanges(run, "resnet50", ratio, gather_first=True)
    rows += [Row(f"{way}, gathers first: communication beside WA", beside(first, way), "%") for way in ("WA+C", "INC+C")]
    times = {way: [found[name][way][0] for name in names] for way in ("WA", "WA+C", "INC", "INC+C")}
    return Result(rows, Plot("bars", list(names), times, "", "s a step"),
                  {"workers": 4, **ASSUMED, "ratio": f"{ratio}, paper 2^-10 on HDC's gradients; packets keep their headers",
                   "NIC's engine": "25.6 Gbit/s of values", "WA+C": "the way to the aggregator alone is compressed",
                   "gathers first": "the aggregator sends the first sum when it has all gradients",
                   "TCP": "an ideal pipe; ranks sum in no time"},
                  "An aggregator that sends sums while gradients come in uses its link both ways at once, as gradnic's "
                  "does. Then WA+C gains nothing, for the way back is as long as before. One that gathers first is twice "
                  "as slow, and WA+C gains as in the paper. Sums, updates and software take their part in the paper.")


def fig15(run):
    nodes = [4, 6, 8, 32, 128, 1024]
    values = size(run, "alexnet") // 4
    lines = {"WA": [], "INC": []}
    for n in nodes:
        for way, how in (("WA", "worker-aggregator"), ("INC", "ring")):
            lines[way].append(links.seconds(run, how, n, values, f"alexnet, {way}, {n} nodes", payload=links.BURST)[1])
    rows = [Row(f"{way}: {n} nodes beside 4", times[nodes.index(n)] / times[0], "x")
            for n in (8, 1024) for way, times in lines.items()]
    return Result(rows, Plot("lines", nodes, lines, "nodes", "s an exchange", log_x=True, log_y=True),
                  {"network": "alexnet", "links": "10 Gbit/s, 1 us each way", "TCP": "an ideal pipe, in bursts of 64 KiB"},
                  "The aggregator's link carries every worker's gradient, so WA grows with the workers. A ring's link "
                  "carries 2 (n - 1) / n gradients. In the paper the aggregator is a node more; here it is rank 0.")


FIGURES = [
    missing("inceptionn-fig1", "Fig. 1", "organisations", "a picture without numbers: docs/collectives.md has them all"),
    Figure("inceptionn-fig3a", "Fig. 3a", "sizes of networks", COMPUTED, fig3a, checked=True),
    Figure("inceptionn-fig3b", "Fig. 3b, Table II", "share of communication", COMPUTED, fig3b, checked=True),
    inceptionn_trainings.TABLE2,
    inceptionn_trainings.FIG4,
    Figure("inceptionn-fig5", "Fig. 5", "values of gradients", MEASURED, fig5),
    inceptionn_trainings.FIG7,
    Figure("inceptionn-fig12", "Fig. 12", "time of a step", SIMULATED, fig12),
    inceptionn_trainings.FIG13,
    Figure("inceptionn-fig14", "Fig. 14", "ratios", MEASURED, fig14),
    Figure("inceptionn-table3", "Table III", "bits of values", MEASURED, table3),
    Figure("inceptionn-fig15", "Fig. 15", "4 to 8 nodes, and to 1024", SIMULATED, fig15),
]
