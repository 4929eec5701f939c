"""How often has one evaluation set decided something? Counted from a store, or by hand.

Every choice fits the evaluation set a little (playbook, "Choosing a sample for periodic
evaluation": large enough for several evaluations in sequence). That is rarely a concern in
practice, so the answer is a note, never a refusal.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tunewright.errors import PipelineError
from tunewright.messages import Message
from tunewright.store.store import Store

SHARE = 0.1  # selections per example, beyond which the choice should be confirmed


@dataclass(frozen=True)
class Reuse:
    """How often something was selected by looking at one sample.

    After more selections than a tenth of the examples, confirm on examples that were never looked
    at.

    >>> used = Reuse(size=50)
    >>> used.again(5).note is None, used.again(6).note is None
    (True, False)
    """

    size: int  # examples in the sample
    selections: int = 0  # choices made on it: checkpoints, configurations, features

    def __post_init__(self) -> None:
        if type(self.size) is not int or self.size < 1:
            raise PipelineError("evaluation.bad_reuse_size", size=self.size)

    def again(self, times: int = 1) -> Reuse:
        """The count after `times` more selections."""
        return Reuse(self.size, self.selections + times)

    @property
    def note(self) -> Message | None:
        """What to say about it, if anything."""
        if self.selections <= self.size * SHARE:
            return None
        facts = {"selections": self.selections, "size": self.size}
        return Message("evaluation.reused", facts)


def counted(store: Path | str, metric: str, size: int, *, seed: int | None = None) -> Reuse:
    """The selections that a store records on the sample of `size` examples behind `metric`.

    Every trial and repeat with a value of that objective is one: its best checkpoint was chosen on
    the sample, and its configuration was compared on it. So is every launch decision by it. Rounds
    of another `seed` may split the data otherwise: name the seed to count its rounds alone.
    """
    used = Reuse(size)
    with Store.open(store, read_only=True) as opened:
        rounds = [r for r in opened.rounds() if r.objective.metric == metric]
        if seed is not None:
            rounds = [r for r in rounds if r.round.seed == seed]
        names = {record.name for record in rounds}
        for name in names:
            results = opened.results(name)
            repeats = [own for trial in results.trials for own in results.repeats(trial)]
            judged = (*results.trials, *repeats)
            used = used.again(sum(trial.value is not None for trial in judged))
        decided = (any(name in names for name, _ in one.pair) for one in opened.launches())
        return used.again(sum(decided))
