#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""install: the application, boards' designs with the NIC in them, and what becomes of edits.

Usage: boards.py [CHECKOUT]

Without a checkout: on a small tree that has what install looks for. With one, which is changed:
every variant that Corundum has. Each file must be there, and config.tcl is run with the parts of
Vivado and Quartus left out. Then Icarus elaborates the core of one board, of its Makefile's files.
"""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import tool
from tool import files_of

TOOL = pathlib.Path(__file__).resolve().parents[3] / "rtl/corundum/install"
run = functools.partial(tool.run, TOOL)
NAMES = ("tdata", "tkeep", "tvalid", "tready", "tlast", "tid", "tdest", "tuser")
COMPLETIONS = ("cpl_ts", "cpl_tag", "cpl_valid", "cpl_ready")
WANTED = {"APP_ID": "32'h474E0001", "APP_ENABLE": "1", "APP_CTRL_ENABLE": "1", "APP_AXIS_IF_ENABLE": "1"}
BENCH = "VERILOG_SOURCES += ../../rtl/mqnic_app_block.v\nexport PARAM_APP_ID := 1\n"
ELABORATED = "Alveo/fpga_100g/fpga_AU50"  # 100 Gbit/s: 512 bits, two NICs


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def names(root):
    return [line.split()[0] for line in run(root, "--boards").splitlines()]


def small_tree(root):
    """A checkout with one board, in the shape that install looks for."""
    block = ("parameter APP_ID = 32'h12340001\nif (APP_ID != 32'h12340001) $error(\"expected 32'h12340001\");\n"
             "axil_ram #(\n)\nram (\n);\n")
    for way in ("tx", "rx"):
        for name in NAMES + (COMPLETIONS if way == "tx" else ()):
            to, of = ("s", "m") if name.endswith("ready") else ("m", "s")
            block += f"assign {to}_axis_if_{way}_{name} = {of}_axis_if_{way}_{name};\n"
    template = root / "fpga/app/template"
    write(template / "rtl/mqnic_app_block.v", block)
    (template / "lib").symlink_to("../../lib")
    write(template / "modules/mqnic_app_template/main.c", "writes to the register ID\n")
    write(template / "utils/app-template-test.c", "the same\n")
    write(template / "tb/mqnic_core_pcie_us/Makefile", BENCH)
    write(template / "tb/mqnic_core_pcie_us/sim_build/sim.vvp", "")
    makefile = ("FPGA_TOP = fpga\nSYN_FILES = rtl/fpga.v\n"
                "SYN_FILES += rtl/common/core.v\nSYN_FILES += lib/axis/rtl/fifo.v\n")
    config = "".join(f'dict set params {name} "0"\n' for name in WANTED) + 'dict set params APP_ENABLE_NOT "0"\n'
    board = root / "fpga/mqnic/Board/fpga_100g"
    for name in ("fpga", "fpga_axi", "fpga_app", "fpga_odd", "fpga_twice"):
        write(board / name / "Makefile", makefile)
        write(board / name / "config.tcl", config)
    write(board / "fpga_axi/Makefile", makefile + "SYN_FILES += rtl/common/mqnic_core_axi.v\n")
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
        clean = files_of(root)
        listed = names(root)
        assert listed == [f"Board/fpga_100g/{name}" for name in ("fpga", "fpga_axi", "fpga_odd", "fpga_twice")], listed
        assert re.findall(r"^(\S+)  \(no PCIe\)$", run(root, "--boards"), re.M) == listed[1:2]
        refused(root, "none", "no such variant")
        refused(root, "fpga_app", "an application already")
        refused(root, "fpga_odd", "no SYN_FILES of rtl/common")
        refused(root, "fpga_twice", "APP_ENABLE 2 times")
        assert files_of(root) == clean, "made, though the board was refused"

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
        assert names(root) == listed, "a copy is no variant"
        edits(root, copy)
        removal(root, clean)
        settings(root)
        read_only(root, board)
        reader_leaves(root)
        unknown_template(root)
        other_things(root, board)


def edits(root, copy):
    """Another board comes beside. What somebody has edited is not replaced without a word."""
    app, first = root / "fpga/app/gradnic", files_of(root)
    assert not (app / "modules").exists() and not (app / "utils").exists(), "they write where the registers are"
    write(app / "note.txt", "mine\n")
    run(root, "--board", "Board/fpga_100g/fpga_axi")
    (app / "note.txt").unlink()  # it is still there
    more = files_of(root)
    assert first.items() < more.items() and len(more) == len(first) + 2, "more than another board has changed"
    block, config, note = app / "rtl/mqnic_app_block.v", copy / "config.tcl", app / "note.txt"
    made = block.read_text()
    write(block, made + "# mine\n")
    shutil.rmtree(root / "fpga/mqnic/Board/fpga_100g/fpga_axi_gradnic")
    said = run(root, "--board", "Board/fpga_100g/fpga_axi")  # a board alone
    assert f"{app} stays as it is" in said and block.read_text() == made + "# mine\n", said
    assert files_of(root).keys() == more.keys()
    write(block, made)
    for file in (block, config):
        write(file, file.read_text() + "# mine\n")
    write(note, "mine\n")
    write(app / "tb/mqnic_core_pcie_us/results.xml", "of a bench, and not missed\n")
    edited = files_of(root)
    for words in (("--board", "Board/fpga_100g/fpga"), ("--remove",)):
        said = run(root, *words, status=1)
        assert "--force" in said and all(str(file) in said for file in (block, config, note)), said
        assert len(said.splitlines()) == 4 and files_of(root) == edited, said
    said = run(root, "--board", "Board/fpga_100g/fpga", "--force")
    assert all(f"{file}: replaced" in said for file in (block, config)) and f"{note}: removed" in said, said
    assert files_of(root) == more


def removal(root, clean):
    write(root / "fpga/mqnic/Board/fpga_100g/own_gradnic/Makefile", "SYN_FILES = somebody's own\n")
    own = root / "fpga/mqnic/Board/fpga_100g/fpga_odd_gradnic/Makefile"
    write(own, "SYN_FILES = somebody's own\n")
    run(root, "--remove")
    left = files_of(root)
    assert own.is_file() and clean.items() < left.items() and len(left) == len(clean) + 2, left.keys() ^ clean.keys()
    assert "nothing to remove" in run(root, "--remove")
    shutil.rmtree(own.parent)
    shutil.rmtree(own.parent.with_name("own_gradnic"))


def settings(root):
    block = root / "fpga/app/gradnic/rtl/mqnic_app_block.v"
    for wrong in ("LANES=3", "PROFILES=0", "RULES=13", "BUFFER_LOG2=12", "FLOWS_LOG2=2", "DEPTH=", "DEPTH=1", "LANES"):
        assert f"'{wrong}'" in run(root, "--set", wrong, status=2), wrong
    assert "do not go together" in run(root, "--set", "LANES=1", "--remove", status=2)
    assert not block.exists()
    run(root, "--set", "LANES=4", "--set", "FLOWS_LOG2=0")
    assert ".AXIL_ADDR_WIDTH(AXIL_APP_CTRL_ADDR_WIDTH),\n    .LANES(4),\n    .FLOWS_LOG2(0)\n)" in block.read_text()
    made = block.read_text()
    run(root, "--board", "Board/fpga_100g/fpga")
    assert block.read_text() == made, "another board has changed the settings"
    write(block, made + "// mine\n")
    assert str(block) in run(root, "--set", "LANES=2", status=1)
    write(block, made)
    said = run(root, "--set", "LANES=2")  # nobody's edits get lost
    assert ".LANES(2),\n    .FLOWS_LOG2(0)\n" in block.read_text() and "replaced" not in said, said
    run(root, "--set", "LANES=")
    assert ".AXIL_ADDR_WIDTH(AXIL_APP_CTRL_ADDR_WIDTH),\n    .FLOWS_LOG2(0)\n" in block.read_text()
    assert "NAME= alone returns it to its default" in " ".join(run("--help").split())


def unknown_template(root):
    """Nothing is made, and what was there stays."""
    write(root / "fpga/app/template/tb/other/Makefile", "VERILOG_SOURCES += ../../rtl/other.v\n")
    before = files_of(root)
    said = run(root, "--board", "Board/fpga_100g/fpga", "--force", status=1)
    assert "template/tb/other/Makefile does not list mqnic_app_block.v" in said, said
    assert files_of(root) == before
    run(root, "--remove", "--force")
    assert not (root / "fpga/app/gradnic").exists()


def other_things(root, board):
    """Links and files where folders would be put, and what cannot be read."""
    app, copy, elsewhere = root / "fpga/app/gradnic", board / "fpga_gradnic", root / "elsewhere"
    makefile = root / "fpga/app/template/tb/other/Makefile"
    makefile.unlink()
    makefile.mkdir()
    assert "Makefile: Is a directory" in tool.refused(TOOL, root)
    makefile.rmdir()
    elsewhere.mkdir()
    for there in (app, copy):
        there.symlink_to(elsewhere)
        said = tool.refused(TOOL, root, "--board", "Board/fpga_100g/fpga", "--force")
        assert f"{there} is a symbolic link, to {elsewhere}" in said and there.is_symlink(), said
        there.unlink()
        write(there, "somebody's own\n")
        said = tool.refused(TOOL, root, "--board", "Board/fpga_100g/fpga", "--force")
        assert f"{there} is no folder" in said and there.is_file(), said
        there.unlink()
    assert not app.exists()


def read_only(root, board):
    """A checkout that somebody else may write: all of it is changed, or nothing."""
    app, template = root / "fpga/app/gradnic", root / "fpga/app/template"
    own = [path for path in [template, *template.rglob("*")] if not path.is_symlink()]
    for path in reversed(own):
        path.chmod(path.stat().st_mode & ~0o222)
    run(root, "--board", "Board/fpga_100g/fpga")
    assert app.is_dir() and os.access(app / "rtl/mqnic_app_block.v", os.W_OK)
    assert not list((root / "fpga").glob(".gradnic-*")), "something is left"
    for path in own:
        path.chmod(path.stat().st_mode | 0o200)
    if os.geteuid():  # root may write everywhere
        before = files_of(root)
        board.chmod(0o555)
        for words in (("--set", "LANES=4", "--board", "Board/fpga_100g/fpga_axi"), ("--remove",)):
            assert "Permission denied" in run(root, *words, status=1)
            assert files_of(root) == before, "half of it was done"
        board.chmod(0o755)
    run(root, "--remove")


def reader_leaves(root):
    """As with `install --boards | head -1`."""
    command = [sys.executable, TOOL, root, "--boards"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as made:
        made.stdout.close()
        assert made.stderr.read() == b"" and made.wait(60) == 0


def parameters(variant):
    """Those that config.tcl gives the design. Whatever is the tools' own does nothing."""
    wanted = " ".join(WANTED)
    script = ("proc unknown args {}\nproc exec args {}\nsource config.tcl\n"
              f"foreach name {{{wanted}}} {{puts \"$name [dict get $params $name]\"}}\n")
    done = subprocess.run(["tclsh"], input=script, cwd=variant, capture_output=True, text=True, timeout=60, check=False)
    return dict(line.split(" ", 1) for line in done.stdout.splitlines() if line.split(" ")[0] in WANTED)


