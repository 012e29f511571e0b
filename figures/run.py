# SPDX-License-Identifier: Apache-2.0
"""Runs gradnic for the figures. What is asked for twice is run once."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import daemons
import ending

HERE = pathlib.Path(__file__).resolve().parent


Failed = daemons.Failed  # a command failed: its last line


def _as_json(words):
    """The same command, with options for JSON behind its name."""
    name = 2 if words[0] == "bench" else 1
    return [*words[:name], "--json", "-q", *words[name:]]


class Run:
    def __init__(self, full, quiet, images=None):
        """`images`: a folder of MNIST's four files. None: the digits that come with gradnic."""
        self.full, self.quiet, self.images = full, quiet, images
        self.seeds = [1, 2, 3] if full else [1]
        self.draws = [1, 2, 3]  # seeds of simulations, which draw stragglers, losses and starts
        self.commands = []  # of the figure that is made
        self._program = os.environ.get("GRADNIC", "gradnic")
        self._known = {}
        self._running = []
        self._folder = tempfile.TemporaryDirectory(prefix="gradnic-figures-")
        self.folder = pathlib.Path(self._folder.name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self._running:
            ending.end(process)
        self._folder.cleanup()

    def switch(self, *options):
        """A real switch or parameter server on loopback. Its with-statement gives the address."""
        self._note(" ".join(["gradnic switch", *map(str, options)]))
        return daemons.running(self._program, self.folder, *options)

    def over_switch(self, words, *options):
        """What `gradnic WORDS --switch ...` says, over a switch that is started for it."""
        key = ("switch", *options, *map(str, words))
        self._note("gradnic " + " ".join(map(str, words)) + " --switch HOST:PORT")
        if key not in self._known:
            with self.switch(*options) as address:
                self._known[key] = self._ask(_as_json([*words, "--switch", address]))
        return self._known[key]

    def together(self, commands):
        """What commands say that run at the same time."""
        for words in commands:
            self._note("gradnic " + " ".join(map(str, words)) + " &")
        begun = [self._begin(_as_json(words)) for words in commands]
        ends = [self._await(process) for process in begun]
        return [self._said(*end) for end in ends]

    def json(self, *arguments):
        """What `gradnic ARGUMENTS --json` says."""
        words = [str(word) for word in arguments]
        self._note("gradnic " + " ".join(word.replace(str(self.folder), "OUT") for word in words))
        known = self._known.get(tuple(words))
        if known is None:
            known = self._known[tuple(words)] = self._ask(_as_json(words))
        return known

    def simulate(self, scenario, seed, about):
        """A report of `gradnic sim net`. `about` says in words what the scenario is."""
        text = json.dumps(scenario, indent=1, sort_keys=True)
        self._note(f"gradnic sim net --seed {seed} --json scenario.json  # {about}")
        known = self._known.get((text, seed))
        if known is None:
            path = self.folder / "scenario.json"
            path.write_text(text, encoding="utf-8")
            self.say(f"  {about}, seed {seed}")
            known = self._known[text, seed] = self._ask(["sim", "net", "--seed", seed, "--json", path])
        return known

    def network(self, name):
        """A network's layers (networks/make)."""
        return json.loads((HERE / "networks" / f"{name}.json").read_text(encoding="utf-8"))

    def data(self):
        """The folder of the digits."""
        if self.images:
            return self.images
        for folder in (HERE.parent / "tests/data", HERE.parent / "data"):
            if (folder / "digits-train-images-idx3-ubyte.gz").exists():
                return folder
        raise Failed("the digits that gradnic trains on are not there; install gradnic again")

    def say(self, text):
        if not self.quiet:
            print(text, file=sys.stderr, flush=True)

    def _note(self, command):
        command = re.sub(rf"{re.escape(daemons.ADDRESS)}:\d+", "HOST:PORT", command)  # other ports each time
        if command not in self.commands:
            self.commands.append(command)

    def _ask(self, words):
        return self._said(*self._await(self._begin(words)))

    def _begin(self, words):
        process = ending.begin([self._program, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
        self._running.append(process)
        return process

    def _await(self, process):
        out, errors = process.communicate()
        self._running.remove(process)
        return process.returncode, out, errors

    @staticmethod
    def _said(status, out, errors):
        if status:
            raise Failed((errors.strip().splitlines() or ["gradnic failed and said nothing"])[-1])
        return json.loads(out)
