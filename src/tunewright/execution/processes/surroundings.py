"""What is one per process and a trial shares with the next: its rank, random states, settings.

The random generators are seeded before a trial. What its program leaves changed is seen afterwards,
since a warm worker must not pass it on.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np

from tunewright.seeds import Seeds

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD) if hasattr(signal, "SIGCHLD") else ()
# what torch has right after its import, for programs that import it inside the function
_FRESH_TORCH = {
    "torch's default dtype": "torch.float32",
    "torch's default device": "cpu",
    "torch's deterministic algorithms": False,
    "torch's gradients": True,
    "torch's matmul precision": "highest",
}


def rank() -> int:
    """The global rank that torchrun and its like gave to this process; 0 when it is alone.

    Lightning's launcher sets no RANK, only which process of its node this is.
    """
    text = os.environ.get("RANK", "")
    if text.isdecimal():
        return int(text)
    node, local, size = (
        int(text) if (text := os.environ.get(name, "")).isdecimal() else 0
        for name in ("NODE_RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE")
    )
    return node * max(size, 1) + local


def plant(trial_seeds: Seeds) -> None:
    """Seed the generators of Python, NumPy and torch (if it is loaded) with the trial's seed.

    A program that seeds nothing then still repeats exactly, and its repeats still differ.
    """
    random.seed(trial_seeds.init)
    np.random.seed(trial_seeds.init)
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(trial_seeds.init)


def look() -> dict[str, object]:
    """The process-wide settings that trials could change for each other."""
    return {
        "the working folder": _folder(),
        "sys.path": tuple(sys.path),
        "the environment": dict(os.environ),
        "signal handlers": tuple(signal.getsignal(number) for number in _SIGNALS),
        "standard output": (id(sys.stdout), id(sys.stderr)),
        "threads": frozenset(t.ident for t in threading.enumerate() if not t.daemon),
        **_numpy(),
        **_torch(),
    }


def differences(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """What differs, in words; variables that were only added to the environment do not count.

    >>> differences({"the working folder": "/a"}, {"the working folder": "/b"})
    ['the working folder']
    """
    return [
        name for name, value in after.items() if not _same(name, _usual_value(name, before), value)
    ]


def _usual_value(name: str, before: Mapping[str, object]) -> object:
    if name in before:
        return before[name]
    if name == "torch's threads":
        text = os.environ.get("OMP_NUM_THREADS", "")
        return int(text) if text.isdecimal() else None
    return _FRESH_TORCH.get(name)


def _same(name: str, expected: Any, now: Any) -> bool:
    if expected is None:  # nothing is known of it before
        return True
    if name == "the environment":
        return all(now.get(variable) == value for variable, value in expected.items())
    if name == "threads":
        return bool(now <= expected)
    return bool(expected == now)


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return "deleted"


def _numpy() -> dict[str, object]:
    numpy: Any = sys.modules.get("numpy")
    return {} if numpy is None else {"numpy's error handling": tuple(numpy.geterr().items())}


def _torch() -> dict[str, object]:
    torch: Any = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "get_default_device"):
        return {}
    return {
        "torch's default dtype": str(torch.get_default_dtype()),
        "torch's default device": str(torch.get_default_device()),
        "torch's threads": torch.get_num_threads(),
        "torch's deterministic algorithms": torch.are_deterministic_algorithms_enabled(),
        "torch's gradients": torch.is_grad_enabled(),
        "torch's matmul precision": torch.get_float32_matmul_precision(),
    }
