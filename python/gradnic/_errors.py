# SPDX-License-Identifier: Apache-2.0
"""Exceptions: one for each kind of failure of status.h that a program may want to tell apart."""

from __future__ import annotations

import re
from typing import Dict, Optional, Type

from . import _native as native

_WHO = re.compile(r"\brank (\d+) \(([^()]+)\)")


class Error(Exception):
    """Something in gradnic failed. The text says what, where, and what to do.

    `rank` and `address` are those of the rank that is at fault, where one is. `status` is the
    library's phrase for the kind of failure, such as "peer lost".
    """

    def __init__(self, text: str, status: int = native.INVALID) -> None:
        super().__init__(text)
        self.status: str = native.codec.gn_status_string(status).decode()
        who = _WHO.search(text)
        self.rank: Optional[int] = int(who.group(1)) if who else None
        self.address: Optional[str] = who.group(2) if who else None


class InvalidError(Error, ValueError):
    """An argument is outside what is allowed. Nothing was sent, and the call may be made again."""


class CorruptError(Error, ValueError):
    """The bytes are not what gradnic writes. The text names block and byte."""


class UnsupportedError(Error):
    """A version, profile or feature that this version of gradnic does not have."""


class DeadlineError(Error):
    """A deadline passed, and nobody in particular is at fault."""


class PeerLostError(Error):
    """A rank died, left or was silent for too long: `rank` and `address` say which."""


class MismatchError(Error):
    """Ranks called different things. The text has both calls."""


class AbortedError(Error):
    """abort() was called, here or at another rank."""


class DeadError(Error):
    """The communicator has failed before. Make a new one."""


_KINDS: Dict[int, Type[Error]] = {
    native.INVALID: InvalidError,
    native.CORRUPT: CorruptError,
    native.TRUNCATED: CorruptError,
    native.UNSUPPORTED: UnsupportedError,
    native.TIMEOUT: DeadlineError,
    native.PEER_LOST: PeerLostError,
    native.MISMATCH: MismatchError,
    native.ABORTED: AbortedError,
    native.DEAD: DeadError,
}


def error_of(status: int, text: str = "") -> Exception:
    """Returns the exception for a status."""
    phrase: str = native.codec.gn_status_string(status).decode()
    if status == native.NO_MEMORY:
        return MemoryError(text or phrase)
    return _KINDS.get(status, Error)(text or phrase, status)
