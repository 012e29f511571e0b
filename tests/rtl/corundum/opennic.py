#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""opennic/install: a plugin of OpenNIC's shell with the NIC in it.

Usage: opennic.py [--given]

On a small tree that has what install looks for. --given: on the checkout of open-nic-shell that
GRADNIC_OPENNIC names, which is only read. Icarus elaborates its box with the plugin in it, for one
and two interfaces.
"""
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import tool
from tool import files_of

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOOL = ROOT / "rtl/opennic/install"
run = functools.partial(tool.run, TOOL)
SHELL = ROOT / "tests/rtl/cocotb/generic_reset.v"
WINDOWS = {"M01": 0x1000, "M02": 0x2000, "M03": 0x3000, "M04": 0x10000}
# Vivado makes it of the crossbar's script: windows as that says
CROSSBAR = """
module box_250mhz_axi_crossbar (
    input [31:0] s_axi_awaddr, input [2:0] s_axi_awprot, input s_axi_awvalid, output s_axi_awready,
    input [31:0] s_axi_wdata, input [3:0] s_axi_wstrb, input s_axi_wvalid, output s_axi_wready,
    output [1:0] s_axi_bresp, output s_axi_bvalid, input s_axi_bready, input [31:0] s_axi_araddr,
    input [2:0] s_axi_arprot, input s_axi_arvalid, output s_axi_arready, output [31:0] s_axi_rdata,
    output [1:0] s_axi_rresp, output s_axi_rvalid, input s_axi_rready, output [{n}*32-1:0] m_axi_awaddr,
    output [{n}*3-1:0] m_axi_awprot, output [{n}-1:0] m_axi_awvalid, input [{n}-1:0] m_axi_awready,
    output [{n}*32-1:0] m_axi_wdata, output [{n}*4-1:0] m_axi_wstrb, output [{n}-1:0] m_axi_wvalid,
    input [{n}-1:0] m_axi_wready, input [{n}*2-1:0] m_axi_bresp, input [{n}-1:0] m_axi_bvalid,
    output [{n}-1:0] m_axi_bready, output [{n}*32-1:0] m_axi_araddr, output [{n}*3-1:0] m_axi_arprot,
    output [{n}-1:0] m_axi_arvalid, input [{n}-1:0] m_axi_arready, input [{n}*32-1:0] m_axi_rdata,
    input [{n}*2-1:0] m_axi_rresp, input [{n}-1:0] m_axi_rvalid, output [{n}-1:0] m_axi_rready, input aclk,
    input aresetn);
endmodule
"""


def small_tree(root):
    """What install looks for, in the shell's shape."""
    box = root / "plugin/p2p/box_250mhz"
    box.mkdir(parents=True)
    names = ("Ingress of port 0", "Egress of port 0", "Ingress of port 1", "Egress of port 1", "Dummy")
    (box / "box_250mhz_address_map.v").write_text("".join(f"//   0x0000   |  0x007F   |  {name}\n" for name in names)
                                                  + "  localparam C_SIZE = 32'h80;\n"
                                                  "  localparam C_DUMMY_BASE_ADDR = 32'h1000;\n")
    at = "_A00_BASE_ADDR {0x%016x}%s\n"
    script = "    CONFIG.M01" + at % (0x80, "")
    script += "".join(f"    CONFIG.M0{n}_A00_ADDR_WIDTH {{7}}\n" for n in range(4))
    for name, place in (("M02", 0x100), ("M03", 0x180), ("M04", 0x1000), ("M02", 0x1000)):
        script += f"    set_property CONFIG.{name}" + at % (place, " [get_ips $x]")
    (box / "box_250mhz_axi_crossbar.tcl").write_text(script)
    (box / "box_250mhz_address_map_inst.vh").write_text("// map\n")
    (box / "user_plugin_250mhz_inst.vh").write_text("p2p_250mhz #(\n  .NUM_QDMA    (NUM_QDMA)\n) p2p_250mhz_inst ();\n")


def looks_right(plugin):
    box = plugin / "box_250mhz"
    script = (box / "box_250mhz_axi_crossbar.tcl").read_text()
    found = {(name, int(place, 16)) for name, place in re.findall(r"CONFIG\.(M\d\d)_A00_BASE_ADDR \{(0x\w+)\}", script)}
    assert found == {*WINDOWS.items(), ("M02", 0x10000)}, found  # with one interface the third is the unused one
    widths = re.findall(r"_A00_ADDR_WIDTH \{(\d+)\}", script)
    assert set(widths) == {"12"} and len(widths) >= 4, widths
    addresses = (box / "box_250mhz_address_map.v").read_text()
    assert "C_SIZE = 32'h1000;" in addresses and "C_DUMMY_BASE_ADDR = 32'h10000;" in addresses
    listed = re.findall(r"^ +(gradnic/\S+\.v)$", (plugin / "build_box_250mhz.tcl").read_text(), re.M)
    there = {str(file.relative_to(plugin)) for file in plugin.glob("gradnic/**/*.v")}
    assert set(listed) == there and len(listed) > 40, (listed, there)
    assert not any("`include" in (plugin / file).read_text() for file in listed), "a header would have to be found"
    return listed


