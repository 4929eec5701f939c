"""Seeds: which random numbers each trial gets, as a function of the round's seed.

All studies of a round share the seed at the same index, so that scientific settings are compared on
equal draws; a repeat has a fresh one by its count; the data split is alike for the whole round.
"""

from __future__ import annotations

import hashlib

LARGEST = 2**31 - 1  # every library and command line takes it


def seed_of(round_seed: int, purpose: str, count: int = 0) -> int:
    """A seed from 0 to 2**31 - 1 for one purpose of one round.

    >>> seed_of(0, "trial", 3) == seed_of(0, "trial", 3) != seed_of(0, "trial", 4)
    True
    """
    digest = hashlib.sha256(f"{round_seed} {purpose} {count}".encode()).digest()
    return int.from_bytes(digest[:4]) & LARGEST


def trial_seed(round_seed: int, index: int) -> int:
    """The seed of every study's trial at this index."""
    return seed_of(round_seed, "trial", index)


def added_seed(round_seed: int, number: int) -> int:
    """The seed of a trial added by hand, which has no index."""
    return seed_of(round_seed, "added", number)


def repeat_seed(round_seed: int, count: int) -> int:
    """The seed of a trial's repeat number `count`, from 1: candidate and baseline share it."""
    return seed_of(round_seed, "repeat", count)


def split_seed(round_seed: int) -> int:
    """The seed of the data split, alike for every trial of a round."""
    return seed_of(round_seed, "split")
