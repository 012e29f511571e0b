# SPDX-License-Identifier: Apache-2.0
"""Runs gradnic for the figures. What is asked for twice is run once."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


class Failed(Exception):
    """A command failed: its last line."""


class Run:
    def __init__(self, full, quiet):
        self.full, self.quiet = full, quiet
        self.seeds = [1, 2, 3] if full else [1]
        self.commands = []  # of the figure that is made
        self._program = os.environ.get("GRADNIC", "gradnic")
        self._known = {}
        self._folder = tempfile.TemporaryDirectory(prefix="gradnic-figures-")
        self.folder = pathlib.Path(self._folder.name)

    def json(self, *arguments):
        """What `gradnic ARGUMENTS --json` says."""
        words = [str(word) for word in arguments]
        self._note("gradnic " + " ".join(word.replace(str(self.folder), "OUT") for word in words))
        known = self._known.get(tuple(words))
        if known is None:
            known = self._known[tuple(words)] = self._ask([words[0], "--json", "-q", *words[1:]])
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
        for folder in (HERE.parent / "tests/data", HERE.parent / "data"):
            if (folder / "digits-train-images-idx3-ubyte.gz").exists():
                return folder
        raise Failed("the digits that gradnic trains on are not there; install gradnic again")

    def say(self, text):
        if not self.quiet:
            print(text, file=sys.stderr, flush=True)

    def _note(self, command):
        if command not in self.commands:
            self.commands.append(command)

    def _ask(self, words):
        done = subprocess.run([self._program, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False)
        if done.returncode:
            raise Failed((done.stderr.strip().splitlines() or ["gradnic failed and said nothing"])[-1])
        return json.loads(done.stdout)
