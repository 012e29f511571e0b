#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the timing diagrams of rtl/README.md, from a simulation of the hardware in Icarus.

  waves.py            writes docs/pictures/source/timing/*.json, for WaveDrom and scripts/figures
  waves.py --check    says which are not what the hardware does, and changes nothing

waves.v has the scenes, and tells of each cycle what all signals are.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
HERE = pathlib.Path(__file__).resolve().parent
FOLDER = ROOT / "docs/pictures/source/timing"
sys.path.insert(0, str(ROOT / "rtl"))

from filelist import RTL, sources  # noqa: E402

ALIKE = 3  # of more cycles that are alike, one is drawn, and a gap
PROFILES = ("paper", "lattice", "dense")


def kept(value):
    """tkeep, as a number of bytes."""
    return f"{int(value, 16).bit_count()} bytes"


def hexadecimal(value):
    return f"0x{int(value, 16):x}"


def as_it_is(value):
    return value


def host_user(value):
    return "bad" if int(value, 16) & 8 else "0"


def setting(value):
    return f"{PROFILES[int(value, 16) & 3]}, {int(value, 16) >> 2 & 0xff}"


def count_and_setting(value):
    return f"{int(value, 16) >> 10}, {setting(value)}"


# A scene: what is above it, and its signals: name in the picture, name in waves.v, how its value is
# written (None: a bit), the bit that says when it counts, and in which beats of a frame.
ALL, FIRST, LAST = "all", "first", "last"


def stream(side, name, *more):
    valid = f"{side}_tvalid"
    return [[f"{name}_tvalid", valid, None, None, ALL], [f"{name}_tready", f"{side}_tready", None, None, ALL],
            [f"{name}_tlast", f"{side}_tlast", None, valid, ALL], [f"{name}_tkeep", f"{side}_tkeep", kept, valid, ALL], *more]


SCENES = {
    "nic": ("gn_nic_port: a frame that leaves, and one that the host calls bad",
            stream("s", "s_axis_host", ["s_axis_host_tuser", "s_tuser", host_user, "s_tvalid", LAST],
                   ["s_axis_host_side", "s_side", hexadecimal, "s_tvalid", LAST]),
            stream("m", "m_axis_wire", ["m_axis_wire_side", "m_side", hexadecimal, "m_tvalid", ALL],
                   ["m_axis_wire_length", "m_length", as_it_is, "m_tvalid", ALL]),
            [["tx_drop_valid", "d_valid", None, None, ALL], ["tx_drop_side", "d_side", hexadecimal, "d_valid", ALL]]),
    "registers": ("gn_nic_regs: MTU is written, then read",
                  [["s_axil_awvalid", "awvalid", None, None, ALL], ["s_axil_awready", "awready", None, None, ALL],
                   ["s_axil_awaddr", "awaddr", hexadecimal, "awvalid", ALL], ["s_axil_wvalid", "wvalid", None, None, ALL],
                   ["s_axil_wready", "wready", None, None, ALL], ["s_axil_wdata", "wdata", hexadecimal, "wvalid", ALL],
                   ["s_axil_bvalid", "bvalid", None, None, ALL], ["s_axil_bresp", "bresp", hexadecimal, "bvalid", ALL]],
                  [["s_axil_arvalid", "arvalid", None, None, ALL], ["s_axil_arready", "arready", None, None, ALL],
                   ["s_axil_araddr", "araddr", hexadecimal, "arvalid", ALL], ["s_axil_rvalid", "rvalid", None, None, ALL],
                   ["s_axil_rdata", "rdata", hexadecimal, "rvalid", ALL], ["s_axil_rresp", "rresp", hexadecimal, "rvalid", ALL]]),
    "compress": ("gn_stream_compress: 11 values become 8 bytes",
                 stream("s", "s_axis", ["s_axis_tuser", "s_tuser", setting, "s_tvalid", FIRST]),
                 stream("m", "m_axis", ["m_axis_tuser", "m_tuser", as_it_is, "m_tvalid", LAST])),
    "decompress": ("gn_stream_decompress: 8 bytes become 11 values",
                   stream("s", "s_axis", ["s_axis_tuser", "s_tuser", count_and_setting, "s_tvalid", FIRST]),
                   stream("m", "m_axis", ["m_axis_tuser", "m_tuser", as_it_is, "m_tvalid", LAST])),
}


def simulate():
    """{scene: [{signal: value} of each cycle]}"""
    files, folders = set(), set()
    for name in ("gn_nic_port.f", "codec.f"):
        listed, included = sources(name)
        files.update(listed)
        folders.update(included)
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/waves.vvp"
        subprocess.run(["iverilog", "-g2001", "-s", "waves", "-o", program, *(f"-I{RTL / name}" for name in sorted(folders)),
                        *(str(RTL / name) for name in sorted(files)), str(HERE / "waves.v")], check=True)
        said = subprocess.run(["vvp", "-n", program], check=True, capture_output=True, text=True, timeout=300).stdout
    cycles = {}
    for line in said.splitlines():
        scene, *values = line.split()
        if scene not in SCENES:
            sys.exit(f"waves: {line}")
        cycles.setdefault(scene, []).append(dict(value.split("=") for value in values))
    if list(cycles) != list(SCENES):
        sys.exit(f"waves: the simulation has the scenes {list(cycles)}")
    return cycles


def beats(cycles, signal, valid):
    """Of each cycle: whether the beat that is offered is a frame's first, and whether its last."""
    side = valid.split("_")[0]
    first, found = True, []
    for cycle in cycles:
        last = cycle.get(f"{side}_tlast") == "1"
        found.append({ALL: True, FIRST: first, LAST: last})
        if cycle[valid] == "1" and cycle.get(f"{side}_tready", "1") == "1":
            first = last
    return found


def row(cycles, signal, form, valid, when):
    """A signal's value in each cycle, as text; None: it does not count."""
    if valid is None:
        return [cycle[signal] for cycle in cycles]
    counts = beats(cycles, signal, valid)
    return [(form or as_it_is)(cycle[signal]) if cycle[valid] == "1" and of[when] else None
            for cycle, of in zip(cycles, counts)]


def wave(values, kept_cycles, bit):
    """WaveDrom's letters and words for a row, of those cycles that are drawn (-1: a gap)."""
    letters, words, before = "", [], ""
    for at in kept_cycles:
        if at < 0:
            letters += "|"
            continue
        value = values[at]
        now = "x" if value is None else value if bit else f"={value}"
        letters += "." if now == before else now[0]
        if now[0] == "=" and now != before:
            words.append(value)
        before = now
    return letters, words


def drawn(rows, count):
    """The cycles that are drawn: of many that are alike, the first one and a gap."""
    chosen, at = [], 0
    while at < count:
        end = at + 1
        while end < count and all(values[end] == values[at] for values in rows):
            end += 1
        chosen += range(at, end) if end - at <= ALIKE else [at, -1, end - 1]
        at = end
    return chosen


def diagram(name, cycles):
    title, *groups = SCENES[name]
    rows = [[row(cycles, *signal[1:]) for signal in group] for group in groups]
    chosen = drawn([values for group in rows for values in group], len(cycles))
    signals = [{"name": "clk", "wave": "p" + "".join("|" if at < 0 else "." for at in chosen[1:])}]
    for group, made in zip(groups, rows):
        signals.append({})
        for (shown, _, form, _, _), values in zip(group, made):
            letters, words = wave(values, chosen, form is None)
            signals.append({"name": shown, "wave": letters, **({"data": words} if words else {})})
    return json.dumps({"head": {"text": title}, "signal": signals}, indent=1) + "\n"


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    stale = 0
    FOLDER.mkdir(exist_ok=True)
    for name, cycles in simulate().items():
        path, text = FOLDER / f"{name}.json", diagram(name, cycles)
        if path.is_file() and path.read_text() == text:
            continue
        if check:
            print(f"{path.relative_to(ROOT)}: not what the hardware does; run {pathlib.Path(__file__).relative_to(ROOT)}")
            stale = 1
        else:
            path.write_text(text)
            print(f"written: {path.relative_to(ROOT)}")
    return stale


sys.exit(main())
