# SPDX-License-Identifier: Apache-2.0
"""Reads the lists of Verilog files in this folder."""
import pathlib
import re

RTL = pathlib.Path(__file__).resolve().parent


def sources(name):
    """The files of a list and its folders of headers, both relative to this folder."""
    files, folders = [], []
    for line in (RTL / name).read_text().splitlines():
        line = line.split("//")[0].strip()
        if line.startswith("+incdir+"):
            folders.append(line[8:])
        elif line:
            files.append(line)
    return files, folders


def without_includes(name, folders):
    """A file with its headers in it: where headers are looked for is another thing in each tool."""
    def header(found):
        return next((RTL / folder / found[1]).read_text() for folder in folders if (RTL / folder / found[1]).is_file())
    return re.sub(r'^ *`include "([^"]+)"\n', header, (RTL / name).read_text(), flags=re.M)