def settings(root, plugin):
    """The next install keeps them, and one without edits needs no --force."""
    instance = plugin / "box_250mhz/user_plugin_250mhz_inst.vh"
    first = files_of(plugin)
    run(root, plugin)
    assert files_of(plugin) == first
    said = run(root, plugin, "--set", "LANES=1", "--set", "BUFFER_LOG2=9")
    given = instance.read_text()
    assert "gn_opennic_plugin #(\n  .LANES       (1),\n  .BUFFER_LOG2 (9),\n" in given, given
    assert "LANES 1, BUFFER_LOG2 9" in said and "replaced" not in said, said
    for words in ((), ("--set", "BUFFER_LOG2=9"), ("--force",)):
        run(root, plugin, *words)
        assert instance.read_text() == given
    run(root, plugin, "--set", "LANES=")
    assert "gn_opennic_plugin #(\n  .BUFFER_LOG2 (9),\n" in instance.read_text()
    assert "NAME= alone returns it to its default" in " ".join(run("--help").split())


def edits(root, plugin):
    """What somebody has edited or added does not go without a word."""
    instance, box = plugin / "box_250mhz/user_plugin_250mhz_inst.vh", plugin / "build_box_322mhz.tcl"
    made = files_of(plugin)
    instance.write_text(instance.read_text() + "// mine\n")
    box.write_text("# mine\n")
    edited = files_of(plugin)
    for words in ((), ("--set", "LANES=4")):
        said = run(root, plugin, *words, status=1)
        assert "--force" in said and f"{instance}: replaced" in said and f"{box}: removed" in said, said
        assert len(said.splitlines()) == 3 and files_of(plugin) == edited, said
    said = run(root, plugin, "--force")
    assert f"{instance}: replaced" in said and f"{box}: removed" in said and files_of(plugin) == made, said
    box.write_text("# mine\n")
    run(root, plugin)  # nothing to do, and so it stays
    assert box.is_file()
    assert f"{box}: removed" in run(root, plugin, "--set", "LANES=4", status=1)
    box.unlink()
    assert not list(root.glob(".nic.*")), "a folder made aside is left"


def paths(root, plugin):
    for path in ("/dev/null/x", "/proc/x/plug"):
        assert f"{path} cannot be made: " in tool.refused(TOOL, root, path)
    for name in ("a b", "a{b", "a$b", "a[b]", "a;b", "a\\b", "a\nb", "\u00e4"):
        assert "do not take such a path" in tool.refused(TOOL, root, root / name) and not (root / name).exists()
    link = root / "link"
    for target in (plugin, root / "nothing"):
        link.symlink_to(target)
        said = tool.refused(TOOL, root, link, "--force")
        assert f"{link} is a symbolic link, to {target}" in said and link.is_symlink(), said
        link.unlink()
    link.write_text("somebody's own\n")
    assert "is no folder" in tool.refused(TOOL, root, link, "--force") and link.is_file()


def refusals(root, plugin):
    assert "LANES may be 1, 2, 4" in run(root, plugin, "--set", "LANES=3", status=2)
    assert "BUFFER_LOG2 may be 9, 10, 11" in run(root, plugin, "--set", "BUFFER_LOG2=8", status=2)
    assert "the parameters are LANES" in run(root, plugin, "--set", "COLOUR=3", status=2)
    assert "no checkout of open-nic-shell" in run(plugin, root / "x", status=1)
    (root / "mine").mkdir()
    assert "left alone" in run(root, root / "mine", "--force", status=1)
    (root / "plugin/p2p/box_250mhz/box_250mhz_axi_crossbar.tcl").write_text("")
    assert "this shell is not known" in run(root, root / "other", status=1) and not (root / "other").exists()


def elaborate(checkout, plugin, listed, interfaces, folder):
    """The shell's box with the plugin in it."""
    crossbar = folder / "crossbar.v"
    crossbar.write_text(CROSSBAR.format(n=2 * interfaces + 1))
    made = folder / "box"
    utility = ("axi_lite_slave.sv", "axi_lite_register.sv")
    words = ["iverilog", "-g2012", "-o", made, "-s", "box_250mhz", f"-Pbox_250mhz.NUM_PHYS_FUNC={interfaces}",
             f"-Pbox_250mhz.NUM_CMAC_PORT={interfaces}", f"-I{plugin / 'box_250mhz'}", f"-I{checkout / 'src'}",
             checkout / "src/box_250mhz/box_250mhz.sv", plugin / "box_250mhz/box_250mhz_address_map.v", crossbar, SHELL,
             *(checkout / "src/utility" / file for file in utility), *(plugin / file for file in listed)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    text = made.read_text()
    assert text.count('"gn_opennic_box"') == interfaces and '"gn_nic_lanes"' in text, "each interface has one NIC"


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if sys.argv[1:] == ["--given"]:
            if not os.environ.get("GRADNIC_OPENNIC"):
                print("opennic: GRADNIC_OPENNIC names no checkout of open-nic-shell: SKIPPED")
                sys.exit(77)
            checkout, plugin = pathlib.Path(os.environ["GRADNIC_OPENNIC"]), folder / "plugin"
            run(checkout, plugin)
            for interfaces in (1, 2):
                elaborate(checkout, plugin, looks_right(plugin), interfaces, folder)
            print("the shell's box elaborated with the NIC, for one and two interfaces")
        else:
            small_tree(folder)
            run(folder, folder / "nic")
            looks_right(folder / "nic")
            settings(folder, folder / "nic")
            edits(folder, folder / "nic")
            paths(folder, folder / "nic")
            refusals(folder, folder / "nic")
            print("install: makes a plugin, and refuses what it does not know")


main()
