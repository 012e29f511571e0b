#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutation testing of the C code: breaks it in one small way at a time, and runs the tests that
reach the place.

    tests/mutation/mutate_c.py --count 25 --seed 1            25 mutants of every folder
    tests/mutation/mutate_c.py --folder net --net             all of net/; tests in namespaces too
    tests/mutation/mutate_c.py --file ring/turn.c --kind lock
    tests/mutation/mutate_c.py --report                       what is known so far

It makes builds of its own in build/mutants and build/mutants-coverage. The second one shows which
tests reach which lines. The fastest tests run first, and the first failure ends a mutant. A test
that takes too long has failed. A mutant with the same object code as the original is equivalent.
So is one that c_survivors.csv explains. A survivor is also given to the tests built with
sanitizers, if they are there: a lock to build/tsan, any other to build/asan.

Results are kept, and not worked out again while a file's text stays the same. So a run can be
stopped, and goes on where it was. --again judges survivors once more. Exit status 1 when less
than --least percent are killed in a folder.
"""
import argparse
import collections
import csv
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import c_mutants
import c_tests
import mutants
from c_tests import FOLDERS, ROOT
from verdicts import Verdicts

KEPT = pathlib.Path(__file__).with_name("c_survivors.csv")


def built(name, flags, link="", shared=""):
    folder = ROOT / "build" / name
    if not (folder / "build.ninja").exists():
        command(
            [
                "cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                "-DGRADNIC_RTL=OFF", "-DGRADNIC_BENCH=OFF", f"-DCMAKE_C_FLAGS_RELEASE={flags}",
                f"-DCMAKE_EXE_LINKER_FLAGS={link}", f"-DCMAKE_SHARED_LINKER_FLAGS={shared}",
            ]
        )
    command(["cmake", "--build", str(folder)])
    return c_tests.Tree(folder)


def built_for_coverage():
    ending = ROOT / "build/mutants/gcov_exit.o"
    command(["cc", "-O1", "-c", str(pathlib.Path(__file__).with_name("gcov_exit.c")), "-o", str(ending)])
    return built(
        "mutants-coverage", "-O1 -w --coverage -fprofile-update=single", f"--coverage -Wl,--wrap=_exit {ending}",
        "--coverage",
    )


def command(words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"mutate_c: {' '.join(words)}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


class Judge:
    def __init__(self, tree, reach, work, args):
        self.tree, self.reach, self.work, self.args = tree, reach, work, args
        self.tests = {t.name: t for t in tree.tests()}
        self.programs = {name: tree.programs_of(t) for name, t in self.tests.items()}
        self.sanitized = {
            name: c_tests.Tree(ROOT / "build" / name)
            for name in ("asan", "tsan")
            if (ROOT / "build" / name / "build.ninja").exists()
        }
        self.lock, self.originals, self.killers = threading.Lock(), {}, collections.Counter()
        self.steady, self.files = {}, collections.defaultdict(threading.Lock)

    def original(self, source, out):
        with self.files[source]:
            if source not in self.originals:
                made = self.tree.compile(source, (ROOT / source).read_text(), out)
                if made is None:
                    raise RuntimeError(f"{source} does not compile")
                self.originals[source] = made.read_bytes()
        return self.originals[source]

    def chain(self, source, text, m):
        """Tests that reach the place: those that killed others in this file, then the fastest."""
        part = self.tree.object_of(source)
        lines = self.reach.lines_of(source, text, m)
        found = []
        # A process that is killed does not say what it reached: then all tests of the file.
        for name in self.reach.who(source, lines) or self.reach.who(source, None):
            if name in self.tests and (self.args.net or "net" not in self.tests[name].labels):
                changed = [p for p in self.programs[name] if self.tree.holds(p, part)]
                if changed:
                    found.append((name, changed))
        seconds = lambda name: self.reach.tests[name]["seconds"]
        found.sort(key=lambda f: seconds(f[0]))
        first = [f for f in found if self.killers[source, f[0]]]
        first.sort(key=lambda f: seconds(f[0]) / self.killers[source, f[0]])
        chosen, spent = [], 0.0
        for f in [*first, *(f for f in found if f not in first)]:
            spent += seconds(f[0])
            if chosen and spent > self.args.seconds:
                break
            chosen.append(f)
        return chosen, len(found)

    def verdict(self, source, text, m):
        """(verdict, by whom)"""
        with tempfile.TemporaryDirectory(dir=self.work) as place:
            out = pathlib.Path(place)
            out.chmod(0o777)
            before = self.original(source, out)
            changed = self.tree.compile(source, mutants.apply(text, m), out)
            if changed is None:
                return "refused", ""
            if changed.read_bytes() == before:
                return "equivalent", "same object"
            chain, all_of_them = self.chain(source, text, m)
            if not chain:
                return "survived", "no test reaches its file"
            linked = {}
            for name, programs in chain:
                for p in programs:
                    if p not in linked:
                        linked[p] = self.tree.link(p, self.tree.object_of(source), changed, out)
                test, pairs = self.tests[name], [(linked[p], self.tree.folder / p) for p in programs]
                if not c_tests.run(test, out, min(test.timeout, 15 + 6 * self.reach.tests[name]["seconds"]), pairs):
                    with self.lock:
                        self.killers[source, name] += 1
                    return "killed", name
            by = self.sanitizers_say(source, text, m, out, [name for name, _ in chain])
            if by:
                return "killed", by
            return "survived", f"{len(chain)} of {all_of_them} tests"

    def is_steady(self, which, test, out, timeout):
        """Whether the unchanged test passes there."""
        with self.files[which, test.name]:
            if (which, test.name) not in self.steady:
                self.steady[which, test.name] = c_tests.run(test, out, timeout)
        return self.steady[which, test.name]

    def sanitizers_say(self, source, text, m, out, names):
        """The first test that fails in a build with sanitizers: locks in that for threads."""
        which = "tsan" if m.kind == "lock" else "asan"
        tree = self.sanitized.get(which)
        changed = tree and tree.compile(source, mutants.apply(text, m), out)
        if not changed:
            return None
        part, linked = tree.object_of(source), {}
        tests = {t.name: t for t in tree.tests() if which == "asan" or "threads" in t.labels}
        for name in [n for n in names if n in tests]:
            programs = [p for p in tree.programs_of(tests[name]) if tree.holds(p, part) and (tree.folder / p).exists()]
            for p in programs:
                if p not in linked:
                    linked[p] = tree.link(p, part, changed, out)
            timeout = min(3 * tests[name].timeout, 60 + 30 * self.reach.tests[name]["seconds"])
            if programs and not c_tests.run(
                tests[name], out, timeout, [(linked[p], tree.folder / p) for p in programs]
            ):
                if self.is_steady(which, tests[name], out, timeout):
                    return f"{name}, {which}"
        return None


def explained():
    """What c_survivors.csv says: {(file, code, kind, old, new, which): verdict}"""
    with open(KEPT, newline="") as f:
        return {
            (r["file"], r["code"], r["kind"], r["old"], r["new"], int(r["which"])): r["verdict"]
            for r in csv.DictReader(f)
        }


def report(verdicts, chosen, csv_path):
    """Prints a table and the survivors; returns the smallest share of kills in a folder."""
    kept, rows, survivors = explained(), collections.defaultdict(collections.Counter), []
    for source, text, m in chosen:
        r = verdicts.get((source, text, m))
        if r and r["verdict"] == "survived":
            place = c_mutants.place(text, m)
            if kept.get((source, *place)) == "equivalent":
                r = {"verdict": "equivalent"}
            else:
                survivors.append((source, m, r["by"], place))
        if r:
            rows[c_tests.folder_of(source)][r["verdict"]] += 1
    scores = {}
    print(f"{'folder':14} {'tried':>6} {'killed':>7} {'survived':>9} {'equivalent':>11} {'refused':>8} {'score':>8}")
    rows["all"] = sum(rows.values(), collections.Counter())
    for folder in [*(f for f in FOLDERS if f in rows), "all"]:
        c = rows[folder]
        counted = c["killed"] + c["survived"]
        scores[folder] = 100 * c["killed"] / counted if counted else 100.0
        print(
            f"{folder:14} {sum(c.values()):6} {c['killed']:7} {c['survived']:9} {c['equivalent']:11} {c['refused']:8} "
            f"{scores[folder]:6.1f} %"
        )
    for source, m, by, _ in survivors:
        print(f"survived: {source}:{m.line}: {m.kind}: {m.old!r} -> {m.new!r} ({by})")
    if csv_path:
        with open(csv_path, "w", newline="") as f:
            out = csv.writer(f, lineterminator="\n")
            out.writerow(["file", "line", "code", "kind", "old", "new", "which", "verdict", "note"])
            for source, m, by, place in survivors:
                out.writerow([source, m.line, *place, "", by])
    return min(scores.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0].replace("\n", " "))
    parser.add_argument(
        "--folder", action="append", choices=FOLDERS, help="only this folder (may be given more than once)"
    )
    parser.add_argument("--file", action="append", help="only this file (may be given more than once)")
    parser.add_argument(
        "--kind", action="append", choices=c_mutants.KINDS, help="only this kind (may be given more than once)"
    )
    parser.add_argument("--count", type=int, help="so many of each folder, chosen at random, each kind in turn")
    parser.add_argument("--seed", type=int, default=1, help="of that choice")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--net", action="store_true", help="tests in network namespaces too")
    parser.add_argument("--seconds", type=float, default=120, help="of tests that one mutant may take; default 120")
    parser.add_argument(
        "--tests", metavar="REGEX", default="", help="measure no others: sooner begun, but others may kill more"
    )
    parser.add_argument("--measure", metavar="REGEX", help="find out anew which lines these tests reach")
    parser.add_argument("--again", action="store_true", help="judge survivors once more")
    parser.add_argument("--least", type=float, default=90, metavar="PERCENT", help="in each folder; default 90")
    parser.add_argument("--report", action="store_true", help="run nothing")
    parser.add_argument("--csv", type=pathlib.Path, help="write the survivors there, as lines for c_survivors.csv")
    args = parser.parse_args()
    if args.count is not None and args.count < 1:
        parser.error(f"--count: {args.count} is less than 1")

    chosen = []
    for folder in args.folder or FOLDERS:
        everything = []
        for source in c_tests.sources(folder):
            if not args.file or source in args.file:
                text = (ROOT / source).read_text()
                everything += [
                    (source, text, m) for m in c_mutants.mutants(text) if not args.kind or m.kind in args.kind
                ]
        chosen += c_mutants.alternately(
            everything, args.count or len(everything), random.Random(f"{args.seed} {folder}")
        )

    base = ROOT / "build/mutants"
    base.mkdir(parents=True, exist_ok=True)
    verdicts = Verdicts(base / "results.jsonl", "file")

    def stop(*_):
        shutil.rmtree(work, ignore_errors=True)
        os._exit(130)

    kept = explained()
    counts = lambda c: kept.get((c[0], *c_mutants.place(c[1], c[2]))) != "equivalent"
    to_do = [
        c for c in chosen if (r := verdicts.get(c)) is None or args.again and r["verdict"] == "survived" and counts(c)
    ]
    print(f"{len(chosen)} mutants chosen, {len(to_do)} to do, seed {args.seed}", flush=True)

    if to_do and not args.report:
        c_tests.need_sandbox()
        work = pathlib.Path(tempfile.mkdtemp(prefix="work-", dir=base))
        work.chmod(0o755)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop)
        try:
            tree = built("mutants", "-O2 -w")
            coverage = built_for_coverage()
            reach = c_tests.Reach(coverage, base / "reach.json", work)
            reach.measure(args.tests, args.measure, args.net, args.jobs)
            judge = Judge(tree, reach, work, args)
            for source in sorted({source for source, _, _ in to_do} - tree.compiled.keys()):
                print(f"left out, because these builds make nothing of it: {source}", flush=True)
            to_do = [c for c in to_do if c[0] in tree.compiled]
            random.Random(args.seed).shuffle(to_do)  # so that a run that is stopped has seen all folders
            verdicts.judge(
                to_do, args.jobs, judge.verdict,
                lambda source, m, r: f"{source}:{m.line}: {m.kind}: {m.old!r} -> {m.new!r}: {r['verdict']} ({r['by']})",
            )
        finally:
            shutil.rmtree(work, ignore_errors=True)

    least = report(verdicts, chosen, args.csv)
    if least < args.least:
        print(f"mutate_c: {least:.1f} % killed in one folder, less than {args.least:g} %")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
