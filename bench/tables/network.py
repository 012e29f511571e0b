# SPDX-License-Identifier: Apache-2.0
"""Tables of what goes over links: NICs, exchange, switch, losses."""

from markdown import claims_table, digits, percent, table, times, whole
from results import exchange_rows, rate_words

NIC_CASES = (
    ("veth", "veth with offloads"),
    ("vxlan", "vxlan in the kernel"),
    ("gradnic-untouched", "gradnic, untouched"),
    ("gradnic-dense-fill", "gradnic, gradients, `dense`, `fill`"),
    ("gradnic-lattice-fill", "gradnic, gradients, `lattice`, `fill`"),
    ("gradnic-paper-fill", "gradnic, gradients, `paper`, `fill`"),
    ("veth-no-offloads", "veth without offloads"),
    ("gradnic-dense-mtu", "gradnic, gradients, `dense`, `mtu`"),
    ("gradnic-lattice-mtu", "gradnic, gradients, `lattice`, `mtu`"),
    ("gradnic-paper-mtu", "gradnic, gradients, `paper`, `mtu`"),
    ("openvpn", "openvpn, no cipher"),
    ("wireguard-go", "wireguard-go"),
)
CASES = {
    "ring": "ring",
    "ring-nic": "ring through NICs",
    "direct": "direct",
    "ring-library": "ring, `dense` in the ranks",
    "direct-library": "direct, `dense` in the ranks",
    "group-ring": "rings of two groups",
    "group-ring-library": "rings of two groups, `dense` in the ranks",
    "group-aggregator-library": "rings of two groups and an aggregator, `dense` in the ranks",
    "aggregators-library": "aggregators of two groups, `dense` in the ranks",
    "ring-dense-fill": "ring, `dense` in NICs",
    "ring-lattice-fill": "ring, `lattice` in NICs",
    "ring-paper-fill": "ring, `paper` in NICs",
    "switch": "switch",
    "switch-dense": "switch, `dense`",
    "wa": "worker-aggregator",
    "wa-library": "worker-aggregator, `dense` in the ranks",
    "wa-dense-gradients": "worker-aggregator, `dense` on the gradient leg",
    "wa-dense": "worker-aggregator, `dense` on both legs",
}
CURVE = ("ring", "ring-library", "direct-library", "ring-dense-fill", "switch", "switch-dense")


def nic(results):
    medians = results["nic"]["results"]["medians"]
    rows = [
        (
            words,
            f"{digits(m['gbit_per_s'], 1)} ({digits(m['lowest'], 1)}–{digits(m['highest'], 1)})",
            digits(m["round_trip_us"], 0),
            whole(m["nic_cpu_ms_per_gb"]) if name.startswith("gradnic") else "",
        )
        for name, words in NIC_CASES
        if name in medians
        for m in [medians[name]]
    ]
    return table(
        ("case", "Gbit/s (lowest–highest)", "64-byte round trip, us", "both NICs, CPU ms a GB"),
        rows,
        results["nic"],
        "One TCP flow between two hosts, medians. Gradients are counted before compression.",
    )


def nic_claims(results):
    return claims_table(results["nic"]["results"]["claims"], results["nic"], "Medians of the rounds' own ratios.")


def places(results):
    """(rate, size) that all cases were measured at, in order."""
    rows = exchange_rows(results)
    return sorted(
        {(rate, size) for rate, size, name in rows if name == "wa"},
        key=lambda place: (rows[(*place, "wa")]["rate_bits"], place[1]),
    )


def heading(place):
    return f"{rate_words(place[0])}, {place[1] / 1e6:.0f} MB"


def hosts(results):
    return (
        f"{results['exchange']['results']['hosts']} hosts share the cores. Bound"
        f" 2^-{results['exchange']['results']['k']}, milliseconds, medians."
    )


def exchange_table(results, cases, about):
    rows = exchange_rows(results)
    lines = []
    for name in cases:
        found = [rows.get((*place, name)) for place in places(results)]
        if not any(found):  # measured before there was this case
            continue
        cells = [
            (
                f"{r['time_ms']:.0f}"
                + (f" ({times(r['faster_than_ring'], 1)})" if r["faster_than_ring"] and name != "ring" else "")
                if r
                else ""
            )
            for r in found
        ]
        ratio = next((r["nic_ratio"] for r in found if r and r["nic_ratio"]), None)
        lines.append((CASES[name], *cells, digits(ratio)))
    return table(("", *(heading(place) for place in places(results)), "NICs' ratio"), lines, results["exchange"], about)


