# SPDX-License-Identifier: Apache-2.0
"""Real switches and parameter servers, on this machine's loopback."""
import contextlib
import socket
import time

import ending

ADDRESS = "127.0.0.1"
START_S = 20


class Failed(Exception):
    """A command failed: its last line."""


def _free_port():
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        return probe.getsockname()[1]


def _answers(port):
    with contextlib.suppress(OSError), socket.create_connection((ADDRESS, port), 1):
        return True
    return False


def _await(process, port, log):
    until = time.monotonic() + START_S
    while not _answers(port):
        if process.poll() is not None or time.monotonic() > until:
            text = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            raise Failed(f"gradnic switch did not start: {text[-1] if text else 'it said nothing'}")
        time.sleep(0.05)


@contextlib.contextmanager
def running(program, folder, *options):
    """`gradnic switch OPTIONS`, until the end of the block. Gives its address."""
    port = _free_port()
    log = folder / f"switch-{port}.log"
    with log.open("wb") as out:
        process = ending.begin([program, "switch", "--listen", f"{ADDRESS}:{port}", "--control", "none",
                                *map(str, options)], stdout=out, stderr=out)
        try:
            _await(process, port, log)
            yield f"{ADDRESS}:{port}"
        finally:
            ending.end(process)
