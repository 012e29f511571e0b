# SPDX-License-Identifier: Apache-2.0
"""The tests of the C code: what they are made of, which lines they reach, how one is run.

A test runs in a sandbox (sandbox.sh): a program with a fault in it may kill what it finds, fill a
disk, or take every port.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import namedtuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The programs of examples/ itself check their own results, so they are tests and not tested.
FOLDERS = ("cmodel", "net", "host", "ring", "switch", "driver", "tools", "mpi", "examples/train")
# These look at the source, at a whole build, or at the time they take.
LEFT_OUT = re.compile(
    r"^(docs_api|golden_.*|example_documents|tool_(install|circles|prose|exact_results)|"
    r"net_(rate|memory|demo.*|.*_long))$"
)

Test = namedtuple("Test", "name command environment folder labels timeout skipped")


def sources(folder):
    return sorted(str(p.relative_to(ROOT)) for p in (ROOT / folder).glob("**/*.c") if p.name != "engine_rtl.c")


def folder_of(source):
    return next(f for f in FOLDERS if source.startswith(f + "/"))


class Tree:
    """A build: how its objects are compiled, and what its programs are made of. A library that
    tests load, such as mpi's, counts as a program; of several objects of one source the first one
    is changed."""

    def __init__(self, folder):
        self.folder, self.compiled, self.archives, self.programs = folder, {}, {}, {}
        edges = json.loads(subprocess.check_output(["ninja", "-t", "compdb"], cwd=folder, text=True))
        for edge in edges:
            words = shlex.split(edge["command"]) if edge["command"] else []
            if "-c" in words and edge["output"].endswith(".o"):
                source = os.path.relpath(edge["file"], ROOT)
                self.compiled.setdefault(source, []).append((edge["output"], words))
            elif edge["output"].endswith(".a") and words:
                self.archives[edge["output"]] = {w for w in words if w.endswith(".o")}
            elif words[:2] == [":", "&&"] and "-o" in words:
                self.programs[words[words.index("-o") + 1]] = words[2:words.index("&&", 2)]

    def object_of(self, source):
        return self.compiled[source][0][0]

    def compile(self, source, text, out):
        """The object of a changed source; None when the compiler refuses it."""
        words = [w for w in self.compiled[source][0][1] if w != "ccache" and not w.startswith("-W")]
        for option, following in (("-MD", 0), ("-MT", 1), ("-MF", 1)):
            if option in words:
                at = words.index(option)
                del words[at:at + 1 + following]
        changed = out / "changed.c"
        changed.write_text(text)
        words[words.index("-o") + 1] = str(out / "changed.o")
        words[words.index("-c") + 1] = str(changed)
        words[1:1] = ["-w", "-iquote", str((ROOT / source).parent)]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, timeout=300)
        return out / "changed.o" if done.returncode == 0 else None

    def holds(self, program, part):
        words = self.programs[program]
        return part in words or any(part in self.archives.get(w, ()) for w in words)

    def link(self, program, part, changed, out):
        """A program with a changed object in place of its own: an archive's object is not taken
        where another has its names."""
        words = list(self.programs[program])
        place = out / program.replace("/", "_")
        words[words.index("-o") + 1] = str(place)
        if part in words:
            words[words.index(part)] = str(changed)
        else:
            words.insert(next(i for i, w in enumerate(words) if w.endswith(".a")), str(changed))
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{program} with a changed {part}:\n{done.stderr[-2000:]}")
        return place

    def tests(self):
        listed = json.loads(
            subprocess.check_output(["ctest", "--test-dir", str(self.folder), "--show-only=json-v1"], text=True)
        )
        for t in listed["tests"]:
            of = {p["name"]: p["value"] for p in t.get("properties", [])}
            if "command" not in t or LEFT_OUT.match(t["name"]) or "long" in of.get("LABELS", []):
                continue
            yield Test(
                t["name"], t["command"], of.get("ENVIRONMENT", []), of.get("WORKING_DIRECTORY", str(self.folder)),
                of.get("LABELS", []), of.get("TIMEOUT", 120), of.get("SKIP_RETURN_CODE"),
            )

    def programs_of(self, test):
        """What a test may run of this build: scripts get the program from the environment."""
        words = " ".join([*test.command, *test.environment]).replace("=", " ").split()
        return [p for p in self.programs if str(self.folder / p) in words]


def run(test, writable, timeout, programs=(), more=None, log=None):
    """Whether a test passes. `programs`: pairs of a changed program and whose place it takes."""
    environment = {**os.environ, **dict(e.split("=", 1) for e in test.environment if e), **(more or {})}
    for name in ("TMPDIR", "MAKEFLAGS"):
        environment.pop(name, None)
    pairs = [str(w) for pair in programs for w in pair]
    command = ["unshare", "--pid", "--fork", "--mount", "--net", "--ipc", "--kill-child=SIGKILL", "--mount-proc",
               str(pathlib.Path(__file__).with_name("sandbox.sh")), str(writable), *pairs, "--", *test.command]
    with open(log or os.devnull, "wb") as out:
        process = subprocess.Popen(
            command, cwd=test.folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            start_new_session=True,
        )
        try:
            return process.wait(timeout) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            process.kill()
            process.wait()


class Reach:
    """Which tests reach which lines, measured once with gcov, and how long each takes."""

    def __init__(self, tree, path, work):
        self.tree, self.path, self.work = tree, path, work
        self.code = hashlib.sha256(b"".join((ROOT / f).read_bytes() for d in FOLDERS for f in sources(d))).hexdigest()
        known = json.loads(path.read_text()) if path.exists() else {}
        if known.get("code") != self.code:
            known = {"tests": {}, "lines": {}}
        self.tests, self.all_lines = known["tests"], {f: set(lines) for f, lines in known["lines"].items()}

    def measure(self, only, again, with_net, jobs):
        todo = [
            t
            for t in self.tree.tests()
            if re.search(only, t.name)
            and (t.name not in self.tests or again and re.search(again, t.name))
            and (with_net or "net" not in t.labels)
        ]
        if todo:
            print(f"measuring which lines {len(todo)} tests reach", flush=True)
        before = os.umask(0)  # a daemon that has given up root writes where root has written
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for test, entry in zip(todo, pool.map(self.measure_one, todo)):
                self.tests[test.name] = entry
                if not entry["passed"]:
                    print(f"left out, because it fails on the unchanged code: {test.name}", flush=True)
        os.umask(before)
        lines = {f: sorted(lines) for f, lines in self.all_lines.items()}
        self.path.write_text(json.dumps({"code": self.code, "tests": self.tests, "lines": lines}))

    def measure_one(self, test):
        place = pathlib.Path(tempfile.mkdtemp(dir=self.work))
        place.chmod(0o777)
        begin = time.monotonic()
        log = self.path.parent / "logs" / f"{test.name}.log"
        log.parent.mkdir(exist_ok=True)
        passed = run(test, place, test.timeout, more={"GCOV_PREFIX": str(place)}, log=log)
        seconds = time.monotonic() - begin
        lines = self.lines(place)
        shutil.rmtree(place, ignore_errors=True)
        return {"passed": passed, "seconds": round(seconds, 2), "lines": lines}

    def lines(self, place):
        """{file: lines reached} from what a test's processes left."""
        left = []
        for folder in FOLDERS:
            for data in (place / str(self.tree.folder)[1:] / folder).glob("**/*.gcda"):
                data.with_suffix(".gcno").symlink_to(str(data)[len(str(place)):-len("gcda")] + "gcno")
                left.append(str(data))
        if not left:
            return {}
        found = {}
        out = subprocess.run(
            ["gcov", "--json-format", "--stdout", *left], cwd=self.tree.folder, capture_output=True, text=True
        ).stdout
        for line in out.splitlines():
            for f in json.loads(line)["files"]:
                name = os.path.relpath(os.path.join(self.tree.folder, f["file"]), ROOT)
                if name.endswith(".c"):
                    self.all_lines.setdefault(name, set()).update(l["line_number"] for l in f["lines"])
                    found.setdefault(name, set()).update(l["line_number"] for l in f["lines"] if l["count"])
        return {name: sorted(lines) for name, lines in found.items() if lines}

    def lines_of(self, source, text, mutant):
        """Lines that are run when the mutant's code is. None: it is data, any line may use it."""
        known = self.all_lines.get(source, set())
        macro = re.match(r"\s*#\s*define\s+(\w+)", text.splitlines()[mutant.line - 1])
        if macro:
            return {
                n
                for n, line in enumerate(text.splitlines(), 1)
                if n != mutant.line and re.search(rf"\b{macro[1]}\b", line)
            } & known or None
        if mutant.line in known:
            return {mutant.line}
        if text.count("{", 0, mutant.start) == text.count("}", 0, mutant.start):
            return None
        near = [n for n in range(mutant.line - 1, mutant.line - 9, -1) if n in known] or [
            n for n in range(mutant.line, mutant.line + 9) if n in known
        ]
        return set(near[:1]) or None

    def who(self, source, lines):
        """Names of the tests that reach one of these lines. None: of all that reach the file."""
        return [
            n
            for n, t in self.tests.items()
            if t["passed"]
            and (source in t["lines"] if lines is None else not lines.isdisjoint(t["lines"].get(source, ())))
        ]


def need_sandbox():
    probe = ["unshare", "--pid", "--fork", "--mount", "--net", "--kill-child=SIGKILL", "--mount-proc", "true"]
    if os.geteuid() or subprocess.run(probe, capture_output=True).returncode:
        sys.exit("mutate_c: needs root and namespaces, since programs with faults must not run outside a sandbox")
