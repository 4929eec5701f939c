"""Seeds: which randomness is alike on all ranks of a training, and which differs.

The playbook: alike for the initialisation, different for shuffling and preprocessing, "so be sure
to mark them appropriately" (Considerations for multi-host pipelines). The order of the examples is
alike here, because every rank takes its own share of one shared permutation; what is random about
one example is unlike.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

SMALL = 2**31  # every library and language takes a seed below it: numpy.random.seed, Java's int
_MARK = "between ranks"


@dataclass(frozen=True)
class Seeds:
    """The seeds of one rank of one training, marked as alike or unlike between ranks."""

    trial: int = field(metadata={_MARK: "alike"})  # what the others come from; {run.seed}
    init: int = field(metadata={_MARK: "alike"})  # model initialisation
    order: int = field(metadata={_MARK: "alike"})  # the shared permutation of the examples
    split: int = field(metadata={_MARK: "alike"})  # training or validation; alike in a whole round
    eval: int = field(metadata={_MARK: "alike"})  # whatever an evaluation draws
    data: int = field(metadata={_MARK: "unlike"})  # augmentation, dropout

    def for_example(self, epoch: int, example: int) -> int:
        """A seed for one example's augmentation in one epoch: differs by rank, epoch and example.

        >>> mine = seeds(7, rank=1)
        >>> mine.for_example(0, 5) == mine.for_example(0, 5), mine.for_example(1, 5) == mine.data
        (True, False)
        """
        return derive_seed(self.data, epoch, example)

    def __str__(self) -> str:
        marks = self.__dataclass_fields__
        return ", ".join(
            f"{name}={getattr(self, name)} ({marks[name].metadata[_MARK]})" for name in marks
        )


def seeds(trial: int, split: int | None = None, rank: int = 0) -> Seeds:
    """The seeds of a rank, from its trial's; `split` is the round's, where there is a round.

    >>> one, two = seeds(7, rank=0), seeds(7, rank=1)
    >>> one.init == two.init, one.order == two.order, one.data == two.data
    (True, True, False)
    """
    return Seeds(
        trial=small(trial),
        init=derive_seed(trial, 0),
        order=derive_seed(trial, 1),
        split=derive_seed(trial, 2) if split is None else small(split),
        eval=derive_seed(trial, 3),
        data=derive_seed(trial, 4, rank),
    )


def small(seed: int) -> int:
    """A seed that every program can take; small ones stay as they are."""
    return seed if 0 <= seed < SMALL else derive_seed(seed)


def derive_seed(*key: int | str) -> int:
    """A seed from 0 to 2**31 - 1 for a purpose that the key names.

    >>> derive_seed(0, "trial", 3) == derive_seed(0, "trial", 3) != derive_seed(0, "trial", 4)
    True
    """
    digest = hashlib.sha256(" ".join(map(str, key)).encode()).digest()
    return int.from_bytes(digest[:4], "big") % SMALL
