"""Which seed each trial gets, as a function of the round's.

All studies of a round share the seed at the same index, so that scientific settings are compared on
equal draws; a repeat has a fresh one by its count; the data split is alike for the whole round.
"""

from __future__ import annotations

from tunewright.seeds import derived


def trial_seed(round_seed: int, index: int) -> int:
    """The seed of every study's trial at this index."""
    return derived(round_seed, "trial", index)


def added_seed(round_seed: int, number: int) -> int:
    """The seed of a trial added by hand, which has no index."""
    return derived(round_seed, "added", number)


def repeat_seed(round_seed: int, count: int) -> int:
    """The seed of a trial's repeat number `count`, from 1: candidate and baseline share it."""
    return derived(round_seed, "repeat", count)


def split_seed(round_seed: int) -> int:
    """The seed of the data split, alike for every trial of a round."""
    return derived(round_seed, "split", 0)