def exchange(results):
    return exchange_table(
        results,
        ("ring", "ring-library", "direct-library", "ring-dense-fill", "switch", "switch-dense", "wa"),
        f"{hosts(results)} In brackets: how many times as fast as the ring without compression.",
    )


def exchange_profiles(results):
    return exchange_table(
        results, CASES, f"{hosts(results)} In brackets: how many times as fast as the ring without compression."
    )


def exchange_cuts(results):
    rows = exchange_rows(results)
    lines = []
    for profile in ("dense", "lattice", "paper"):
        for cut in ("fill", "mtu"):
            found = [rows.get((*place, f"ring-{profile}-{cut}")) for place in places(results)]
            last = found[-1] or next(r for r in found if r)
            lines.append(
                (
                    f"`{profile}`, `{cut}`",
                    *(digits(r["time_ms"], 0) if r else "" for r in found),
                    digits(last["nic_ratio"]),
                    whole(last["packets"]),
                    whole(last["packet_bytes"]),
                )
            )
    return table(
        ("", *(heading(place) for place in places(results)), "ratio", "packets", "bytes in each"),
        lines,
        results["exchange"],
        f"{hosts(results)} Packets are those of all hosts, at {heading(places(results)[-1])}.",
    )


def exchange_switch(results):
    rows = exchange_rows(results)
    lines = []
    for place in places(results):
        for name in CURVE:
            r = rows.get((*place, name))
            if r:
                over = percent(r["over_bound"]) if r["over_bound"] is not None and r["over_bound"] < 0.5 else ""
                switch = name.startswith("switch")
                lines.append(
                    (
                        rate_words(place[0]),
                        f"{place[1] / 1e6:.0f}",
                        CASES[name],
                        digits(r["time_ms"], 0),
                        over,
                        whole(r["resent_packets"]) if switch else "",
                        digits(r["switch_cpu_ms"], 0) if switch else "",
                        percent(r["cpu"]),
                    )
                )
    return table(
        ("link", "MB", "case", "ms", "over the link", "sent again", "switch, CPU ms a sum", "processors busy"),
        lines,
        results["exchange"],
        hosts(results),
    )


def exchange_rates(results):
    rows = exchange_rows(results)
    size = min(place[1] for place in places(results))
    rates = sorted({(r["rate_bits"], rate) for (rate, at, _), r in rows.items() if at == size})
    lines = [
        (
            CASES[name],
            *(digits(rows[rate, size, name]["time_ms"], 0) if (rate, size, name) in rows else "" for _, rate in rates),
        )
        for name in CURVE
        if any(at == name for _, _, at in rows)
    ]
    return table(
        (f"{size / 1e6:.0f} MB", *(rate_words(rate) for _, rate in rates)), lines, results["exchange"], hosts(results)
    )


LOOPBACK_CASES = {
    "ring-tcp": "ring, TCP",
    "direct-tcp": "direct, TCP",
    "ring-memory": "ring, shared memory",
    "direct-memory": "direct, shared memory",
    "ring-tcp-dense": "ring, TCP, `dense`",
    "direct-tcp-dense": "direct, TCP, `dense`",
    "ring-memory-dense": "ring, shared memory, `dense`",
    "direct-memory-dense": "direct, shared memory, `dense`",
    "gloo": "Gloo, ring",
    "openmpi-tcp": "Open MPI, TCP",
    "openmpi-memory": "Open MPI, shared memory",
}


def loopback_table(results, wanted, unit, scale, about, benchmark="loopback"):
    """Times of the sizes that `wanted` takes, with how many times as fast as Open MPI's memory."""
    rows = results[benchmark]["results"]["results"]
    sizes = sorted({r["size"] for r in rows if wanted(r["size"])})
    found = {(r["name"], r["size"]): r for r in rows}
    lines = []
    for name, words in LOOPBACK_CASES.items():
        cells = []
        for size in sizes:
            r = found.get((name, size))
            peer = r["faster_than_openmpi_memory"] if r else None
            ratio = f" ({times(peer)})" if peer and name != "openmpi-memory" else ""
            cells.append(f"{digits(r['time_ms'] * scale, 1)}{ratio}" if r else "")
        if any(cells):
            lines.append((words, *cells))
    heads = (f"{size / 1e6:.0f} MB" if size >= 1e6 else f"{size} bytes" for size in sizes)
    return table((unit, *heads), lines, results[benchmark], about)


