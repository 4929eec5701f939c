"""How much memory has this machine left for what is probed on its CPU?"""

from __future__ import annotations

import contextlib
from pathlib import Path

from tunewright.execution.processes.memory import MEGABYTE


def available_mb(held_mb: float) -> float:
    """What this machine, or our control group, has left for us, with what we hold already."""
    import psutil

    found: list[float] = [psutil.virtual_memory().available / MEGABYTE + held_mb]
    with contextlib.suppress(OSError, ValueError):
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
        found.append((int(limit) - used) / MEGABYTE + held_mb)
    return min(found)
