"""How much memory a trial takes, and whether the kernel killed something for want of it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable
from pathlib import Path

from tunewright.execution.processes.process_tree import Process

MEGABYTE = 2**20


def tree_mb(processes: Iterable[Process]) -> float:
    """What these processes take together; pages that they share count once for each."""
    return sum(process.resident for process in processes) / MEGABYTE


def proportional_mb(processes: Iterable[Process]) -> float | None:
    """The same with shared pages counted once, where the kernel has them; slower."""
    total = 0
    for process in processes:
        try:
            text = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
        except OSError:
            return None
        shared = _number_after("Pss:", text)
        if shared is None:
            return None
        total += shared
    return total / 1024


def tree_peak_mb(processes: Iterable[Process]) -> float:
    """The most that each of these has taken so far, together; where unknown, what it takes now."""
    return sum(_peak_mb(process.pid) or process.resident / MEGABYTE for process in processes)


def forget_peak() -> None:
    """Let this process's peak begin anew, so that a warm worker reports each trial's own."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def own_peak_mb() -> float | None:
    """The most memory that this process has taken."""
    return _peak_mb("self") or _peak_by_usage()


class OomKills:
    """Whether the kernel's out-of-memory killer has struck since this was made."""

    def __init__(self) -> None:
        """Remember how often it has struck so far."""
        self._before = oom_kills()

    def more(self) -> bool:
        """Whether it has struck since; each strike is reported once."""
        if oom_kills() <= self._before:
            return False
        self._before += 1
        return True


def oom_kills() -> int:
    """How many processes of our control group (or else of this machine) were killed for memory."""
    for file in _oom_files():
        try:
            kills = _number_after("oom_kill ", file.read_text())
        except OSError:
            continue
        if kills is not None:
            return kills
    return 0


def _oom_files() -> Iterable[Path]:
    try:
        groups = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        groups = []
    root = Path("/sys/fs/cgroup")
    for line in groups:
        _, controllers, path = line.split(":", 2)
        if not controllers:  # version 2: one tree
            yield root / path.lstrip("/") / "memory.events"
        elif "memory" in controllers.split(","):
            yield root / "memory" / path.lstrip("/") / "memory.oom_control"
            yield root / "memory" / "memory.oom_control"  # as seen from inside a container
    yield Path("/proc/vmstat")


def _peak_mb(process: int | str) -> float | None:
    try:
        kilobytes = _number_after("VmHWM:", Path(f"/proc/{process}/status").read_text())
    except OSError:
        return None
    return None if kilobytes is None else kilobytes / 1024


def _number_after(label: str, text: str) -> int | None:
    for line in text.splitlines():
        if line.startswith(label):
            return int(line[len(label) :].split()[0])
    return None


def _peak_by_usage() -> float | None:
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / MEGABYTE if sys.platform == "darwin" else peak / 1024
