"""Seeds: which randomness is alike on all ranks of a trial, and which differs.

The playbook: alike for the initialisation, different for shuffling and preprocessing, "so be sure
to mark them appropriately" (Considerations for multi-host pipelines).
"""

from __future__ import annotations

import os
import random
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

SMALL = 2**31  # every library and language takes a seed below it: numpy.random.seed, Java's int


@dataclass(frozen=True)
class Seeds:
    """The seeds of one rank of one trial."""

    trial: int  # the recorded one, as a command gets it in {run.seed}; alike on all ranks
    init: int  # the model's initialisation; alike on all ranks
    order: int  # the order of the examples, of which each rank takes its share; alike
    data: int  # augmentation, dropout: what is random about one example; differs by rank
    split: int  # which examples are for training, which for validation; alike in a whole round


def seeds(trial: int, split: int, rank: int = 0) -> Seeds:
    """The seeds of a rank, from those of its trial and of the round's split.

    >>> one, two = seeds(7, 1, rank=0), seeds(7, 1, rank=1)
    >>> one.init == two.init, one.order == two.order, one.data == two.data, one.split == two.split
    (True, True, False, True)
    """
    return Seeds(
        trial=small(trial),
        init=_derived(trial, 0),
        order=_derived(trial, 1),
        data=_derived(trial, 2, rank),
        split=small(split),
    )


def small(seed: int) -> int:
    """A seed that every program can take; small ones stay as they are."""
    return seed if 0 <= seed < SMALL else _derived(abs(seed))


def rank() -> int:
    """The global rank that torchrun and its like gave to this process; 0 when it is alone."""
    text = os.environ.get("RANK", "")
    return int(text) if text.isdecimal() else 0


def plant(own: Seeds) -> None:
    """Seed the generators of Python, NumPy and torch (if it is loaded) with the trial's seed.

    A program that seeds nothing then still repeats exactly, and its repeats still differ.
    """
    random.seed(own.init)
    np.random.seed(own.init)
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(own.init)


def _derived(*key: int) -> int:
    return int(np.random.SeedSequence(key).generate_state(1, dtype=np.uint32)[0]) % SMALL
