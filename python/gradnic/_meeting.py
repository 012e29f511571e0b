# SPDX-License-Identifier: Apache-2.0
"""Where the ranks of a group meet: rank 0 says it in torch's store."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import time
import uuid
from datetime import timedelta
from typing import Any, Callable, Dict, List, Optional, Tuple

import torch.distributed as dist

from ._errors import Error
from .comm import Communicator

_LOOK = 0.003
"""How many seconds pass between looks at the store."""


def _place() -> str:
    """A name for what can share files and loopback: host, account and namespaces."""
    parts = [socket.gethostname(), str(os.getuid())]
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            parts.append(file.read().strip())
    except OSError:
        pass
    for kind in ("mnt", "net", "user"):
        try:
            parts.append(str(os.stat(f"/proc/self/ns/{kind}").st_ino))
        except OSError:
            pass
    return " ".join(parts)


def _store_host(store: Any) -> Optional[Tuple[str, int]]:
    while hasattr(store, "underlying_store"):
        store = store.underlying_store
    host, port = getattr(store, "host", None), getattr(store, "port", None)
    if host:
        return str(host), int(port or 1)
    if os.environ.get("MASTER_ADDR"):
        return os.environ["MASTER_ADDR"], 1
    return None


def own_address(store: Any) -> str:
    """This host's address, as the others see it: that of the route to the store."""
    at = _store_host(store) or (socket.gethostname(), 1)
    family, _, _, _, address = socket.getaddrinfo(at[0], at[1] or 1, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, socket.SOCK_DGRAM) as route:
        route.connect(address)
        return str(route.getsockname()[0])


def _free_port(address: str) -> int:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as free:
        free.bind((address, 0))
        return int(free.getsockname()[1])


def fresh(store: Any, rank: int, size: int, timeout: timedelta, what: str) -> Any:
    """A part of the store that nobody has used. `what` names the group in errors.

    Ranks that are started anew meet in the same store, with what those before have left in it.
    Rank 0 gathers a word of each rank, and each looks for its own among them.
    """
    own, until = uuid.uuid4().hex, time.monotonic() + timeout.total_seconds()
    store.set(f"joins/{rank}", own)
    joined: Dict[int, str] = {}
    while True:
        if rank:
            words = _read(store, "round").split()
            if own in words:
                store.set(f"seen/{rank}", words[0])
                return dist.PrefixStore(words[0], store)
            missing = [0]
        else:
            now = {r: _read(store, f"joins/{r}") for r in range(1, size)}
            if now != joined:
                joined = now
                store.set("round", " ".join([own, *joined.values()]))
            missing = [r for r in range(1, size) if _read(store, f"seen/{r}") != own]
            if not missing:
                return dist.PrefixStore(own, store)
        if time.monotonic() > until:
            raise dist.DistBackendError(f"gradnic: Timed out in setting up {what}: after {timeout.total_seconds():g} s "
                                        f"{_ranks(missing)} not come to the store")
        time.sleep(_LOOK)


def _read(store: Any, key: str) -> str:
    """What a store has; "" where it has nothing."""
    return str(store.get(key).decode()) if store.check([key]) else ""


def _ranks(ranks: List[int]) -> str:
    shown = ", ".join(map(str, ranks[:8])) + (f" and {len(ranks) - 8} more" if len(ranks) > 8 else "")
    return f"rank {shown} has" if len(ranks) == 1 else f"ranks {shown} have"


def _all_say_the_same(store: Any, size: int) -> bool:
    return len({store.get(f"place/{r}") for r in range(size)}) == 1


def is_one_place(store: Any, rank: int, size: int) -> bool:
    """Whether all ranks share files and loopback."""
    store.set(f"place/{rank}", _place())
    return _all_say_the_same(store, size)


def connect(store: Any, rank: int, size: int, interface: Optional[str], arguments: Callable[[bool], Dict[str, Any]],
            what: str) -> Communicator:
    """Makes a Communicator of the ranks that share a store. `what` names it in errors.

    `arguments` gives its other arguments, knowing whether all ranks are on one host.
    """
    folder = None
    try:
        where, interface, folder = _meet(store, rank, size, interface)
        return Communicator(rank, size, rendezvous=where, interface=interface, **arguments(where.startswith("file:")))
    except Error as error:
        raise dist.DistBackendError(f"gradnic: setting up {what}: {error}") from error
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _meet(store: Any, rank: int, size: int, interface: Optional[str]) -> Tuple[str, Optional[str], Optional[str]]:
    """Returns rendezvous, interface, and a folder that rank 0 removes when all have met.

    Ranks of one host meet in a file, which needs no free port. Others meet at rank 0.
    """
    store.set(f"place/{rank}", _place())
    if rank:
        place, where = store.get("meeting").decode().split(" ", 1)
        return where, interface or ("lo" if place == "here" else None), None
    if _all_say_the_same(store, size):
        folder = tempfile.mkdtemp(prefix="gradnic-")
        store.set("meeting", f"here file://{folder}/meeting")
        return f"file://{folder}/meeting", interface or "lo", folder
    address = own_address(store)
    host = f"[{address}]" if ":" in address else address
    where = f"tcp://{host}:{_free_port(address)}"
    store.set("meeting", f"far {where}")
    return where, interface, None
