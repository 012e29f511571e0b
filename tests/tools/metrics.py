#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks and strangers for the metrics of a daemon.

  metrics.py check FILE           a scrape is strict OpenMetrics or Prometheus text; the header of
                                  an HTTP answer may stand before it
  metrics.py names FILE           the names of the metrics in a scrape, counters with _total
  metrics.py dashboard FILE TABLE LEFT-OUT
                                  all that a dashboard shows is in the table of all metrics, and all
                                  that it does not show is in the list of what was left out
  metrics.py live FILE SCRAPE...  all that a dashboard shows is in one of the scrapes
  metrics.py slow HOST PORT       a client that sends a byte now and then is sent away
  metrics.py crowd HOST PORT      a thousand idle connections keep nobody out
  metrics.py header HOST PORT     a header without end is refused
"""
import fnmatch
import json
import re
import socket
import sys
import time

NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
SAMPLE = re.compile(r'([a-z0-9_]+)\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)+)\} (-?[0-9.]+(?:e[+-]?[0-9]+)?)\Z')
UNITS = ("bytes", "seconds", "ratio")


def fail(text):
    sys.exit("metrics.py: " + text)


def families(text):
    """(name, type, unit, help, samples) of each metric; any mistake ends the program."""
    is_open = text.endswith("# EOF\n")
    lines = text.split("\n")
    if lines.pop():
        fail("the last line has no end")
    if is_open:
        lines.pop()
    found, current, pairs = [], None, set()
    for line in lines:
        if line.startswith("# "):
            kind, name, rest = line[2:].split(" ", 2)
            if kind == "TYPE":
                if any(f["name"] == name for f in found):
                    fail(f"{name}: its type comes twice")
                current = {"name": name, "type": rest, "unit": "", "help": "", "samples": []}
                found.append(current)
            elif not current or current["name"] != name or current["samples"]:
                fail(f"out of place: {line}")
            elif kind in ("UNIT", "HELP"):
                current[kind.lower()] = rest
            else:
                fail(f"no such comment: {line}")
            continue
        match = SAMPLE.match(line)
        if not match or not current:
            fail(f"not a sample: {line}")
        total = "_total" if is_open and current["type"] == "counter" else ""
        if match[1] != current["name"] + total:
            fail(f"not under its type: {line}")
        if current["type"] == "counter" and float(match[3]) < 0:
            fail(f"negative: {line}")
        if (match[1], match[2]) in pairs:
            fail(f"comes twice: {line}")
        pairs.add((match[1], match[2]))
        current["samples"].append(match[2])
    for f in found:
        check_family(f, is_open)
    return found, is_open


def check_family(f, is_open):
    name = f["name"]
    if not NAME.match(name) or not f["samples"] or not f["help"]:
        fail(f"{name}: wrong name, no sample, or no help")
    if f["type"] not in ("counter", "gauge"):
        fail(f"{name}: type {f['type']}: no table knows it")
    if not is_open and (f["type"] == "counter") != name.endswith("_total"):
        fail(f"{name}: _total and the type do not agree")
    if is_open and (name.endswith("_total") or f["unit"] and not name.endswith("_" + f["unit"])):
        fail(f"{name}: unit '{f['unit']}'")
    if is_open and name.rsplit("_", 1)[1] in UNITS and not f["unit"]:
        fail(f"{name}: no unit")


def body(path):
    with open(path, newline="") as file:
        text = file.read()
    return text.split("\r\n\r\n", 1)[1] if text.startswith("HTTP/") else text


def names(path):
    found, is_open = families(body(path))
    return [f["name"] + ("_total" if is_open and f["type"] == "counter" else "") for f in found]


def shown(path):
    """The metrics in a dashboard's expressions."""
    with open(path) as file:
        panels = json.load(file)["panels"]
    found = set()
    for panel in panels:
        if panel["type"] != "row" and not panel.get("targets"):
            fail(f"the panel {panel['title']} shows nothing")
        for target in panel.get("targets", []):
            metrics = re.findall(r"\bgradnic_[a-z0-9_]+", target["expr"])
            if not metrics:
                fail(f"no metric: {target['expr']}")
            found.update(metrics)
    return found


