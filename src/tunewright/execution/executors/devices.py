"""Which accelerators and cores this machine lends to trials, found without importing torch."""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tunewright.errors import WorkloadError

VISIBLE = "CUDA_VISIBLE_DEVICES"


def visible_devices() -> tuple[str, ...]:
    """The CUDA devices this process may use, as CUDA_VISIBLE_DEVICES names them."""
    named = os.environ.get(VISIBLE)
    if named is not None:
        listed = [name.strip() for name in named.split(",")]
        # CUDA stops at the first name that is none
        ends = [at for at, name in enumerate(listed) if name in ("", "-1")]
        return tuple(listed[: ends[0]] if ends else listed)
    program = shutil.which("nvidia-smi")
    if program is None:
        return ()
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        answer = subprocess.run(
            [program, "--query-gpu=index", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
        return tuple(line.strip() for line in answer.stdout.splitlines() if line.strip().isdigit())
    return ()


def groups(devices: Sequence[str], per_trial: int) -> tuple[tuple[str, ...], ...]:
    """The devices shared out, `per_trial` to a trial; refuses if they do not make one group.

    >>> groups(["0", "1", "2", "3", "4"], per_trial=2)
    (('0', '1'), ('2', '3'))
    """
    if devices and len(devices) < per_trial:
        raise WorkloadError(
            "executor.too_few_devices",
            per_trial=per_trial,
            count=len(devices),
            devices=list(devices),
        )
    return tuple(
        tuple(devices[at : at + per_trial])
        for at in range(0, len(devices) - per_trial + 1, per_trial)
    )


def cores() -> int:
    """How many cores this process may use, by its affinity and its control group's quota."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    quota = math.inf
    with contextlib.suppress(OSError, ValueError):
        most, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        quota = math.inf if most == "max" else int(most) / int(period)
    return max(1, math.floor(min(available or 1, quota)))
