#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the benches in cocotb and Icarus: run.py BENCH [WIDTH] [--seed N] [--quick].

Verilator 5.006, which Debian 12 has, does not get through a register's answer with cocotb 1.9.
GRADNIC_MODEL names the C model's library. The folder --build has what is made.
"""
import argparse
import os
import pathlib
import sys

from cocotb.runner import get_runner

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "rtl"))

from filelist import RTL, sources  # noqa: E402

# top module, its list, what stands around it for the bench, its parameter for the width
BENCHES = {"corundum_app": ("gn_corundum_app", "gn_corundum_app.f", [], "AXIS_IF_DATA_WIDTH"),
           "opennic_box": ("opennic_pins", "gn_opennic_box.f", ["opennic_pins.v"], None),
           "opennic_plugin": ("opennic_plugin_pins", "gn_opennic_plugin.f",
                              ["opennic_plugin_pins.v", "generic_reset.v"], None),
           "plain": ("plain_pins", "gn_nic_lanes.f", ["plain_pins.v"], "DATA_WIDTH")}


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("bench", choices=BENCHES)
    options.add_argument("width", nargs="?", type=int, default=512, choices=[64, 128, 256, 512])
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--quick", action="store_true", help="with a third of the frames")
    options.add_argument("--build", default="build/rtl/cocotb")
    chosen = options.parse_args()
    top, listed, around, width = BENCHES[chosen.bench]
    files, folders = sources(listed)
    place = pathlib.Path(chosen.build).resolve() / f"{chosen.bench}-{chosen.width}{'-quick' * chosen.quick}"
    if chosen.quick:
        os.environ["GN_QUICK"] = "1"
    runner = get_runner("icarus")
    runner.build(verilog_sources=[RTL / name for name in files] + [HERE / name for name in around],
                 includes=[RTL / name for name in folders], hdl_toplevel=top, build_dir=place,
                 parameters={width: chosen.width} if width else {}, build_args=["-g2001"], timescale=("1ns", "1ps"))
    os.environ["PYTHONPATH"] = f"{HERE}:{os.environ.get('PYTHONPATH', '')}"
    results = runner.test(hdl_toplevel=top, test_module=f"test_{chosen.bench}", build_dir=place, seed=chosen.seed,
                          results_xml=str(place / "results.xml"))
    text = pathlib.Path(results).read_text()
    sys.exit("<failure" in text or "<error" in text or "<testcase" not in text)


main()