def elaborate(root, wanted):
    """The core behind PCIe, of the Makefile's files but for those with pins and MACs. Its NIC has
    the parameters that are wanted."""
    variant = root / "fpga/mqnic" / f"{ELABORATED}_gradnic"
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
        text = made.read_text()
        assert '"gradnic" "gn_corundum_app"' in text, "the core has no NIC in it"
        scope = text.split('"gradnic" "gn_corundum_app"')[1].split(" .scope ")[0]
        values = {name: int(value, 2) for name, value in re.findall(r'^P_.*"(\w+)".*\+C4<0*([01]+)>;$', scope, re.M)}
        assert {name: values.get(name) for name in wanted} == wanted, values


def checkout(root):
    run(root, "--remove", "--force")  # if the checkout was used
    clean = files_of(root)
    listed = names(root)
    assert len(listed) > 50, listed
    given = {"LANES": 4, "RULES": 12, "PROFILES": 4, "BUFFER_LOG2": 9, "FLOWS_LOG2": 0}
    run(root, "--board", ELABORATED, *(word for name, value in given.items() for word in ("--set", f"{name}={value}")))
    elaborate(root, given)
    run(root, "--remove")
    assert files_of(root) == clean, "--remove leaves something, or took something away"
    run(root, *(word for name in listed for word in ("--board", name)))
    run(root, "--board", ELABORATED)
    for name in listed:
        copy = root / "fpga/mqnic" / f"{name}_gradnic"
        missing = [file for file in re.findall(r"^SYN_FILES \+?= (.*)", (copy / "Makefile").read_text(), re.M)
                   if not (copy.parent / file).is_file()]
        assert not missing, (name, missing)
        assert parameters(copy) == WANTED, (name, parameters(copy))
    elaborate(root, {"LANES": 2, "RULES": 4, "PROFILES": 7, "BUFFER_LOG2": 10, "FLOWS_LOG2": 11})
    print(f"{len(listed)} variants of boards with the NIC; the core of {ELABORATED} elaborated")


if len(sys.argv) > 1:
    checkout(pathlib.Path(sys.argv[1]))
else:
    own_tree()
