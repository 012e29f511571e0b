# SPDX-License-Identifier: Apache-2.0
"""Files that users find under their names when they are complete."""

from __future__ import annotations

import contextlib
import os
import stat


def write_whole(path: str, text: str) -> None:
    """Writes a text. A file that is there already stays as it is until all is written.

    A symbolic link stays one. What is no file, such as a FIFO, is written to directly.
    """
    real = os.path.realpath(path)
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(os.stat(real).st_mode):
            with open(real, "w", encoding="ascii") as file:
                file.write(text)
            return
    temporary = f"{real}.gradnic-{os.getpid()}"
    file = open(temporary, "x", encoding="ascii")
    try:
        with file:
            file.write(text)
        os.replace(temporary, real)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
