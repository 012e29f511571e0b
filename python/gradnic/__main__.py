# SPDX-License-Identifier: Apache-2.0
"""`python -m gradnic ...` is the program `gradnic ...` that the package carries."""

import os
import sys


def main() -> None:
    """Becomes the program, with this process's arguments."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "gradnic")
    try:
        os.execv(program, ["gradnic", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"gradnic: {program}: {error.strerror}")


if __name__ == "__main__":
    main()
