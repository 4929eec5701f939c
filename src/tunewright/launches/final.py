"""The last look: the test set once, and validation data folded into training when nothing follows.

The test set says what the chosen model is worth only as long as nothing was chosen by it, so every
look is counted. Folding the validation data into the training data gives a slightly better model
and takes away what a later launch would be judged by, so it is refused while one is planned
(playbook, exploration and exploitation; final configuration).
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tunewright.design.ranges import Value, same_value
from tunewright.design.round import Round
from tunewright.errors import DesignError
from tunewright.store.evaluations import Evaluation
from tunewright.store.results import Results
from tunewright.store.trial import Trial


@dataclass(frozen=True)
class FinalCheck:
    """What the test set said of the chosen checkpoint, and how often it was asked before."""

    evaluation: Evaluation
    earlier: tuple[Evaluation, ...]  # looks before this one, oldest first

    @property
    def warns(self) -> bool:
        """Whether the test set had been looked at before."""
        return bool(self.earlier)

    @property
    def says(self) -> str:
        """What was measured, in one sentence, beside what validation had promised."""
        own = self.evaluation
        found = ", ".join(f"{name} {value:.4g}" for name, value in own.metrics.items())
        which = "a repeat" if own.number is None else f"trial {own.number}"
        promised = "" if own.value is None else f"; {own.objective} there was {own.value:.4g}"
        return f"{found} on the test set for {which} at step {own.step}{promised}"

    @property
    def advice(self) -> str:
        """What to make of it."""
        if not self.earlier:
            return (
                "The checkpoint was chosen by validation, so expect the test set to be a little "
                "worse. Report this number; do not tune on it."
            )
        days = sorted({f"{one.when:%Y-%m-%d}" for one in self.earlier if one.when is not None})
        before = {one.look: one for one in self.earlier}
        times = "once" if len(before) == 1 else f"{len(before)} times"
        other = [one for one in before.values() if one.trial != self.evaluation.trial]
        why = (
            "another configuration was measured there, so the better of the two is chosen by it"
            if other
            else "it is the same checkpoint, so nothing was chosen by it yet"
        )
        return (
            f"The test set was looked at {times} before ({', '.join(days)}): {why}. Take fresh "
            "test data for a number to report, or report the first look."
        )


def final_check(evaluation: Evaluation, recorded: Sequence[Evaluation]) -> FinalCheck:
    """Judge a look at the test set by all evaluations the record has of its workload."""
    if not evaluation.look:
        raise DesignError(
            f"the evaluation by {evaluation.with_} was not a look at the test set: say "
            "evaluate(..., test=True)."
        )
    earlier = (
        one
        for one in recorded
        if one.workload == evaluation.workload and 0 < one.look < evaluation.look
    )
    return FinalCheck(evaluation, tuple(earlier))


def fold(
    results: Results, trial: Trial, switch: Mapping[str, Value], *, no_later_launch: bool = False
) -> Round:
    """The round that trains a trial's configuration on training and validation data together.

    `switch` is how the training program is told, such as {"train_on_validation": True}. Its
    validation metrics then measure training data: take the last checkpoint, select nothing by them.
    """
    if not no_later_launch:
        raise DesignError(
            f"folding the validation data into the training data of {results.round.name} leaves "
            "nothing to judge the next change by. Do it only when no later launch is planned for "
            "this workload, and say so: no_later_launch=True (--no-later-launch)."
        )
    if not switch:
        raise DesignError('fold(switch={}): name the hyperparameter, {"train_on_validation": True}')
    known = trial.configuration
    for name, value in switch.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = (
                f"Did you mean {near[0]!r}?"
                if near
                else f"Give the training program an argument {name}=False that adds the validation "
                "data to the training data when it is true."
            )
            raise DesignError(f"trial {trial.number} has no hyperparameter {name!r}. {hint}")
        if same_value(known[name], value):
            raise DesignError(
                f"trial {trial.number} was trained with {name} = {value!r} already: its validation "
                "metric measured training data, so it should not have been chosen by it."
            )
    return Round(
        f"{results.round.name}_final",
        goal=f"Train trial {trial.number} of {results.round.name} on training and validation data "
        "together, for good: its validation metrics measure training data now.",
        fixed={**known, **switch},
        trials_per_study=1,
        seed=results.round.seed,
    )
