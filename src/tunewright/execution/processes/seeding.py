"""The seeds of a trial in the process that trains it: which rank this is, and planting them."""

from __future__ import annotations

import os
import random
import sys
from typing import Any

import numpy as np

from tunewright.seeds import Seeds


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


def plant(own: Seeds) -> None:
    """Seed the generators of Python, NumPy and torch (if it is loaded) with the trial's seed.

    A program that seeds nothing then still repeats exactly, and its repeats still differ.
    """
    random.seed(own.init)
    np.random.seed(own.init)
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(own.init)