def loopback(results):
    ranks = results["loopback"]["results"]["ranks"]
    return loopback_table(
        results,
        lambda size: size >= 1e6,
        "ms",
        1,
        f"{ranks} ranks of one host, without NICs; medians. In brackets: how many times as fast as Open MPI over shared"
        " memory. `dense`: real gradients at 2^-10, compressed by the ranks.",
    )


def loopback_small(results):
    ranks = results["loopback"]["results"]["ranks"]
    return loopback_table(
        results,
        lambda size: size < 1e6,
        "us",
        1000,
        f"{ranks} ranks of one host; medians of 1000 sums in each round. "
        "In brackets: against Open MPI over shared memory.",
    )


def loopback_busy(results):
    found = results["loopback-busy"]["results"]
    return loopback_table(
        results,
        lambda size: True,
        "us",
        1000,
        f"{found['ranks']} ranks of one host, beside {found['busy']} programs that compute all the time; medians. "
        "In brackets: against Open MPI over shared memory.",
        "loopback-busy",
    )


MPIS = {"openmpi": "Open MPI", "mpich": "MPICH"}


def mpi_rows(results, program):
    """MPI's own times and the preload's, by size and MPI, as a program found them."""
    rows = results["mpi"]["results"]["results"]
    found = {(r["mpi"], r["size"]): r for r in rows if r.get("program") == program and not r.get("link")}
    lines = []
    sizes = sorted({size for _, size in found})
    names = [name for name in MPIS if any((name, size) in found for size in sizes)]
    for size in sizes[:: 2 if program else 1]:  # these programs double the size each time
        cells = []
        for name in names:
            row = found.get((name, size))
            cells += [digits(row["mpi_us"], 1), f"{digits(row['preload_us'], 1)} ({times(row['faster'])})"] if row else ["", ""]
        lines.append((size, *cells))
    return names, lines


def mpi_table(results, program, about):
    names, lines = mpi_rows(results, program)
    heads = [f"{MPIS[name]}, us: {what}" for name in names for what in ("its own", "preload")]
    return table(("bytes", *heads), lines, results["mpi"], about)


def mpi(results):
    """The preload beside MPI's own allreduce."""
    return mpi_table(
        results,
        None,
        "4 ranks that share memory, float, not compressed. Medians of the slowest rank, in turns. In brackets: how many"
        " times as fast as MPI's own.",
    )


def mpi_imb(results):
    return mpi_table(results, "IMB", "IMB-MPI1's Allreduce, unmodified: mean of the ranks; medians of three runs each, in turns.")


def mpi_osu(results):
    return mpi_table(results, "OSU", "OSU's `osu_allreduce`, unmodified: mean of the ranks; medians of three runs each, in turns.")


def mpi_links(results):
    """Four hosts, compressed."""
    rows = [r for r in results["mpi"]["results"]["results"] if r.get("link")]
    return table(
        ("bytes", "MPICH, ms", "preload at 2^-10, ms", "times as fast"),
        [(r["size"], digits(r["mpi_us"] / 1e3, 1), digits(r["preload_us"] / 1e3, 1), times(r["faster"])) for r in rows],
        results["mpi"],
        "4 hosts (namespaces) on links of 1 Gbit/s; real gradients; `GRADNIC_BOUND=2^-10`, `GRADNIC_ALGORITHM=direct`."
        " Medians of the slowest rank, in turns.",
    )


