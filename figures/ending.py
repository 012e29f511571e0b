# SPDX-License-Identifier: Apache-2.0
"""An end by a signal: what was begun ends, what is temporary goes, and the signal is the status."""
import ctypes
import os
import signal
import subprocess

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PR_SET_PDEATHSIG = 1
LAST_S = 10


class Ended(BaseException):
    """A signal has come."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


def _caught(number, _frame):
    for other in SIGNALS:  # a second one ends all at once
        if signal.getsignal(other) is _caught:
            signal.signal(other, signal.SIG_DFL)
    raise Ended(number)


def watch():
    """From now on such a signal raises Ended. One that is ignored (nohup) stays so."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _caught)


def by(ended):
    """Ends this process as the signal would have."""
    signal.signal(ended.number, signal.SIG_DFL)
    os.kill(os.getpid(), ended.number)


def begin(words, **options):
    """A process that gets SIGTERM when this one ends, however that comes about."""
    libc = ctypes.CDLL(None)
    return subprocess.Popen(words, preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM), **options)


def end(process):
    """Ends a process that may have ended before."""
    process.terminate()
    try:
        process.wait(LAST_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
