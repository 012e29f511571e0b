# SPDX-License-Identifier: Apache-2.0
"""Reads the lists of Verilog files in this folder."""
import pathlib

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
