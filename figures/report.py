# SPDX-License-Identifier: Apache-2.0
"""What the figures say, in three forms: JSON, an HTML page with plots, and a document a paper."""
import datetime
import html
import json

from model import MEASURED

PAPERS = {
    "inceptionn": "INCEPTIONN (Li et al., MICRO 2018)",
    "switchml": "SwitchML (Sapio et al., NSDI 2021)",
    "dsa": "DSA (Wang et al., arXiv 2201.06398)",
    "calibration": "The simulator beside real programs",
}
NONE = "No published number:"  # so begins the reason of a figure without any
WRITTEN = "Written by `gradnic figures --pages"  # so begins the first sentence of a page


def number(value):
    return f"{value:.4g}"


def ours(row):
    text = number(row.value) + (f" {row.unit}" if row.unit else "")
    if row.low is not None and row.high > row.low:
        text += f" ({number(row.low)} to {number(row.high)})"
    return text


def published(value):
    if value is None or isinstance(value, str):
        return value or "-"
    return " to ".join(number(v) for v in value) if isinstance(value, list) else number(value)


def without(known, figure):
    """Why there is no published number beside any of ours. None: there is one."""
    return known["without"].get(figure.name)


def as_json(made, full, known):
    figures = []
    for figure, result in made:
        entry = {"name": figure.name, "paper": PAPERS[figure.paper], "figure": figure.number, "title": figure.title,
                 "kind": figure.kind}
        if result is None:
            figures.append({**entry, "reason": figure.reason})
            continue
        rows = [{"what": row.what, "ours": row.value, "low": row.low, "high": row.high, "unit": row.unit,
                 "published": known.get(figure.name, {}).get(row.what)} for row in result.rows]
        figures.append({**entry, "rows": rows, "parameters": result.parameters, "seeds": result.seeds,
                        "commands": result.commands, "why": result.why, "not_published": without(known, figure)})
    return json.dumps({"full": full, "figures": figures}, indent=1) + "\n"


STYLE = """
:root{color-scheme:light dark;--paper:#ffffff;--ink:#1c2330;--soft:#5b6472;--grid:#d9dde3}
@media(prefers-color-scheme:dark){:root{--paper:#14181f;--ink:#e6e9ee;--soft:#9aa4b2;--grid:#2d3542}}
body{background:var(--paper);color:var(--ink);font:17px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
.soft,dt,dd{color:var(--soft);font-size:.92rem}table{border-collapse:collapse;font-size:.95rem}
th,td{text-align:right;padding:.3rem .8rem;border-bottom:1px solid var(--grid)}
th:first-child,td:first-child{text-align:left}svg{width:100%;height:auto}pre{overflow-x:auto;font-size:.8rem}
"""


def page(made, full, known, draw, dark_rules):
    parts = [f"<!doctype html><html lang=en><meta charset=utf-8><title>gradnic figures</title><style>{STYLE}"
             f"{dark_rules}</style><h1>Figures of three papers</h1><p class=soft>gradnic figures "
             f"{'--full' if full else '--quick'}</p>"]
    paper = None
    for figure, result in made:
        if figure.paper != paper:
            paper = figure.paper
            parts.append(f"<h2>{html.escape(PAPERS[paper])}</h2>")
        parts.append(f"<h3 id={figure.name}>{html.escape(figure.number)}: {html.escape(figure.title)}</h3>")
        if result is None:
            parts.append(f"<p class=soft>Not made: {html.escape(figure.reason)}.</p>")
            continue
        rows = "".join(f"<tr><td>{html.escape(row.what)}<td>{html.escape(ours(row))}"
                       f"<td>{published(known.get(figure.name, {}).get(row.what))}" for row in result.rows)
        reason = without(known, figure)
        facts = "".join(f"<dt>{html.escape(key)}<dd>{html.escape(str(value))}"
                        for key, value in result.parameters.items())
        parts.append(f"<p class=soft>{figure.kind}, seeds {', '.join(map(str, result.seeds)) or 'none'}</p>"
                     f"<figure>{draw(result.plot)}</figure><table><tr><th><th>ours<th>published{rows}</table>"
                     f"<p>{html.escape(result.why)}{html.escape(f' {NONE} {reason}.' if reason else '')}</p>"
                     f"<dl>{facts}</dl>")
        if result.commands:
            parts.append(f"<pre>{html.escape(chr(10).join(result.commands))}</pre>")
    return "\n".join(parts) + "\n"


def wrapped(text, width=98):
    """Lines of at most `width` characters."""
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return [*lines, line]


def day(date):
    """'22 November 2026'."""
    return f"{date.day} {date:%B %Y}"


def section(figure, result, full, known):
    """Lines of one figure."""
    lines = [f"## {figure.number}: {figure.title}", ""]
    if result is None:
        return [*lines, *wrapped(f"Not made: {figure.reason}."), ""]
    seeds = f", seeds {', '.join(map(str, result.seeds))}" if result.seeds else ""
    date = f" on {day(result.date or datetime.date.today())}" if figure.kind == MEASURED else ""
    if seeds and date:
        date = f",{date}"
    lines += [f"`gradnic figures{' --full' if full else ''} {figure.name}`, {figure.kind}{seeds}{date}.", "",
              "| | ours | published |", "| --- | --- | --- |"]
    lines += [table_row(figure, row.what, ours(row), known) for row in result.rows]
    lines += ["", *wrapped(result.why), *reason_lines(figure, known), "", "| parameter | |", "| --- | --- |"]
    return [*lines, *(f"| {key} | {value} |" for key, value in result.parameters.items()), ""]


def table_row(figure, what, own, known):
    """`own`: our number, as ours() writes it."""
    return f"| {what} | {own} | {published(known.get(figure.name, {}).get(what))} |"


def reason_lines(figure, known):
    """A paragraph, with the empty line before it; none where something is published."""
    reason = without(known, figure)
    return ["", *wrapped(f"{NONE} {reason}.")] if reason else []


def renewed(lines, figure, known):
    """A section that was written before, with what is published now."""
    parts = [part for part in "\n".join(lines).strip().split("\n\n") if not part.startswith(NONE)]
    if not figure.make:
        return lines
    heading, command, table, *why, parameters = parts
    rows = [row.removeprefix("| ").split(" | ")[:2] for row in table.split("\n")[2:]]
    table = [*table.split("\n")[:2], *(table_row(figure, what, own, known) for what, own in rows)]
    return ["\n\n".join([heading, command, "\n".join(table), *why]), *reason_lines(figure, known), "", parameters, ""]


def is_page(text):
    """Whether a page was written by document()."""
    return (text.splitlines() + [""] * 3)[2].startswith(WRITTEN)


def sections_of(text):
    """The sections of a page that was written before: heading and lines."""
    found, heading = {}, None
    for line in text.splitlines():
        if line.startswith("## "):
            heading = line
            found[heading] = []
        if heading:
            found[heading].append(line)
    return found


def document(paper, figures, made, full, known, before):
    """A page of docs/results. Figures that were not made now keep our numbers."""
    lines = [f"# {PAPERS[paper]}", "", *wrapped(f"{WRITTEN} docs/results`. "
                                               "[What simulated, computed and measured mean](../figures.md)."), ""]
    results = {figure.name: result for figure, result in made}
    kept = sections_of(before)
    for figure in figures:
        heading = f"## {figure.number}: {figure.title}"
        if figure.paper != paper:
            continue
        if figure.name in results:
            lines += section(figure, results[figure.name], full, known)
        elif heading in kept:
            lines += renewed(kept[heading], figure, known)
    return "\n".join(lines).rstrip() + "\n"
