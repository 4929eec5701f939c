"""The last look: the test set once, and validation data folded into training when nothing follows.

The test set measures the chosen model only as long as nothing was chosen by it, so every
look is counted. Folding the validation data into the training data gives a slightly better model
and takes away what a later launch would be judged by, so it is refused while one is planned
(playbook, exploration and exploitation; final configuration).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tunewright import messages
from tunewright.design.ranges import Value, same_value
from tunewright.design.round import Round
from tunewright.errors import DesignError, WorkloadError
from tunewright.execution.evaluate import Measure, OnMeasured, evaluate
from tunewright.execution.workload import Workload
from tunewright.facts import Facts
from tunewright.messages import Message, Text
from tunewright.nearest import nearest
from tunewright.store.launches import Evaluation
from tunewright.store.results import Results
from tunewright.store.store import Store
from tunewright.store.trial import Trial


@dataclass(frozen=True)
class FinalCheck(Facts):
    """The test set's value of the chosen checkpoint, and the earlier looks at the test set."""

    evaluation: Evaluation
    earlier: tuple[Evaluation, ...]  # looks before this one, oldest first

    @property
    def warns(self) -> bool:
        """Whether the test set had been looked at before."""
        return bool(self.earlier)

    @property
    def looks_before(self) -> int:
        """How often the test set had been looked at before."""
        return len({evaluation.look for evaluation in self.earlier})

    @property
    def other_configuration(self) -> bool:
        """Whether an earlier look measured another trial, so that the test set may have chosen."""
        return any(evaluation.trial != self.evaluation.trial for evaluation in self.earlier)

    @property
    def headline(self) -> Text:
        """What to report, in at most twelve words."""
        metrics = {name: float(value) for name, value in self.evaluation.metrics.items()}
        facts = {"metrics": metrics, "looks_before": self.looks_before}
        return messages.text("final.headline", facts)

    @property
    def measured(self) -> Message:
        """What was measured, beside what validation had promised."""
        evaluation = self.evaluation
        return Message(
            "final.measured",
            {
                "metrics": dict(evaluation.metrics),
                "trial": evaluation.number,
                "step": evaluation.step,
                "objective": evaluation.objective,
                "value": evaluation.value,
            },
        )

    @property
    def advice(self) -> Message:
        """What to make of it."""
        if not self.earlier:
            return Message("final.first_look")
        days = sorted(
            {
                f"{evaluation.when:%Y-%m-%d}"
                for evaluation in self.earlier
                if evaluation.when is not None
            }
        )
        facts = {"times": self.looks_before, "days": days, "other": self.other_configuration}
        return Message("final.looked_before", facts)

    def to_data(self) -> dict[str, Any]:
        """The facts as plain data."""
        derived = {
            "looks_before": self.looks_before,
            "other_configuration": self.other_configuration,
        }
        return {**super().to_data(), **derived}

    def __str__(self) -> str:
        """The headline."""
        return self.headline


def final_test(
    candidate: Results | Trial,
    workload: Workload,
    with_: Measure,
    *,
    trial: int | None = None,
    anyway: bool = False,
    on_measured: OnMeasured | None = None,
) -> FinalCheck:
    """Look at the test set, for the one trial that was chosen; every look is counted.

    Once one trial of this program was measured on the test set, another one is refused: the test
    set would choose between them. `anyway=True` looks all the same.

        tw.launches.final_test(results, workload, test).headline

    Args:
        candidate: results, of which the best trial is looked at; or the trial itself.
        workload: the training program of the trial.
        with_: measures the trial's checkpoint on the test set, as for `tw.trials.evaluate`.
        trial: the number of the trial to look at in place of the best one.
        anyway: whether to look although another trial was looked at before.
        on_measured: receives each measurement while it is made.
    """
    if isinstance(candidate, Results):
        chosen = candidate.best() if trial is None else candidate.trial(trial)
    elif trial is not None:
        raise DesignError("final_test.trial_of_a_trial")
    else:
        chosen = candidate
    if not anyway:
        _refuse_another(chosen, workload)
    (evaluation,) = evaluate(chosen, workload, with_, test=True, on_measured=on_measured)
    if evaluation.reason is not None:
        last = evaluation.detail.strip().rpartition("\n")[2]
        raise WorkloadError(
            "final_test.not_measured",
            trial=chosen.number,
            reason=evaluation.reason,
            detail=f" ({last})" if last else "",
        )
    with Store.open(workload.store, create=False) as store:
        recorded = store.evaluations()
    return final_check(recorded[-1], recorded)


def _refuse_another(chosen: Trial, workload: Workload) -> None:
    """Refuse a trial, where the test set has measured another one of this program."""
    with Store.open(workload.store, create=False) as store:
        looked = [
            evaluation
            for evaluation in store.evaluations()
            if evaluation.look and evaluation.workload == workload.name
        ]
    others = [evaluation for evaluation in looked if evaluation.trial != chosen.identity]
    if others:
        before = others[-1].number
        raise DesignError(
            "final_test.other_trial", trial=chosen.number, before=before, looks=len(looked)
        )


def final_check(evaluation: Evaluation, recorded: Sequence[Evaluation]) -> FinalCheck:
    """Judge a look at the test set by all evaluations of its workload in the database."""
    if not evaluation.look:
        raise DesignError("final_test.not_a_test_look", with_=evaluation.with_)
    earlier = (
        before
        for before in recorded
        if before.workload == evaluation.workload and 0 < before.look < evaluation.look
    )
    return FinalCheck(evaluation, tuple(earlier))


def fold(
    results: Results, trial: Trial, switch: Mapping[str, Value], *, no_later_launch: bool = False
) -> Round:
    """The round that trains a trial's configuration on training and validation data together.

    `switch` is the argument of the training program, such as {"train_on_validation": True}. Its
    validation metrics then measure training data: take the last checkpoint, select nothing by them.
    """
    if not no_later_launch:
        raise DesignError("final_test.fold_needs_last_launch", round=results.round.name)
    if not switch:
        raise DesignError("final_test.fold_without_switch")
    known = trial.configuration
    for name, value in switch.items():
        if name not in known:
            near = nearest(name, known)
            hint = (
                f"Did you mean {near!r}?"
                if near
                else f"Give the training program an argument {name}=False that adds the validation "
                "data to the training data when it is true."
            )
            raise DesignError("final_test.unknown_switch", trial=trial.number, name=name, hint=hint)
        if same_value(known[name], value):
            raise DesignError(
                "final_test.switched_on_already", trial=trial.number, name=name, value=value
            )
    return Round(
        f"{results.round.name}_final",
        goal=Message("goal.final", {"round": results.round.name, "trial": trial.number}),
        fixed={**known, **switch},
        trials_per_study=1,
        seed=results.round.seed,
    )