def switch_core(results):
    lines = []
    for r in results["switch-core"]["results"]["results"]:
        lines.append(
            (
                r["format"],
                r["packet_values"],
                r["size"],
                digits(r["datagram_bytes"], 0),
                digits(r["plain_values_per_second"] * 4 / 1e9, 1),
                digits(r["add_values_per_second"] * 4 / 1e9, 1),
                digits(r["add_share"]),
                digits(r["all_values_per_second"] * 4 / 1e9, 1),
                digits(r["all_share"]),
                digits(r["add_ns_per_packet"], 0),
            )
        )
    return table(
        (
            "format",
            "values",
            "size",
            "datagram, bytes",
            "plain addition, GB/s",
            "add, GB/s",
            "share",
            "all, GB/s",
            "share",
            "ns a packet (add)",
        ),
        lines,
        results["switch-core"],
        "GB are values of 4 bytes, whatever they were compressed to. A share is the plain addition's time over the"
        " core's.",
    )


def switch_core_short(results, values=256):
    """Packets of one size only, for a page that does not need all."""
    found = {
        (r["format"], r["size"]): r
        for r in results["switch-core"]["results"]["results"]
        if r["packet_values"] == values
    }
    lines = [
        (
            ("int32" if r["format"] == "int32" else f"`{r['format']}`")
            + f", from {'a cache' if size == 'cache' else size}",
            digits(r["plain_values_per_second"] * 4 / 1e9, 1),
            digits(r["add_values_per_second"] * 4 / 1e9, 1),
            digits(r["add_share"]),
        )
        for (_, size), r in found.items()
    ]
    return table(
        (f"packets of {values} values", "plain addition, GB/s", "add, GB/s", "share"),
        lines,
        results["switch-core"],
        "One thread, 4 workers, real gradients at 2^-10. GB are values of 4 bytes, whatever they were compressed to.",
    )


def loss(results):
    found = results["loss"]["results"]
    lines = [
        (
            {"int32": "uncompressed", "dense": "`dense`"}[r["format"]],
            r["loss"].replace("%", " %"),
            times(r["inflation"]),
            whole(r["packets"]),
            whole(r["lost_up"]),
            whole(r["lost_down"]),
            whole(r["resent"]),
            whole(r["expected_resent"]),
            whole(r["duplicates"]),
            whole(r["results_again"]),
        )
        for r in sorted(found["results"], key=lambda r: (r["format"] != "int32", float(r["loss"].rstrip("%"))))
    ]
    return table(
        (
            "format",
            "lost",
            "time, x no loss",
            "packets up",
            "lost up",
            "lost down",
            "sent again",
            "4 x up + down",
            "already added",
            "results again",
        ),
        lines,
        results["loss"],
        f"{found['results'][0]['size'] / 1e6:.0f} MB, {found['workers']} workers, links of {rate_words(found['rate'])}."
        " Packets are those of all workers and one sum.",
    )


def estimate(results):
    """What `gradnic estimate` expects where the benchmark exchange measured."""
    measured = exchange_rows(results)
    ways = {"ring": "ring", "ring-nic": "ring-dense-fill", "switch": "switch", "switch-dense": "switch-dense"}
    names = {f"{row['rate_bits']:g}": row["rate"] for row in measured.values()}
    rows = []
    for row in results["estimate"]["results"]["beside"]["rates"]:
        rate = names.get(f"{row['bits_per_s']:g}")
        expected = {w["way"]: w["seconds"] * 1e3 for w in row["ways"]}
        found = {way: measured.get((rate, 25000000, case)) for way, case in ways.items()}
        if all(found.values()):
            rows.append(
                (rate_words(rate), *(f"{expected[way]:.0f} / {found[way]['time_ms']:.0f} ms" for way in ways))
            )
    return table(
        ("links", *(CASES[case] for case in ways.values())),
        rows,
        results["exchange"],
        "Expected / measured, 25 MB over 4 hosts that share two cores (`--cores 0.5`).",
    )


TABLES = {
    "estimate": estimate,
    "nic": nic,
    "nic-claims": nic_claims,
    "exchange": exchange,
    "exchange-profiles": exchange_profiles,
    "exchange-cuts": exchange_cuts,
    "exchange-switch": exchange_switch,
    "exchange-rates": exchange_rates,
    "loopback": loopback,
    "loopback-small": loopback_small,
    "loopback-busy": loopback_busy,
    "mpi": mpi,
    "mpi-imb": mpi_imb,
    "mpi-osu": mpi_osu,
    "mpi-links": mpi_links,
    "switch-core": switch_core,
    "switch-core-256": switch_core_short,
    "loss": loss,
}
