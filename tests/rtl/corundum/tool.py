# SPDX-License-Identifier: Apache-2.0
"""What the benches of this folder share: they try programs of rtl/."""
import subprocess
import sys


def run(program, *words, status=0):
    """What it prints; what it says of an error, where `status` is not 0."""
    command = [sys.executable, program, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == status, (words, done)
    return done.stdout if status == 0 else done.stderr


def refused(program, *words):
    """What it says when it fails: in one of its own sentences, not in Python's."""
    said = run(program, *words, status=1)
    assert said.startswith(f"{program.name}: ") and "Errno" not in said, said
    return said


def files_of(root):
    """What is in a tree: bytes of files, and where links lead. But for what benches leave."""
    return {str(path): str(path.readlink()) if path.is_symlink() else path.read_bytes()
            for path in root.rglob("*") if path.name != "results.xml" and (path.is_symlink() or path.is_file())}
