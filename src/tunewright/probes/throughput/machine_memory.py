"""How much memory has this machine left for what is probed on its CPU?"""

from __future__ import annotations

import contextlib
from pathlib import Path

from tunewright.execution.processes.memory import MEGABYTE

UNKNOWN_MB = 8192.0  # where the system does not report it


def available_mb(held_mb: float) -> float:
    """What this machine, or our control group, has left for us, with what we hold already."""
    found = [float("inf")]
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        line = next(line for line in lines if line.startswith("MemAvailable:"))
        found.append(int(line.split()[1]) / 1024 + held_mb)
    with contextlib.suppress(OSError, ValueError):
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
        found.append((int(limit) - used) / MEGABYTE + held_mb)
    least = min(found)
    return least if least != float("inf") else UNKNOWN_MB
