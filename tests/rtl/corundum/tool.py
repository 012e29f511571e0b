# SPDX-License-Identifier: Apache-2.0
"""Runs a program of rtl/ that the benches of this folder try."""
import subprocess
import sys


def run(program, *words, status=0):
    """What it prints; what it says of an error, where `status` is not 0."""
    command = [sys.executable, program, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == status, (words, done)
    return done.stdout if status == 0 else done.stderr
