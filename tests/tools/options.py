#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Options mean the same in every command: reads --help of all commands, and tries the old names.

docs/cli.md has every command and every option.
"""
import os
import re
import subprocess
import sys

GRADNIC = os.environ["GRADNIC"]
# Commands that are in no table of commands.
HIDDEN = [["nic", "status"], ["nic", "stats"], ["nic", "set"],
          ["switch", "status"], ["switch", "jobs"], ["switch", "stats"], ["switch", "end"]]

# What an option means that several commands have: words that its help has in each of them.
MEANING = {
    "against": "other compressors to compare with",
    "aggregator-weights": "results go back with ToS 0",
    "algorithm": "ring, worker-aggregator",
    "bound": r"error bounds? 2\^-K",
    "buffer": "receive buffer",
    "bypass": "compress nothing",
    "check-config": "check the file of --config",
    "config": "read options from a file",
    "cast": "make float64 values beyond float32 infinite",
    "control": "control socket",
    "cut": "how segments become packets",
    "data": "folder with MNIST's four files",
    "delay": "delay of the links?",
    "device": "TUN device of the NIC",
    "duplicate": "send packets twice with this probability",
    "engine": "what transforms packets",
    "force": "overwrite existing files",
    "format": "format of (FILE|the files)",
    "group-offload": "who compresses within a group",
    "groups": "who is a group",
    "guard": "leave flows alone that",
    "input": "gradients to send",
    "interface": "network interface",
    "jitter": "by how much the delay varies",
    "json": r"print results as JSON; with =FILE write them there",
    "kernel": "codec kernels?",
    "layout": "how values lie",
    "list": "list the (tensors of the files|figures)",
    "listen": "where this (NIC|switch|doctor) listens",
    "log": "form of the log",
    "log-level": "log up to this level",
    "log-time": "begin each line of the log with the time",
    "loss": "lose packets with this probability",
    "memory": "bytes of values in the layout memory",
    "metrics": "serve all counters over HTTP",
    "mtu": "MTU of the wire",
    "no-shared-memory": "ranks of one host exchange over TCP",
    "no-offload": "one packet at a time between kernel and",
    "offload": "who compresses",
    "openmetrics": "OpenMetrics text",
    "output": "(output file|folder for the results|the page)",
    "pcap-wire": "capture the wire's packets",
    "port": "TCP port",
    "profile": "dense",
    "quick": "(20 steps|one seed)",
    "prometheus": "Prometheus text",
    "quiet": "print errors and what was asked for, nothing else",
    "rank": "number of this rank",
    "ranks": "start so many ranks on this machine",
    "rate": "speed of (the|every|the modelled) links?",
    "rendezvous": "where the ranks meet",
    "reorder": "hold packets back with this probability",
    "reorder-delay": "how long packets are held back",
    "rounds": "results are medians of N rounds",
    "rule": "which packets are compressed, and how",
    "scale": "the bound is relative to",
    "secret": "file with the secret",
    "seed": "seed of the random numbers",
    "size": "bytes of (gradients to send|one gradient)",
    "slots": "slots of the switch",
    "steps": "steps of (the|each) training",
    "switch": "this rank's gradnic switch",
    "switch-channels": "independent parts of a vector",
    "switch-half": "vectors that travel in 16 bits",
    "switch-nic": "the NIC of this host compresses",
    "switch-rto": "least time after which a packet is sent again",
    "switch-slots": "most packets of a channel on their way",
    "switch-values": "values of a packet",
    "threads": "threads; 0 is one per processor",
    "tensor": "only the tensors with this name",
    "time": "a plain number is seconds",
    "timeout": "deadline of every wait",
    "tos": "type of service of the gradients' packets",
    "user": "user to run as",
    "verbose": "log more",
    "values": "values of a packet",
    "workers": "number of workers",
    "world-size": "number of all ranks",
}

# The one option of each letter; bench allreduce has letters of nccl-tests instead.
LETTERS = {"a": "address", "c": "control", "d": "device", "f": "force", "i": "input", "j": "threads", "k": "bound",
           "l": "listen", "m": "mtu", "N": "ranks", "n": "count", "o": "output", "P": "peer", "p": "profile",
           "q": "quiet", "r": "rounds", "t": "time", "u": "user", "v": "verbose"}
NCCL = {"b": "begin", "e": "end", "f": "factor", "n": "iterations", "w": "warmup", "c": "check"}

# Commands that measure something have --json[=FILE]. The demo leaves its results in a folder.
MEASURE = [
    "compress", "decompress", "ratio", "estimate", "doctor", "pcap", "train", "sim net", "sim nic", "bench codec", "bench allreduce",
    "bench switch", "bench nic", "nic status", "nic stats", "switch status", "switch jobs", "switch stats",
]
# Commands that write files, other than results in --json=FILE.
WRITE = ["compress", "decompress", "pcap", "nic", "train", "sim net", "sim nic", "report", "figures"]

# Each old name, as it is used, and the note about it.
OLD = [
    ("switch --drop 1%", "--drop is now --loss"),
    ("switch --drop in:1%", "--drop is now --loss"),
    ("switch --streams 4", "--streams is now --channels"),
    ("bench allreduce --link 1gbit", "--link is now --rate"),
    ("bench allreduce --latency 1ms", "--latency is now --delay"),
    ("bench allreduce --size 4", "--size is now --world-size"),
    ("train --size 4", "--size is now --world-size"),
    ("train --switch-streams 2", "--switch-streams is now --switch-channels"),
    ("bench allreduce --switch-streams 2", "--switch-streams is now --switch-channels"),
    ("train -d .", "-d is now --data"),
    ("train --json x.json", "--json FILE is now --json=FILE"),
    ("train --json -", "--json FILE is now --json=FILE"),
    ("bench codec --data zero", "--data is now --made"),
    ("bench codec --size cache", "--size is now --layout"),
    ("bench codec --seconds 3", "--seconds is now --time"),
    ("bench codec --repetitions 3", "--repetitions is now --rounds"),
    ("bench codec -o x.json", "--output FILE is now --json=FILE"),
    ("bench codec --output=x.json", "--output FILE is now --json=FILE"),
    ("bench switch -o x.json", "--output FILE is now --json=FILE"),
    ("bench switch --size both", "--size is now --layout"),
    ("bench switch -w 3", "-w is now --workers"),
    ("bench nic -f x.npy", "-f FILE is now -i FILE"),
    ("bench nic --file x.npy", "--file is now --input"),
    ("bench nic -p 7900", "-p is now --port"),
]
# These look like old ones, and are not.
NEW = ["bench nic -f 10.77.0.2", "bench nic -f -i x.npy", "train --json -q", "train --json=x.json", "sim nic --size 4K",
       "bench allreduce -f 2", "train --data .", "bench codec --json x.npy"]

bad = []


def run(*words):
    return subprocess.run([GRADNIC, *words], capture_output=True, text=True, check=False)


def commands(words=()):
    """Every command that has options, as a list of words."""
    text = run(*words, "--help").stdout
    below = re.search(r"^Commands:\n((?:  .*\n)+)", text, re.M)
    if not below:
        return [list(words)]
    return [c for line in below[1].splitlines() for c in commands((*words, line.split()[0]))]


def options(words):
    """letter, long name, argument, help of each option."""
    text = run(*words, "--help").stdout.split("\n  -?, --help")[0]
    for line in text.splitlines():
        if len(line) > 79 and "--rule" not in text[text.index(line) - 120:text.index(line)]:
            bad.append(f"{' '.join(words)}: more than 79 columns: {line}")
    found = re.findall(
        r"^ {2}(?:-(\w), |    )--([\w-]+)(\[?=[^\s].*?\]?)?(?:\s{2,}|\n|$)((?:.*\n?)(?:^ {20,}.*\n?)*)", text, re.M
    )
    return [(letter, name, argument.strip(), " ".join(help.split())) for letter, name, argument, help in found]


def check(words, seen):
    command = " ".join(words)
    names = {}
    for letter, name, argument, text in options(words):
        names[name] = (letter, argument)
        seen.setdefault(name, []).append((command, text))
        letters = {**LETTERS, **NCCL} if command == "bench allreduce" else LETTERS
        if letter and letters.get(letter) != name:
            bad.append(f"{command}: -{letter} is --{name}, elsewhere --{letters.get(letter)}")
        if re.search(r"default", re.sub(r"\(default [^()]*(\([^()]*\)[^()]*)?\)", "", text)):
            bad.append(f"{command}: --{name}: a default is written '(default ...)': {text}")
        if text.endswith(")") and not re.search(r"\(default [^()]*(\([^()]*\)[^()]*)?\)$", text):
            bad.append(f"{command}: --{name}: a default is written '(default ...)': {text}")
    if "quiet" not in names or names["quiet"][0] != "q":
        bad.append(f"{command}: no -q, --quiet")
    if (command in MEASURE) != ("json" in names):
        bad.append(f"{command}: --json")
    if "json" in names and names["json"][1] != "[=FILE]":
        bad.append(f"{command}: --json{names['json'][1]}")
    if (command in WRITE or command in MEASURE) != ("force" in names):
        bad.append(f"{command}: --force")
    if "force" in names and (names["force"][0] == "f") == (command == "bench allreduce"):
        bad.append(f"{command}: -f")


def main():
    seen = {}
    every = commands() + HIDDEN
    if len(every) < 20:
        bad.append(f"only {len(every)} commands")
    for words in every:
        if words != ["report"]:
            check(words, seen)
    for name, uses in sorted(seen.items()):
        if len(uses) > 1 and name not in MEANING:
            bad.append(f"--{name} is in {len(uses)} commands: say in MEANING what it means")
        for command, text in uses:
            if name in MEANING and not re.search(MEANING[name], text):
                bad.append(f"{command}: --{name}: not '{MEANING[name]}': {text}")
    for name in sorted(MEANING.keys() - seen.keys()):
        bad.append(f"no command has --{name}")
    with open(os.path.join(os.environ["SOURCE"], "docs/cli.md"), encoding="utf-8") as page:
        text = page.read()
    for words in every:
        if not re.search(rf"`[^`]*\b{words[-1]}\b[^`]*`", text):
            bad.append(f"docs/cli.md has no {' '.join(words)}")
    for name in sorted(seen):
        if not re.search(rf"--{name}(?![\w-])", text):
            bad.append(f"docs/cli.md has no --{name}")
    for use, note in OLD:
        p = run(*use.split(), "--help")
        command = " ".join(w for w in use.split()[:2] if not w.startswith("-"))
        if p.returncode or p.stderr != f"gradnic {command}: {note}\n":
            bad.append(f"gradnic {use}: status {p.returncode}, stderr {p.stderr!r}, not '{note}'")
        if re.search(rf"{re.escape(note.split()[0])}[ =]", p.stdout.split("\n\n")[1]) and not re.match(
            r"--(json|data|size)", note
        ):
            bad.append(f"gradnic {use}: --help still has it")
    for use in NEW:
        p = run(*use.split(), "--help")
        if p.returncode or p.stderr:
            bad.append(f"gradnic {use}: status {p.returncode}, stderr {p.stderr!r}")
    print(f"{len(every)} commands, {len(seen)} options, {len(OLD)} old names")
    print(*bad, sep="\n")
    sys.exit(1 if bad else 0)


main()