def dashboard(path, table, left_out):
    with open(table) as file:
        known = {m for m in re.findall(r"^\| `(gradnic_[a-z0-9_]+)`", file.read(), re.M)}
    with open(left_out) as file:
        patterns = [line.split()[0] for line in file if line.strip() and not line.startswith("#")]
    used = shown(path)
    if used - known:
        fail(f"the dashboard shows what there is not: {sorted(used - known)}")
    for pattern in patterns:
        if not fnmatch.filter(known - used, pattern):
            fail(f"{pattern} leaves nothing out")
    forgotten = [m for m in sorted(known - used) if not any(fnmatch.fnmatch(m, p) for p in patterns)]
    if forgotten:
        fail(f"neither shown nor left out: {forgotten}")


def live(path, *scrapes):
    there = {name for scrape in scrapes for name in names(scrape)}
    if shown(path) - there:
        fail(f"no scrape has {sorted(shown(path) - there)}")


def connect(host, port):
    return socket.create_connection((host, int(port)), timeout=10)


def ask(host, port):
    got = b""
    with connect(host, port) as s:
        try:
            s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            while piece := s.recv(65536):
                got += piece
        except ConnectionError:
            pass
    return got


def scrape(host, port, patience=0):
    """Seconds until it has an answer. Who does not ask at once may be sent away for others: on a
    busy machine that happens, so it asks again while there is patience."""
    start = time.monotonic()
    while not (got := ask(host, port)) and time.monotonic() - start < patience:
        pass
    if not got.startswith(b"HTTP/1.1 200 ") or b"gradnic" not in got:
        fail(f"no answer: {got[:80]}")
    return time.monotonic() - start


def slow(host, port):
    start = time.monotonic()
    with connect(host, port) as s:
        s.settimeout(0.25)
        s.sendall(b"GET /metrics HTTP/1.1\r\n")
        while time.monotonic() - start < 12:
            try:
                s.sendall(b"X-a: b\r\n")
                if not s.recv(1000):
                    break
            except TimeoutError:
                continue
            except OSError:
                break
            scrape(host, port)
        else:
            fail("a slow client stays")
    print(f"sent away after {time.monotonic() - start:.1f} s")


def idlers(host, port, count):
    idle = []
    for _ in range(count):
        s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        s.setblocking(False)
        try:
            s.connect((host, int(port)))
        except BlockingIOError:
            pass
        idle.append(s)
    return idle


def overrun(host, port):
    """One who has not asked when many others come. It asks soon after.

    On a busy machine that may be too late, so it has several tries."""
    for _ in range(20):
        with connect(host, port) as s:
            idle = idlers(host, port, 60)
            time.sleep(0.003)
            try:
                s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
                got = s.recv(65536)
            except ConnectionError:
                got = b""
        for other in idle:
            other.close()
        if got.startswith(b"HTTP/1.1 200 "):
            return
        time.sleep(0.1)
    fail("who asks soon is sent away for others")


def crowd(host, port):
    overrun(host, port)
    idle = idlers(host, port, 1000)
    took = max(scrape(host, port, patience=4) for _ in range(3))
    if took > 4:
        fail(f"a scrape beside a thousand connections took {took:.1f} s")
    print(f"a scrape took {took:.3f} s")
    for s in idle:
        s.close()


def header(host, port):
    with connect(host, port) as s:
        got = b""
        try:
            s.sendall(b"GET /metrics HTTP/1.1\r\nX: " + b"a" * (1 << 20))
            while piece := s.recv(65536):
                got += piece
        except ConnectionError:
            pass
    if got.startswith(b"HTTP/1.1 200"):
        fail("a header of a megabyte is taken")
    scrape(host, port)


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "check":
        families(body(*rest))
    elif what == "names":
        print("\n".join(names(*rest)))
    else:
        {"slow": slow, "crowd": crowd, "header": header, "dashboard": dashboard, "live": live}[what](*rest)
