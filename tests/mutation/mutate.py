#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutation testing of rtl/: breaks it in one small way at a time, and runs its benches.

It builds the benches that should notice the fault, and runs these.

    tests/mutation/mutate.py --count 200 --seed 1             200 mutants of all modules
    tests/mutation/mutate.py --module gn_quad_pack            all of one module
    tests/mutation/mutate.py --report                         what is known so far

Needs a release build (libgradnic). Results are kept (--results), and not worked out again while a
module's text stays the same. So a run can be stopped, and goes on where it was. Yosys may show that
a mutant which no bench kills is equivalent: then it does not count. Neither does a mutant that
Verilator refuses. Exit status 1 when less than --least percent are killed.
"""
import argparse
import collections
import hashlib
import math
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import mutants
import wiring
from verdicts import Verdicts

ROOT = pathlib.Path(__file__).resolve().parents[2]
RTL, BENCHES = ROOT / "rtl", ROOT / "tests/rtl"
DIRECTORIES = sorted(str(d) for d in RTL.iterdir() if d.is_dir())
VERILATOR = pathlib.Path(subprocess.check_output(["verilator", "--getenv", "VERILATOR_ROOT"], text=True).strip()) / "include"
TIMEOUT = 300  # seconds that a bench may take: a mutant that hangs it is killed
LEAST, TIMES = 10, 15  # ... or at least so many, and so many times what it takes without a mutant

Bench = collections.namedtuple("Bench", "name top parameters definitions verilog sources libraries modules")


def source_of(module):
    return next((pathlib.Path(d) / f"{module}.v" for d in DIRECTORIES if (pathlib.Path(d) / f"{module}.v").exists()), None)


def ports_of(module):
    source = source_of(module)
    return wiring.ports(mutants.blank_comments(source.read_text())) if source else {}


def modules_of(verilog):
    """Modules of rtl/ that these files are made of."""
    found, queue = set(), list(verilog)
    while queue:
        text = mutants.blank_comments(queue.pop().read_text())
        for name in re.findall(r"^\s*(\w+)\s+(?:#\(.*?\)\s*)?\w+\s*\(", text, re.M | re.S):
            if name not in found and source_of(name):
                found.add(name)
                queue.append(source_of(name))
    return found | {v.stem for v in verilog if source_of(v.stem)}


def benches(build):
    """As CMake has written them down (tests/rtl/CMakeLists.txt)."""
    found = []
    for path in sorted((build / "tests/rtl/benches").glob("*")):
        top, parameters, definitions, verilog, sources, libraries = path.read_text().splitlines()
        verilog = [pathlib.Path(v) for v in verilog.split(";")]
        sources = [BENCHES / x for x in sources.split(";")]  # an absolute path stays what it is
        found.append(Bench(path.name, top, [p for p in parameters.split(";") if p],
                           [d for d in definitions.split(";") if d.startswith("GN_")], verilog,
                           [x for x in sources if ".dir/" not in str(x) and x.suffix in (".c", ".cpp")],
                           [x for x in libraries.split(";") if x], modules_of(verilog)))
    if not found:
        sys.exit(f"mutate: no benches in {build}: cmake --preset release")
    return found


def suite(all_benches, module, most):
    """Those that contain the module: its own first, then by size.

    One of each top comes ahead of a second one: it may set other parameters.
    """
    found = sorted((b for b in all_benches if module in b.modules),
                   key=lambda b: (b.top != module, module not in [v.stem for v in b.verilog], len(b.modules), b.name))
    seen, first, later = {module}, [], []
    for b in found:
        (first if b.top == module or b.top not in seen else later).append(b)
        seen.add(b.top)
    return (first + later)[:most]


class Builder:
    """Builds a bench around a changed module.

    What does not change is compiled once: Verilator's library, C sources, a bench whose ports stay
    as they are, files of Verilator's that are as without the mutant.
    """

    def __init__(self, work, build):
        self.work, self.library = work, build / "cmodel/libgradnic.a"
        if not self.library.exists():
            sys.exit(f"mutate: {self.library} is not there: cmake --build --preset release --target gradnic_static")
        self.shared = work / "shared"
        self.shared.mkdir(exist_ok=True)
        self.lock = threading.Lock()
        self.runtime = []
        for name in ("verilated", "verilated_threads"):
            self.runtime.append(str(self.shared / f"{name}.o"))
            run(["g++", "-std=c++17", "-O2", "-w", *INCLUDES, "-c", str(VERILATOR / f"{name}.cpp"), "-o", self.runtime[-1]])
        self.benches = {}
        self.plain = {}     # what Verilator makes of the unchanged hardware: (digest, object)
        self.patience = {}  # seconds, by a bench's name

    def program(self, bench, changed, directory, plain=False):
        """None when Verilator refuses it."""
        out = directory / bench.name
        verilog = [str(changed if v.stem == changed.stem else v) for v in bench.verilog]
        includes = [f"-I{d}" for d in [str(changed.parent), *DIRECTORIES]]
        if run(["verilator", "--cc", "--language", "1364-2001", "-Wno-fatal", "-Wno-lint", "-Wno-style", "--x-assign", "unique", "--x-initial", "unique", "-O3",
                "--top-module", bench.top, "--prefix", f"V{bench.top}", *bench.parameters, *includes, "--Mdir", str(out), *verilog], check=False):
            return None
        program = out / "bench"
        run(["g++", *self.model(bench, out, plain), *self.bench(bench, out), *self.runtime, *bench.libraries,
             str(self.library), *SYSTEM_LIBRARIES, "-o", str(program)])
        return program

    def model(self, bench, out, plain):
        """Objects of the Verilated model: what the mutant left as it was is there already."""
        def compile_(source, to):
            run(["g++", "-std=c++17", "-O1", "-w", f"-I{out}", *INCLUDES, "-c", str(source), "-o", str(to)])
            return str(to)

        headers = b"".join(h.read_bytes() for h in sorted(out.glob("*.h")))
        objects, others = [], []
        for source in sorted(out.glob("*.cpp")):
            digest = hashlib.sha256(headers + source.read_bytes()).digest()
            key = (bench.name, source.name)
            if plain:
                self.plain[key] = (digest, compile_(source, self.shared / f"{bench.name}_{source.name}.o"))
            if self.plain.get(key, ("",))[0] == digest:
                objects.append(self.plain[key][1])
            else:
                others.append(source)
        if others:
            (out / "all.cc").write_text("".join(f'#include "{f.name}"\n' for f in others))
            objects.append(compile_(out / "all.cc", out / "all.o"))
        return objects

    def bench(self, bench, out):
        """The bench's own objects.

        Of the model they know only its ports, but for benches that look inside.
        """
        files = {f for s in bench.sources for f in (s, *s.parent.glob("*.h"))}
        text = "".join(f.read_text() for f in files)
        wanted = {f"V{bench.top}.h", *re.findall(r'#include "(V\w+\.h)"', text)}
        seen = {h.name: h.read_text() for h in out.glob("*.h") if h.name in wanted}
        with self.lock:
            known = (bench.name, *sorted(seen.items()))
            if known not in self.benches:
                headers = self.shared / f"ports_{len(self.benches)}"
                headers.mkdir(exist_ok=True)
                for name, header in seen.items():
                    (headers / name).write_text(header)
                objects = []
                for source in bench.sources:
                    compiler = ["gcc", "-std=c11"] if source.suffix == ".c" else ["g++", "-std=c++17"]
                    objects.append(str(headers / f"{source.stem}.o"))
                    run([*compiler, "-O1", "-w", *[f"-D{d}" for d in bench.definitions], f"-I{headers}", *INCLUDES, "-c", str(source), "-o", objects[-1]])
                self.benches[known] = objects
            return self.benches[known]


INCLUDES = [f"-I{path}" for path in (VERILATOR, VERILATOR / "vltstd", ROOT, ROOT / "cmodel/include",
                                     ROOT / "switch/include", ROOT / "tests")]
SYSTEM_LIBRARIES = ["-ldeflate", "-lsodium", "-lz", "-lpthread", "-latomic"]  # what the libraries of gradnic want, too


def run(command, check=True):
    done = subprocess.run(command, capture_output=True, text=True)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.returncode


def survives(program, timeout=TIMEOUT):
    try:
        return subprocess.run([str(program)], capture_output=True, timeout=timeout).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def equivalent(module, changed, seconds):
    """Whether Yosys shows by induction that module and mutant always give the same."""
    includes = " ".join(f"-I{d}" for d in DIRECTORIES)
    others = " ".join(f for d in DIRECTORIES for f in sorted(str(p) for p in pathlib.Path(d).glob("*.v")) if pathlib.Path(f).stem != module)
    read = f"read_verilog {includes} {others}; read_verilog {includes} {{}}; hierarchy -check -top {module}; proc; flatten; memory_map; opt_clean; rename {module} {{}}; "
    script = "; ".join([
        read.format(source_of(module), "gold") + "design -stash gold", read.format(changed, "gate") + "design -stash gate",
        "design -copy-from gold -as gold gold", "design -copy-from gate -as gate gate", "equiv_make gold gate equiv", "hierarchy -top equiv",
        "opt -full", "equiv_simple -undef", "equiv_induct -undef", "equiv_status -assert"])
    try:
        return subprocess.run(["yosys", "-q", "-p", script], capture_output=True, timeout=seconds).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def judge(builder, chain, module, text, mutant, seconds):
    """(verdict, by whom)"""
    with tempfile.TemporaryDirectory(dir=builder.work) as directory:
        directory = pathlib.Path(directory)
        changed = directory / f"{module}.v"
        changed.write_text(mutants.apply(text, mutant))
        for bench in chain:
            program = builder.program(bench, changed, directory)
            if program is None:
                return "refused", ""
            if not survives(program, builder.patience[bench.name]):
                return "killed", bench.name
        return ("equivalent", "yosys") if seconds and equivalent(module, changed, seconds) else ("survived", "")


def report(verdicts, chosen):
    """Prints a table; returns the share of kills."""
    rows = collections.defaultdict(collections.Counter)
    survivors = []
    for module, text, m in chosen:
        r = verdicts.get((module, text, m))
        if r:
            rows[module][r["verdict"]] += 1
            if r["verdict"] == "survived":
                survivors.append((module, m))
    all_ = collections.Counter()
    print(f"{'module':20} {'tried':>6} {'killed':>7} {'survived':>9} {'equivalent':>11} {'refused':>8} {'score':>7}")
    for module in [*sorted(rows), "all"]:
        c = rows[module] if module != "all" else all_
        all_ = all_ + c if module != "all" else all_
        counted = c["killed"] + c["survived"]
        score = f"{100 * c['killed'] / counted:.1f} %" if counted else "-"
        print(f"{module:20} {sum(c.values()):6} {c['killed']:7} {c['survived']:9} {c['equivalent']:11} {c['refused']:8} {score:>7}")
    for module, m in survivors:
        print(f"survived: {module}.v:{m.line}: {m.kind}: {m.old!r} -> {m.new!r}")
    counted = all_["killed"] + all_["survived"]
    return all_["killed"] / counted if counted else 1.0


def share_of_each(chosen, percent):
    """The first ones of each module, in the order that they have."""
    of_module = collections.defaultdict(list)
    for c in chosen:
        of_module[c[0]].append(c)
    kept = {id(c) for cs in of_module.values() for c in cs[:math.ceil(len(cs) * percent / 100)]}
    return [c for c in chosen if id(c) in kept]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--module", action="append", help="only this module (may be given more than once)")
    parser.add_argument("--kind", action="append",
                        help="only this kind, such as operator, parameter, connection (may be given more than once)")
    parser.add_argument("--count", type=int, help="so many of all mutants, chosen at random")
    parser.add_argument("--share", type=float, metavar="PERCENT",
                        help="so much of each module's mutants, chosen at random")
    parser.add_argument("--seed", type=int, default=1, help="of that choice")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="where libgradnic has been built")
    parser.add_argument("--benches", type=int, default=5, help="at most so many for a module: its own, then the smallest")
    parser.add_argument("--results", type=pathlib.Path, help="default: mutation.jsonl in --build")
    parser.add_argument("--equivalence", type=int, default=60, metavar="SECONDS", help="time for Yosys on a survivor; 0: none")
    parser.add_argument("--least", type=float, default=95, metavar="PERCENT")
    parser.add_argument("--report", action="store_true", help="run nothing")
    args = parser.parse_args()
    if args.count is not None and args.count < 1:
        parser.error(f"--count: {args.count} is less than 1")

    all_benches = benches(args.build)
    chains = {m.stem: suite(all_benches, m.stem, args.benches) for d in DIRECTORIES for m in sorted(pathlib.Path(d).glob("*.v"))}
    for module in args.module or []:
        if not chains.get(module):
            parser.error(f"no bench has a module '{module}'")
    for module in [m for m in chains if not chains[m]]:
        print(f"no bench has {module}: left out")
    modules = args.module or [m for m in chains if chains[m]]
    everything = []
    for module in modules:
        text = source_of(module).read_text()
        everything += [(module, text, m) for m in mutants.mutants(text, ports_of) if m.kind in (args.kind or [m.kind])]
    chosen = everything
    if args.count is not None and args.count < len(everything):
        chosen = random.Random(args.seed).sample(everything, args.count)
    random.Random(args.seed).shuffle(chosen)
    if args.share is not None:
        chosen = share_of_each(chosen, args.share)

    verdicts = Verdicts(args.results or args.build / "mutation.jsonl", "module")
    to_do = [c for c in chosen if verdicts.get(c) is None]
    print(f"{len(everything)} mutants, {len(chosen)} chosen, {len(to_do)} to do", flush=True)

    if to_do and not args.report:
        work = pathlib.Path(tempfile.mkdtemp(prefix="gradnic-mutation-"))
        try:
            builder = Builder(work, args.build.resolve())
            # they must pass as things are
            for bench in [b for b in all_benches if any(b in chains[m] for m in {c[0] for c in to_do})]:
                plain = work / f"plain_{bench.name}"
                plain.mkdir()
                program = builder.program(bench, bench.verilog[-1], plain, plain=True)
                began = time.monotonic()
                if program is None or not survives(program):
                    sys.exit(f"mutate: bench {bench.name} fails on the unchanged hardware")
                builder.patience[bench.name] = min(TIMEOUT, LEAST + TIMES * (time.monotonic() - began))
                shutil.rmtree(plain)
            verdicts.judge(to_do, args.jobs, lambda module, text, m: judge(builder, chains[module], module, text, m, args.equivalence),
                           lambda module, m, r: f"{module}.v:{m.line}: {m.kind}: {m.old!r} -> {m.new!r}: {r['verdict']}")
        except KeyboardInterrupt:
            os._exit(130)
        finally:
            shutil.rmtree(work, ignore_errors=True)

    score = report(verdicts, chosen)
    if 100 * score < args.least:
        print(f"mutate: {100 * score:.1f} % killed, less than {args.least} %")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
