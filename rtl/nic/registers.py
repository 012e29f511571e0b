#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes all tables of the NIC's registers from registers.json.

    rtl/nic/registers.py            writes them
    rtl/nic/registers.py --check    says what is not as registers.json has it, and fails then

| made                                    | of it                                       |
| --------------------------------------- | ------------------------------------------- |
| driver/nic_register_map.h               | addresses, resets, counters, for C and C++  |
| rtl/README.md, between two marks        | the table that people read                  |
| rtl/corundum/nic-regs, between two marks | the same for the tool on a host            |

The Verilog is written by hand. --check compares its addresses; the bench rtl_register_map reads
every address of it.
"""
import json
import pathlib
import re
import sys

RTL = pathlib.Path(__file__).resolve().parents[1]
TABLE = json.loads((RTL / "nic/registers.json").read_text())
BLOCKS = {block["block"]: block for block in TABLE["counters"]}
MARK = "made by nic/registers.py"


def number(text):
    return int(text, 0)


def hexadecimal(value):
    return f"0x{value:03x}"


def rows_macro(name, block):
    """A macro that gives each counter of a block to one of two others."""
    lines = [f'ROW("{r["name"]}", {r["field"]})' if "field" in r else f'OTHER("{r["name"]}")' for r in block["rows"]]
    return "\n".join([f"#define {name}(ROW, OTHER) \\"] + [f"    {line} \\" for line in lines[:-1]] + [f"    {lines[-1]}", ""])


def c_header():
    rules, out = TABLE["rules"], []
    values = [(f"GN_REG_{r['name']}", hexadecimal(number(r["at"]))) for r in TABLE["registers"]]
    values += [("GN_REG_RULES", rules["at"]), ("GN_REG_RULE_STEP", rules["step"]), ("GN_RULE_WORDS", str(len(rules["words"])))]
    values += [("GN_REG_TX", BLOCKS["TX"]["at"]), ("GN_REG_TX_RULES", BLOCKS["TX_RULE"]["at"]),
               ("GN_REG_TX_RULE_STEP", BLOCKS["TX_RULE"]["step"]), ("GN_REG_RX", BLOCKS["RX"]["at"])]
    values += [(f"GN_{name}_REGISTERS", str(len(block["rows"]))) for name, block in BLOCKS.items()]
    # what a register holds after a reset, where that says something
    values += [(f"GN_NIC_{r['name']}", r["reset"].lower()) for r in TABLE["registers"] if number(r.get("reset", "0"))]
    out.append("// SPDX-License-Identifier: Apache-2.0\n"
               "// Made by rtl/nic/registers.py of rtl/nic/registers.json.\n// clang-format off\n"
               "#ifndef GRADNIC_DRIVER_NIC_REGISTER_MAP_H\n#define GRADNIC_DRIVER_NIC_REGISTER_MAP_H\n"
               "/// Addresses of the NIC's registers, numbers of counters, and values after a reset (GN_NIC_*).\n"
               "/// nic_registers.h is what to include.\n\nenum {")
    out += [f"    {name} = {value}," for name, value in values]
    out.append("    GN_REG_COUNTER = 8  ///< bytes of a counter: 64 bits, the low word first\n};\n")
    out.append("/// Every register that is neither a rule's nor a counter: ROW(name, access, reset). Access: READ,\n"
               "/// WRITE (read and written) or COMMAND (written, reads as 0). Reset: -1 when the build says it.\n"
               "#define GN_NIC_REGISTER_ROWS(ROW) \\")
    rows = [f"    ROW({r['name']}, {r['access'].upper()}, {r.get('reset', '-1').lower()})" for r in TABLE["registers"]]
    out.append(" \\\n".join(rows) + "\n")
    out.append("/// Words of a rule: ROW(bits that exist, value of rule 0 after a reset).\n#define GN_NIC_RULE_WORD_ROWS(ROW) \\")
    out.append(" \\\n".join(f"    ROW({w['bits'].lower()}, {w['reset'].lower()})" for w in rules["words"]) + "\n")
    out.append("/// Counters of each block, in their order: ROW(name, field of the model's counters), or OTHER(name)\n"
               "/// of frames that the model never sees.")
    out += [rows_macro(f"GN_{name}_REGISTER_ROWS", block) for name, block in BLOCKS.items()]
    out.append("#endif\n")
    return "\n".join(out)


def readme_table():
    rules = TABLE["rules"]
    at, step = number(rules["at"]), number(rules["step"])
    lines = ["| address | register | |", "| --- | --- | --- |"]
    lines += [f"| {r['at']} | {r['name']} | {r['text']} |" for r in TABLE["registers"]]
    lines += [f"| 0x{at + 4 * i:03X} + {step} i | {'' if i else 'rule i'} | {w['text']} |".replace("|  |", "| |")
              for i, w in enumerate(rules["words"])]
    tx, of_rule, rx = BLOCKS["TX"], BLOCKS["TX_RULE"], BLOCKS["RX"]
    lines.append(f"| {tx['at']} + 8 n | {tx['title']} | n as below |")
    names = ", ".join(f"{n} {r['text']}" for n, r in enumerate(of_rule["rows"]))
    lines.append(f"| {of_rule['at']} + {number(of_rule['step'])} i + 8 n | rule i | {names} |")
    lines.append(f"| {rx['at']} + 8 n | {rx['title']} | n as below |")
    lines += ["", f"| n | {tx['title']} | {rx['title']} |", "| --- | --- | --- |"]
    for n in range(max(len(tx["rows"]), len(rx["rows"]))):
        left, right = (block["rows"][n]["text"] if n < len(block["rows"]) else "" for block in (tx, rx))
        lines.append(f"| {n} | {left} | {right} |".replace("|  |", "| |"))
    return "\n".join(lines)


def python_table():
    out = ["REGISTERS = {"]
    out += [f'    "{r["name"]}": {hexadecimal(number(r["at"]))},' for r in TABLE["registers"]]
    out += ["}", f'ID = {next(r["reset"] for r in TABLE["registers"] if r["name"] == "ID")}']
    out.append(f'RULES, RULE_STEP = {TABLE["rules"]["at"]}, {TABLE["rules"]["step"]}')
    out.append("COUNTERS = (  # title, address, from one rule to the next, names")
    for block in TABLE["counters"]:
        out.append(f'    ("{block["title"]}", {block["at"]}, {block.get("step", "0")}, (')
        out += [f'        "{r["text"]}",' for r in block["rows"]]
        out.append("    )),")
    out.append(")")
    return "\n".join(out)


def between_marks(path, opening, closing, made):
    """The file's text, with what is between its marks made anew."""
    text = path.read_text()
    if text.count(opening) != 1 or text.count(closing) != 1:
        sys.exit(f"registers.py: {path} has not one line '{opening}' and one '{closing}'")
    head, tail = text.index(opening) + len(opening), text.index(closing)
    return f"{text[:head]}\n{made}\n{text[tail:]}"


