# SPDX-License-Identifier: Apache-2.0
"""The papers' numbers beside ours: what docs/results has, in one table a paper."""

import re

from results import ROOT

PAGES = ROOT / "docs/results"
PAPERS = {"inceptionn": "INCEPTIONN", "switchml": "SwitchML", "dsa": "DSA"}
NAME = re.compile(r"^`gradnic figures(?: --full)? ([a-z0-9-]+)`")
NONE = "No published number: "  # figures/report.py writes it


def sections(paper):
    """Of each figure on a paper's page: heading, name (None: not made), rows, and why nothing is
    published. A row has what, ours and the published number."""
    text = (PAGES / f"{paper}.md").read_text(encoding="utf-8")
    for section in text.split("\n## ")[1:]:
        heading, *parts = section.strip().split("\n\n")
        named = NAME.match(parts[0])
        if not named:
            yield heading, None, [], " ".join(parts[0].split())
            continue
        rows = [line.removeprefix("| ").removesuffix(" |").split(" | ") for line in parts[1].split("\n")[2:]]
        reasons = [" ".join(part.split()).removeprefix(NONE) for part in parts if part.startswith(NONE)]
        yield heading, named[1], rows, reasons[0] if reasons else ""


def anchor(heading):
    """As GitHub makes it of a heading."""
    return re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")


def beside(paper):
    """Lines of a paper's table."""
    lines = [f"| {PAPERS[paper]} | what | ours | published |", "| --- | --- | --- | --- |"]
    for heading, _name, rows, reason in sections(paper):
        number, _, title = heading.partition(": ")
        figure = f"[{number}](results/{paper}.md#{anchor(heading)})"
        compared = [row for row in rows if row[2] != "-"]
        lines += [f"| {figure} | {what} | {ours} | {published} |" for what, ours, published in compared]
        if not compared:
            lines.append(f"| {figure} | {title} | - | {reason[:1].lower() + reason[1:].removesuffix('.')} |")
    return lines


TABLES = {f"beside-{paper}": lambda _results, paper=paper: beside(paper) for paper in PAPERS}
