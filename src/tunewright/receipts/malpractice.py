"""Malpractice that a receipt shows: twelve ways to reach a conclusion that does not hold.

Each question is a function of the receipt alone and answers with what it saw. It speaks only where
the receipt shows the fact itself; what merely looks odd is left to the checklist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tunewright.facts import Facts
from tunewright.messages import Message, Text
from tunewright.receipts._design_faults import (
    narrowed_rival,
    seed_tuned,
    split_differs,
    steps_tuned,
    unequal_tuning,
)
from tunewright.receipts._run_faults import (
    best_of_history,
    changed_code,
    dropped_failures,
    mid_decay,
    reused_seeds,
    test_peeking,
    truncated_curve,
)
from tunewright.store.results import Results

Kind = Literal[
    "unequal_tuning",  # one setting had many more trials than another
    "seed_tuned",  # the seed was a hyperparameter, or one configuration was tried under many
    "steps_tuned",  # steps or epochs were searched, or differ between settings
    "mid_decay",  # runs were compared before their learning rate had decayed
    "best_of_history",  # a launch compared the selected trial itself, not fresh repeats of it
    "test_peeking",  # the test set was looked at more than once, or is the objective
    "dropped_failures",  # numbers of trials or repeats are missing
    "changed_code",  # the trials ran different programs
    "narrowed_rival",  # the loser was searched in a much smaller range
    "reused_seeds",  # runs that count as independent share a seed
    "truncated_curve",  # a curve is shorter than it was
    "different_split",  # what is compared was trained on different data splits
]
QUESTIONS: Mapping[Kind, Callable[[Mapping[str, Any], Results], Iterable[Mapping[str, Any]]]] = {
    "unequal_tuning": unequal_tuning,
    "seed_tuned": seed_tuned,
    "steps_tuned": steps_tuned,
    "mid_decay": mid_decay,
    "best_of_history": best_of_history,
    "test_peeking": test_peeking,
    "dropped_failures": dropped_failures,
    "changed_code": changed_code,
    "narrowed_rival": narrowed_rival,
    "reused_seeds": reused_seeds,
    "truncated_curve": truncated_curve,
    "different_split": split_differs,
}


@dataclass(frozen=True)
class Malpractice(Facts):
    """One fault that a receipt shows, with what was seen.

    >>> gap = Malpractice("dropped_failures", {"missing": [3, 4], "of": "trials"})
    >>> str(gap)
    'trials 3, 4 are missing: failed runs may have been dropped'
    """

    kind: Kind  # which of the twelve
    facts: Mapping[str, Any]  # what was seen

    @property
    def message(self) -> Message:
        """The sentence as data."""
        return Message(f"malpractice.{self.kind}", dict(self.facts))

    def __str__(self) -> Text:
        """What was seen, in one sentence."""
        return self.message.text


def malpractice(data: Mapping[str, Any], results: Results) -> Iterator[Malpractice]:
    """Every fault that a receipt and the results it means show, by kind."""
    for kind, ask in QUESTIONS.items():
        for facts in ask(data, results):
            yield Malpractice(kind, facts)
