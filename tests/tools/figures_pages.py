#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/figures.md and docs/results name the figures that `gradnic figures` has, and no others.
Each figure of a paper has a published number beside ours, or a reason why it has none.

    figures_pages.py GRADNIC SOURCE
"""
import json
import pathlib
import re
import subprocess
import sys

GRADNIC, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "bench/tables"), str(SOURCE / "figures")]
import papers  # noqa: E402
import report  # noqa: E402

KINDS = "measured|simulated|computed|missing"
NAME = re.compile(r"`((?:inceptionn|switchml|dsa)-[a-z0-9-]+|calibration)`")
wrong = []


def check(holds, text):
    if not holds:
        wrong.append(text)


def same(what, here, there, other):
    check(not here - there, f"{what}: {other} has no {', '.join(sorted(here - there))}")
    check(not there - here, f"{what}: not there: {', '.join(sorted(there - here))}")


def listed():
    """Name: kind, reason."""
    said = subprocess.run([GRADNIC, "figures", "--list"], check=True, capture_output=True, text=True).stdout
    found = [re.fullmatch(rf"(\S+) +\S.*? +({KINDS}) +(.*)", line) for line in said.splitlines()]
    check(found and all(found), f"a line of --list is not as expected: {said}")
    return {one[1]: (one[2], one[3].partition(": ")[2]) for one in found if one}


def documented(text):
    """Name: kind, in the tables of each paper's evaluation."""
    part = text.partition("\n## Each paper's evaluation\n")[2].partition("\n## ")[0]
    return {one[1]: re.search(KINDS, part[one.end():])[0] for one in NAME.finditer(part)}


def check_page(paper, figures, known):
    """A page has the published numbers of today, and every figure of its paper."""
    own = {name for name in figures if name.startswith(f"{paper}-")}
    seen = set()
    for heading, name, rows, reason in papers.sections(paper):
        if name is None:  # not made
            check(reason.startswith("Not made: "), f"{paper}.md: {heading}: is neither made nor has it a reason")
            continue
        seen.add(name)
        published = known.get(name, {})
        stored = [report.published(published.get(what)) for what, _ours, _published in rows]
        check(stored == [row[2] for row in rows],
              f"{paper}.md: {name}: other published numbers than in published.json: gradnic figures --pages")
        gone = published.keys() - {what for what, *_ in rows}
        check(not gone, f"published.json: {name}: {paper}.md has no row {', '.join(sorted(gone))}")
        compared = any(row[2] != "-" for row in rows)
        check(compared or reason, f"{paper}.md: {name}: neither a published number nor a reason why not")
        check(not (compared and reason), f"{paper}.md: {name}: a published number, and a reason why there is none")
        check(reason == (known["without"].get(name, "") + "." if name in known["without"] else ""),
              f"{paper}.md: {name}: another reason than in published.json: gradnic figures --pages")
    same(f"{paper}.md", seen, {name for name in own if figures[name][0] != "missing"}, "gradnic figures")


def main():
    figures = listed()
    known = json.loads((SOURCE / "figures/published.json").read_text(encoding="utf-8"))
    kinds = documented((SOURCE / "docs/figures.md").read_text(encoding="utf-8"))
    same("docs/figures.md", set(kinds), set(figures), "gradnic figures")
    for name in kinds.keys() & figures.keys():
        check(kinds[name] == figures[name][0], f"docs/figures.md: {name} is {figures[name][0]}, not {kinds[name]}")
    for name, (kind, reason) in figures.items():
        check(kind != "missing" or reason, f"gradnic figures --list: {name} is missing without a reason")
    named = set(known) - {"about", "without"} | set(known["without"])
    check(named <= set(figures), f"published.json: there is no figure {', '.join(sorted(named - set(figures)))}")
    for paper in papers.PAPERS:
        check_page(paper, figures, known)
    for text in wrong:
        print(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
