#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""install --board: boards' designs with the NIC in them.

Usage: boards.py [CHECKOUT]

Without a checkout: on a small tree that has what install looks for. With one, which is changed:
every variant that Corundum has. Each file must be there, and config.tcl is run with the parts of
Vivado and Quartus left out. Then Icarus elaborates the core of one board, of its Makefile's files.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).resolve().parents[3] / "rtl/corundum/install"
NAMES = ("tdata", "tkeep", "tvalid", "tready", "tlast", "tid", "tdest", "tuser")
COMPLETIONS = ("cpl_ts", "cpl_tag", "cpl_valid", "cpl_ready")
WANTED = {"APP_ID": "32'h474E0001", "APP_ENABLE": "1", "APP_CTRL_ENABLE": "1", "APP_AXIS_IF_ENABLE": "1"}
ELABORATED = "Alveo/fpga_100g/fpga_AU50"  # 100 Gbit/s: 512 bits, two NICs


def run(*words, status=0):
    command = [sys.executable, TOOL, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == status, (words, done)
    return done.stdout if status == 0 else done.stderr


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def small_tree(root):
    """A checkout with one board, in the shape that install looks for."""
    block = ("parameter APP_ID = 32'h12340001\nif (APP_ID != 32'h12340001) $error(\"expected 32'h12340001\");\n"
             "axil_ram #(\n)\nram (\n);\n")
    for way in ("tx", "rx"):
        for name in NAMES + (COMPLETIONS if way == "tx" else ()):
            to, of = ("s", "m") if name.endswith("ready") else ("m", "s")
            block += f"assign {to}_axis_if_{way}_{name} = {of}_axis_if_{way}_{name};\n"
    write(root / "fpga/app/template/rtl/mqnic_app_block.v", block)
    makefile = ("FPGA_TOP = fpga\nSYN_FILES = rtl/fpga.v\n"
                "SYN_FILES += rtl/common/core.v\nSYN_FILES += lib/axis/rtl/fifo.v\n")
    config = "".join(f'dict set params {name} "0"\n' for name in WANTED) + 'dict set params APP_ENABLE_NOT "0"\n'
    board = root / "fpga/mqnic/Board/fpga_100g"
    for name in ("fpga", "fpga_app", "fpga_odd", "fpga_twice"):
        write(board / name / "Makefile", makefile)
        write(board / name / "config.tcl", config)
    write(board / "fpga_app/Makefile", makefile + "SYN_FILES += app/dma_bench/rtl/dma_bench.v\n")
    write(board / "fpga_odd/Makefile", "SYN_FILES = rtl/fpga.v\n")
    write(board / "fpga_twice/config.tcl", config + 'dict set params APP_ENABLE "1"\n')
    return board


def refused(root, name, reason, *words):
    said = run(root, "--board", f"Board/fpga_100g/{name}", *words, status=1)
    assert said.startswith(f"install: Board/fpga_100g/{name}: ") and reason in said, said


def own_tree():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        board = small_tree(root)
        listed = run(root, "--boards").split()
        assert listed == [f"Board/fpga_100g/{name}" for name in ("fpga", "fpga_odd", "fpga_twice")], listed
        refused(root, "none", "no such variant")
        refused(root, "fpga_app", "an application already")
        refused(root, "fpga_odd", "no SYN_FILES of rtl/common")
        refused(root, "fpga_twice", "APP_ENABLE 2 times")
        assert not (root / "fpga/app/gradnic").exists(), "made, though the board was refused"

        run(root, "--board", "Board/fpga_100g/fpga")
        app, copy = root / "fpga/app/gradnic/rtl", board / "fpga_gradnic"
        files = re.findall(r"^SYN_FILES \+?= (.*)", (copy / "Makefile").read_text(), re.M)
        assert files[:3] == ["rtl/fpga.v", "rtl/common/core.v", "app/gradnic/rtl/mqnic_app_block.v"], files
        assert files[-1] == "lib/axis/rtl/fifo.v", files
        copied = [root / "fpga" / name for name in files if name.startswith("app/")]
        assert all(file.is_file() for file in copied) and len(copied) == len(list(app.rglob("*.v"))), files
        assert not any("`include" in file.read_text() for file in copied), "a header would have to be found"
        config = (copy / "config.tcl").read_text()
        assert config == "".join(f'dict set params {name} "{value}"\n' for name, value in WANTED.items()) + \
            'dict set params APP_ENABLE_NOT "0"\n', config
        assert run(root, "--boards").split() == listed, "a copy is no variant"
        assert "exists; --force" in run(root, "--board", "Board/fpga_100g/fpga", status=1)
        write(copy / "config.tcl", "")
        run(root, "--board", "Board/fpga_100g/fpga", "--force")
        assert (copy / "config.tcl").read_text() == config


def parameters(variant):
    """Those that config.tcl gives the design. Whatever is the tools' own does nothing."""
    wanted = " ".join(WANTED)
    script = ("proc unknown args {}\nproc exec args {}\nsource config.tcl\n"
              f"foreach name {{{wanted}}} {{puts \"$name [dict get $params $name]\"}}\n")
    done = subprocess.run(["tclsh"], input=script, cwd=variant, capture_output=True, text=True, timeout=60, check=False)
    return dict(line.split(" ", 1) for line in done.stdout.splitlines() if line.split(" ")[0] in WANTED)


def elaborate(variant):
    """The core behind PCIe, of the Makefile's files but for those with pins and MACs."""
    files = re.findall(r"^SYN_FILES \+?= (.*)", (variant / "Makefile").read_text(), re.M)
    pins = re.compile(r"/(fpga(_core)?|cmac_gty\w*|debounce_switch|sync_signal)\.v$")
    files = [f"../{name}" for name in files if not pins.search(name)]
    top = "mqnic_core_pcie_us"
    given = {"APP_ENABLE": 1, "APP_ID": 0x474E0001, "AXIS_PCIE_DATA_WIDTH": 512, "AXIS_ETH_DATA_WIDTH": 512}
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "core"
        words = [f"-P{top}.{name}={value}" for name, value in given.items()]
        subprocess.run(["iverilog", "-g2005-sv", "-o", made, "-s", top, *words, *files],
                       cwd=variant, check=True, capture_output=True, timeout=300)
        assert "gn_nic_lanes" in made.read_text(), "the core has no NIC in it"


def checkout(root):
    names = run(root, "--boards").split()
    assert len(names) > 50, names
    run(root, "--force", *(word for name in names for word in ("--board", name)))
    for name in names:
        copy = root / "fpga/mqnic" / f"{name}_gradnic"
        missing = [file for file in re.findall(r"^SYN_FILES \+?= (.*)", (copy / "Makefile").read_text(), re.M)
                   if not (copy.parent / file).is_file()]
        assert not missing, (name, missing)
        assert parameters(copy) == WANTED, (name, parameters(copy))
    elaborate(root / "fpga/mqnic" / f"{ELABORATED}_gradnic")
    print(f"{len(names)} variants of boards with the NIC; the core of {ELABORATED} elaborated")


if len(sys.argv) > 1:
    checkout(pathlib.Path(sys.argv[1]))
else:
    own_tree()
