# SPDX-License-Identifier: Apache-2.0
"""What the scripts here share: the form of their files, and writing or checking one."""
import pathlib
import sys


def main(script, documents, reader, groups):
    """Writes `script` with .txt for .py, or compares with --check. Returns the exit status.

    `groups` are iterables of cases. A case is pairs of key and value. Bytes are written as hex.
    """
    path = pathlib.Path(script)
    lines = [f"# Made by {path.name} from {documents}; read by {reader}."]
    for cases in groups:
        for case in cases:
            lines.append("")
            lines += [f"{key} {value.hex() if isinstance(value, (bytes, bytearray)) else value}".rstrip() for key, value in case]
    text = "\n".join(lines) + "\n"
    path = path.with_suffix(".txt")
    if "--check" not in sys.argv:
        path.write_text(text)
        return 0
    if path.read_text() == text:
        return 0
    print(f"{path} is not what {pathlib.Path(script).name} makes", file=sys.stderr)
    return 1
