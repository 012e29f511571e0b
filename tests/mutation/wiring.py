# SPDX-License-Identifier: Apache-2.0
"""Faults between the modules of a Verilog-2001 file: which there are.

A parameter of an instance, or a constant, is one less or one more. Two ports of an instance, of one
direction and width, change places. A port that has no such neighbour gets the opposite. An
instance's reset is left out.
"""
import re
from collections import namedtuple

# name: of a port or parameter; start, end: where its expression is
Named = namedtuple("Named", "name start end")
Instance = namedtuple("Instance", "module parameters ports")

HEAD = re.compile(r"\b(gn_\w+)\s+(?:(#)\s*)?(?=\(|\w+\s*\()")
PORT = re.compile(r"\b(input|output)\s+(?:wire|reg)\s+(\[[^\]]*\])?\s*(\w+)")


def close(code, at):
    """Where the bracket is shut that is opened at this place."""
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] in "([{") - (code[i] in ")]}")
        if depth == 0:
            return i
    raise ValueError("a bracket is not shut")


def named(code, start, end):
    """The .name(expression) between two places."""
    found = []
    while (m := re.compile(r"\.(\w+)\s*\(").search(code, start, end)):
        start = close(code, m.end() - 1)
        found.append(Named(m.group(1), m.end(), start))
    return found


def instances(code):
    for m in HEAD.finditer(code):
        if re.search(r"\bmodule\s+$", code[max(0, m.start() - 20):m.start()]):
            continue
        at, parameters = m.end(), []
        if m.group(2):
            shut = close(code, at)
            parameters, at = named(code, at, shut), shut + 1
        opened = re.compile(r"\s*\w+\s*\(").match(code, at)
        if opened:
            yield Instance(m.group(1), parameters, named(code, opened.end(), close(code, opened.end() - 1)))


def ports(code):
    """{name: (direction, width)} of the module in this text."""
    header = re.search(r"\bmodule\b.*?\);", code, re.S)
    found = PORT.findall(header.group()) if header else []
    return {name: (direction, re.sub(r"\s", "", width)) for direction, width, name in found}


def constants(code):
    """Numbers that a localparam is made of, widths left out."""
    for m in re.finditer(r"\blocalparam\b(?:\s*\[[^\]]*\])?([^;]*);", code):
        for n in re.finditer(r"(?<![\w'\[.])\d+(?![\w'\]])|\b\d+'[bdh][0-9a-fA-F_]+", m.group(1)):
            yield m.start(1) + n.start(), m.start(1) + n.end(), n.group()


def faults(code, text, ports_of):
    """(kind, start, end, new text) of each; ports_of gives what ports() says of a module."""
    for start, end, number in constants(code):
        yield "parameter", start, end, f"({number} + 1)"
        if re.sub(r".*'.", "", number).strip("0"):
            yield "parameter", start, end, f"({number} - 1)"
    for i in instances(code):
        for p in i.parameters:
            value = text[p.start:p.end]
            if value != "0":
                yield "parameter", p.start, p.end, f"({value}) - 1"
            if "WIDTH" not in p.name:  # a bit more, that nobody reads
                yield "parameter", p.start, p.end, f"({value}) + 1"
        kinds = ports_of(i.module)
        wires = [p for p in i.ports if p.name != "clk" and p.start < p.end and p.name in kinds]
        for n, p in enumerate(wires):
            value = text[p.start:p.end]
            if p.name == "rst":
                yield "connection", p.start, p.end, "1'b0"
                continue
            other = next((o for o in wires[n + 1:] if kinds[o.name] == kinds[p.name] and o.name != "rst"), None)
            if other:
                yield "connection", p.start, other.end, text[other.start:other.end] + text[p.end:other.start] + value
            elif kinds[p.name][0] == "input":
                yield "connection", p.start, p.end, f"~({value})"
