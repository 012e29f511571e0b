#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a function in C++ of the gates that Yosys makes of module `lane`.

The module's registers are wires. The function works on words of many lanes: bit n of each word is
lane n's.

usage: gates.py OUT.h WIRES.v SOURCE.v...
"""
import json
import subprocess
import sys
import tempfile

OPERATIONS = {"$_NOT_": "~{A}", "$_AND_": "{A} & {B}", "$_OR_": "{A} | {B}", "$_XOR_": "{A} ^ {B}", "$_ANDNOT_": "{A} & ~{B}"}


def netlist(wires, sources):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        script = (f"read_verilog {' '.join(sources)}; hierarchy -check -top lane; proc; flatten; opt_clean -purge; techmap -map {wires}; opt -full; "
                  f"select -assert-none t:$*ff* t:$mem*; techmap; opt; abc -g AND,OR,XOR,ANDNOT; opt_clean -purge; write_json {out.name}")
        subprocess.run(["yosys", "-q", "-p", script], check=True)
        return json.load(out)["modules"]["lane"]


def main():
    out, wires, *sources = sys.argv[1:]
    module = netlist(wires, sources)
    names = {"0": "zeros", "1": "ones"}  # of bits
    gates = {}                           # by the bit that they give
    for cell in module["cells"].values():
        pins = {pin: bits[0] for pin, bits in cell["connections"].items()}
        gates[pins.pop("Y")] = (OPERATIONS[cell["type"]], pins)
    lines = []

    def name_of(bit):  # of a bit that is known or can be worked out: its gates before it
        waits = [bit]
        while waits:
            top = waits[-1]
            if top in names:
                waits.pop()
                continue
            operation, pins = gates[top]
            missing = [b for b in pins.values() if b not in names]
            if missing:
                waits += missing
                continue
            lines.append(f"const Word n{top} = {operation.format(**{p: names[b] for p, b in pins.items()})};")
            names[top] = f"n{top}"
            waits.pop()
        return names[bit]

    ports = module["ports"]
    arguments = []
    for port, what in ports.items():
        if port != "clk":
            arguments.append(f"{'const ' if what['direction'] == 'input' else ''}Word *{port}")
        if what["direction"] == "input":
            names.update({bit: f"{port}[{i}]" for i, bit in enumerate(what["bits"])})
    for port, what in ports.items():
        if what["direction"] == "output":
            results = [f"{port}[{i}] = {name_of(bit)};" for i, bit in enumerate(what["bits"])]
            lines += results
    with open(out, "w", encoding="ascii") as header:
        header.write("// Made by gates.py.\n#pragma once\n\n")
        header.write(f"// {len(gates)} gates\ntemplate <class Word> void lane_gates({', '.join(arguments)})\n{{\n")
        header.write("    const Word zeros = {}, ones = ~zeros;\n    (void)zeros, (void)ones;\n")
        header.writelines(f"    {line}\n" for line in lines)
        header.write("}\n")


main()
