#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""documents.py SOURCE: the C code in the documents is code of the examples, which are run.

Each block of C (```c) stands below a paragraph with a link to a file of examples/, and is an
excerpt of it. The excerpt may be indented less than the file. A line "..." skips lines.
"""
import pathlib
import re
import sys
import textwrap

LINK = re.compile(r"\]\((?:\.\./)*(examples/[\w./-]+\.c)\)")


def blocks(text):
    """Each block of C: its first line's number, the link above it, and its lines."""
    link, lines, inside = None, [], False
    for number, line in enumerate(text.splitlines(), 1):
        fence = line.strip().startswith("```")
        if inside and fence:
            yield first, link, textwrap.dedent("\n".join(lines)).split("\n")
            inside = False
        elif inside:
            lines.append(line)
        elif fence and line.strip() == "```c":
            inside, first, lines = True, number + 1, []
        elif found := LINK.findall(line):
            link = found[-1]
        elif line.startswith("#"):
            link = None


def indented(line, indent):
    return indent + line if line else line


def is_excerpt(part, source, begin):
    """Where the lines of `part` end in `source`, from line `begin` on, at any indentation."""
    for at in range(begin, len(source) - len(part) + 1):
        indent = source[at][: len(source[at]) - len(source[at].lstrip())]
        if [indented(line, indent) for line in part] == source[at : at + len(part)]:
            return at + len(part)
    return None


def check(lines, source):
    """The first line that the example does not have, or None."""
    at, part = 0, []
    for line in [*lines, "..."]:
        if line.strip() != "...":
            part.append(line)
            continue
        at = is_excerpt(part, source, at) if part else at
        if at is None:
            return part[0]
        part = []
    return None


def main():
    root = pathlib.Path(sys.argv[1])
    pages = [root / "CONTRIBUTING.md", root / "rtl/README.md", *sorted(root.glob("docs/**/*.md"))]
    wrong = count = 0
    for page in pages:
        for number, link, lines in blocks(page.read_text(encoding="utf-8")):
            count += 1
            where = f"{page.relative_to(root)}:{number}"
            if not link:
                print(f"{where}: no link to an example above this code")
                wrong += 1
            elif (line := check(lines, (root / link).read_text(encoding="utf-8").splitlines())) is not None:
                print(f"{where}: not in {link}: {line!r}")
                wrong += 1
    print(f"{count} blocks of C in the documents, {wrong} that no example has")
    return 1 if wrong else 0


sys.exit(main())
