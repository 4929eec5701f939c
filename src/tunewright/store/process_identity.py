"""Which process is this, and is that one still alive? A later one with its pid is another."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path


@dataclass(frozen=True)
class Process:
    """One process of one boot of one machine."""

    host: str
    boot: str  # the boot and its process namespace; empty where they are not known
    pid: int
    started: str  # in clock ticks since the boot; empty where it is not known


@lru_cache(maxsize=1)
def this_boot() -> str:
    """This machine's boot and process namespace: within one, a pid means one thing.

    Containers share the boot but not the pids, so the namespace is part of it.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def start_of(pid: int) -> str:
    """When this process began; empty if there is none, or it is not known."""
    fields = _stat(pid)
    return "" if not fields or fields[0] in "ZX" else fields[19]  # a zombie has ended already


def _stat(pid: int) -> list[str]:
    """What /proc has of a process, from its state on; empty if it has nothing."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return []
    # the name in brackets may hold spaces and brackets itself; fields are counted after it
    return stat.rpartition(")")[2].split()


def this_process() -> Process:
    """The process that asks."""
    pid = os.getpid()
    return Process(socket.gethostname(), this_boot(), pid, start_of(pid))


def gone(other: Process) -> bool:
    """Whether a process has certainly ended; False also when that is not known here."""
    here = this_process()
    if not other.boot or not other.started or (other.host, other.boot) != (here.host, here.boot):
        return False  # machines cloned from one memory share the boot, but not the processes
    return start_of(other.pid) != other.started if _stat(other.pid) else not _exists(other.pid)


def _exists(pid: int) -> bool:
    """Whether there is such a process: /proc may hide those of other users (hidepid)."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True