def outputs():
    readme, tool = RTL / "README.md", RTL / "corundum/nic-regs"
    return {RTL.parent / "driver/nic_register_map.h": c_header(),
            readme: between_marks(readme, "<!-- table registers -->", "<!-- end of table registers -->", f"\n{readme_table()}\n"),
            tool: between_marks(tool, f"# {MARK}", "# end of it", python_table())}


def verilog_differences():
    """Addresses as gn_nic_regs.v has them, against the table."""
    text = (RTL / "nic/gn_nic_regs.v").read_text()
    there = {name: 4 * int(word, 16) for name, word in re.findall(r"\bW_(\w+)\s*=\s*10'h([0-9a-f]+)", text)}
    wanted = {r["name"]: number(r["at"]) for r in TABLE["registers"]}
    wrong = [f"gn_nic_regs.v has {name} at {hexadecimal(there[name]) if name in there else 'no address'}, "
             f"registers.json at {hexadecimal(wanted[name]) if name in wanted else 'no address'}"
             for name in sorted(there.keys() | wanted.keys()) if there.get(name) != wanted.get(name)]
    page = re.search(r"RULE_PAGE = 4'd(\d+)", text)
    if not page or int(page[1]) << 8 != number(TABLE["rules"]["at"]):
        wrong.append("gn_nic_regs.v has the rules elsewhere than registers.json")
    return wrong


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    wrong = verilog_differences()
    for path, text in outputs().items():
        if path.exists() and path.read_text() == text:
            continue
        if check:
            wrong.append(f"{path.relative_to(RTL.parent)} is not what rtl/nic/registers.py makes of registers.json: run it")
        else:
            path.write_text(text)
    for line in wrong:
        print(f"registers.py: {line}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
