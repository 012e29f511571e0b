#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stage.py SOURCE STAGE: copies all pages, and the files that they link to, for MkDocs.

Folders stay as they are, so relative links hold. A link to a folder leads to its README.md.
"""
import pathlib
import re
import shutil
import sys

PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "rtl/README.md", "examples/README.md", "tests/data/README.md"]
LINK = re.compile(r"\]\(([^)#\s]+)")


def main():
    source, stage = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    shutil.rmtree(stage, ignore_errors=True)
    pages = [source / page for page in PAGES] + sorted(source.glob("docs/**/*.md"))
    pages = [page for page in pages if page.exists() and page.parent != source / "docs/site"]
    for page in pages:

        def follow(match):
            link = match[1]
            target = (page.parent / link).resolve()
            if re.match(r"[a-z]+:", link) or source not in target.parents:
                return match[0]
            if target.is_dir():
                return f"]({link.rstrip('/')}/README.md"
            if target.is_file() and target.suffix != ".md":
                copy = stage / target.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(target, copy)
            return match[0]

        text = LINK.sub(follow, page.read_text(encoding="utf-8"))
        copy = stage / page.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding="utf-8")


main()
