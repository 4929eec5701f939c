"""Every process that a trial has started, however it tried to get away, and the end of them all.

A process may leave its group and its parent, but it keeps the environment it was started with: each
worker carries a mark there, and a mark begins with that of whoever started it. psutil lists the
processes where /proc does not exist (macOS). Where it does, this module reads it directly: a table
of 85 processes takes 1.5 ms of CPU against psutil's 6 ms, and every trial ends with several.

Started as `python -m tunewright.execution.processes.process_tree PIPE PARENT MARK` it is the warden
of a supervisor. Workers die with their supervisor by themselves; what they have started, in a
separate session, may not. The warden runs no training code, so it is always there to see the
supervisor's end, even by `kill -9`, and then ends everything that carries the supervisor's mark.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

MARK = "TUNEWRIGHT_MARK"  # the variable that carries the mark
LOOK_S = 1.0  # a process forked by the supervisor may hold the pipe open: look at the parent too
_GONE_S = 5.0  # how long to wait for killed processes to be gone
_PROC = Path("/proc")


@dataclass(frozen=True)
class Process:
    """One process of this machine."""

    pid: int
    parent: int
    resident: int  # bytes
    zombie: bool  # ended, but not yet waited for


def new_mark() -> str:
    """A mark for what this process is about to start, within its own mark."""
    return f"{os.environ.get(MARK, '')}/{secrets.token_hex(8)}"


def table() -> dict[int, Process]:
    """All processes that can be seen, by pid."""
    processes = _from_proc() if _PROC.joinpath("self/stat").exists() else _from_psutil()
    return {process.pid: process for process in processes}


def descendants(root: int, processes: dict[int, Process]) -> list[Process]:
    """Everything below a process, without itself."""
    children: dict[int, list[Process]] = {}
    for process in processes.values():
        children.setdefault(process.parent, []).append(process)
    every, frontier = list[Process](), [root]
    while frontier:
        below = children.get(frontier.pop(), [])
        every += below
        frontier += [process.pid for process in below]
    return every


def with_mark(mark: str, processes: Iterable[Process]) -> list[Process]:
    """Those whose mark begins with this one."""
    carries = _carries if _PROC.joinpath("self/environ").exists() else _carries_by_psutil
    return [p for p in processes if not p.zombie and carries(p.pid, mark)]


def kill_tree(root: int, mark: str) -> None:
    """End a process, all below it, and all that carry its mark; return when they are gone."""
    below = [process.pid for process in descendants(root, table())]  # until it leaves orphans
    kill_group(root)
    _kill_all(
        lambda seen: [
            *(seen[pid] for pid in below if pid in seen),
            *with_mark(mark, seen.values()),
        ],
    )


def kill_marked(mark: str) -> int:
    """End everything that carries the mark, and say how many there were."""
    return _kill_all(lambda seen: with_mark(mark, seen.values()))


def kill_children() -> int:
    """End everything below this process, and say how many there were."""
    return _kill_all(lambda seen: descendants(os.getpid(), seen))


def has_children() -> bool:
    """Whether this process has any child, ended ones included: one system call on Linux."""
    if not hasattr(os, "waitid"):
        return bool(descendants(os.getpid(), table()))
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def kill_group(leader: int) -> None:
    """End a process and its group."""
    signal_group(leader, signal.SIGKILL)


def signal_group(leader: int, number: signal.Signals) -> None:
    """Send a signal to a process group, if it is still there."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def reap() -> None:
    """Forget children that have ended, so that none stays as a zombie."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _kill_all(find: Callable[[dict[int, Process]], list[Process]]) -> int:
    """Kill what is found until nothing is: a process may fork while it is being ended."""
    killed: set[int] = set()
    until = time.monotonic() + _GONE_S
    while time.monotonic() < until:
        alive = [p.pid for p in find(table()) if not p.zombie and p.pid != os.getpid()]
        if not alive:
            break
        for pid in alive:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        killed.update(alive)
        time.sleep(0.005)
    return len(killed)


def _carries(pid: int, mark: str) -> bool:
    wanted = f"{MARK}={mark}".encode()
    try:
        environment = _PROC.joinpath(str(pid), "environ").read_bytes()
    except OSError:  # gone, or another user's
        return False
    return environment.startswith(wanted) or b"\0" + wanted in environment


def _from_proc() -> list[Process]:
    page = os.sysconf("SC_PAGESIZE")
    processes = []
    for name in os.listdir(_PROC):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    # the name, in brackets, may hold anything: the rest begins after the last one
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            parent, resident = int(fields[1]), int(fields[21]) * page
            zombie = fields[0] in (b"Z", b"X")
            processes.append(Process(int(name), parent, resident, zombie))
    return processes


def _from_psutil() -> list[Process]:
    import psutil

    processes = []
    for process in psutil.process_iter(["ppid", "memory_info", "status"]):
        facts = process.info
        memory = facts["memory_info"]  # None where another user's process hides it
        zombie = facts["status"] == psutil.STATUS_ZOMBIE
        resident = 0 if memory is None else memory.rss
        processes.append(Process(process.pid, facts["ppid"] or 0, resident, zombie))
    return processes


def _carries_by_psutil(pid: int, mark: str) -> bool:
    import psutil

    try:
        return str(psutil.Process(pid).environ().get(MARK, "")).startswith(mark)
    except (psutil.Error, OSError):
        return False


def guard(pipe: int, parent: int, mark: str) -> None:
    """Wait for the supervisor's end, then end what it has left behind."""
    while os.getppid() == parent:
        if select.select([pipe], [], [], LOOK_S)[0]:
            break  # nothing is ever written: the pipe was closed
    kill_marked(mark)


if __name__ == "__main__":
    guard(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
