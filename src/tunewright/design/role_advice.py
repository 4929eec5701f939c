"""Notes on a round that can be run but asks more, or less, than its author may think.

The playbook's rules of thumb for the roles of hyperparameters, the budget, and the limits of the
search; notes, never refusals.
"""

from __future__ import annotations

from collections.abc import Iterator

from tunewright.design.budget import budget
from tunewright.design.interactions import notes_on_interactions
from tunewright.design.names import Meaning
from tunewright.design.objective import Objective
from tunewright.design.ranges import Value, choices_of, same_value
from tunewright.design.round import Round
from tunewright.design.spellings import lengths
from tunewright.messages import Message

OPTIMIZER = ("learning_rate", "momentum", "beta1", "beta2", "epsilon", "warmup_steps", "clip_norm")
_ROUNDED = 0.02  # by which the examples of two batch sizes differ through whole steps alone
_EVEN_DIMENSIONS = 12  # up to here Halton points are even at usual numbers of trials
_MOST_DIMENSIONS = 20  # beyond here the search takes Sobol points instead


def advise(round: Round, objective: Objective, meaning: Meaning) -> tuple[Message, ...]:
    """What a careful colleague would advise about this round, one sentence or two each."""
    return (
        *_questions(round),
        *_roles(round, meaning),
        *notes_on_interactions(round, meaning),
        *_lengths(round, meaning),
        *_training_objective(round, objective, meaning),
        *_batch_sizes(round, meaning),
        *_budget(round),
        *_dimensions(round),
    )


def _questions(round: Round) -> Iterator[Message]:
    names = list(round.scientific)
    if len(names) > 1:
        yield Message(
            "advice.several_scientific",
            {"names": names, "studies": len(round.studies)},
        )
    for name, declared in round.scientific.items():
        values = choices_of(declared)
        if values is None:
            yield Message("advice.scientific_range", {"name": name})
        elif len(values) == 1:
            yield Message("advice.one_value", {"name": name})


def _roles(round: Round, meaning: Meaning) -> Iterator[Message]:
    nuisance = {
        h.name for study in round.studies for h in study.space if h.column not in round.scientific
    }
    fixed = {f.name for study in round.studies for f in study.fixed}
    compared = len(round.studies) > 1 or len(round.scientific) > 0
    off = meaning.off_by_name
    for name, declared in round.scientific.items():
        if meaning.of(name) in OPTIMIZER:
            yield Message("advice.optimizer_scientific", {"name": name})
        if name in meaning.regularisers and _strengths(declared, off.get(name, 0)) > 1:
            yield Message("advice.strength_scientific", {"name": name})
    rate = meaning.name("learning_rate")
    if compared and rate in fixed and rate not in nuisance and rate not in round.scientific:
        yield Message("advice.rate_fixed", {"name": rate})
    elif compared and not nuisance:
        yield Message("advice.nothing_nuisance")
    if (optimizer := meaning.name("optimizer")) in nuisance:
        yield Message("advice.optimizer_nuisance", {"name": optimizer})


def _strengths(declared: object, off: Value) -> float:
    """How many values switch the regulariser on."""
    values = choices_of(declared)
    if values is None:
        return float("inf")
    return sum(not (value is None or value is False or same_value(value, off)) for value in values)


def _training_objective(round: Round, objective: Objective, meaning: Meaning) -> Iterator[Message]:
    if meaning.of(objective.metric) != "train_loss":
        return
    searched = [*round.scientific, *(h.name for study in round.studies for h in study.space)]
    for name in dict.fromkeys(n for n in searched if n in meaning.regularisers):
        yield Message(
            "advice.regulariser_on_training_metric", {"name": name, "metric": objective.metric}
        )


def _lengths(round: Round, meaning: Meaning) -> Iterator[Message]:
    """Settings that train for different lengths, unless they are batch sizes."""
    if meaning.name("batch_size") in round.scientific:
        return
    for name in lengths(meaning, round.names):
        by_setting = {
            study.label: f.value for study in round.studies for f in study.fixed if f.name == name
        }
        if len(set(by_setting.values())) > 1:
            yield Message("advice.lengths_differ", {"name": name, "lengths": by_setting})


def _batch_sizes(round: Round, meaning: Meaning) -> Iterator[Message]:
    batch, steps = meaning.name("batch_size"), meaning.name("max_train_steps")
    if batch not in round.scientific:
        return
    steps_of = {
        study.scientific[batch]: f.value
        for study in round.studies
        if batch in study.scientific
        for f in study.fixed
        if f.name == steps
    }
    examples = [
        b * n
        for b, n in steps_of.items()
        if isinstance(b, int | float) and isinstance(n, int | float)
    ]
    # a whole number of steps rarely gives the very same number of examples
    alike = bool(examples) and max(examples) <= (1 + _ROUNDED) * min(examples)
    same_examples = len(set(steps_of.values())) > 1 and alike
    if same_examples or (steps in round.names and "epoch" in steps.lower()):
        yield Message("advice.epoch_budget", {"steps": steps})
    nuisance = {h.name for study in round.studies for h in study.space}
    if meaning.name("learning_rate") not in nuisance:
        yield Message("advice.rate_not_retuned", {"name": batch})


def _budget(round: Round) -> Iterator[Message]:
    budgets = [(budget(study), study) for study in round.studies]
    short = [(b, study) for b, study in budgets if not b.enough]
    if not short:
        return
    worst, study = max(short, key=lambda pair: pair[0].suggested)
    yield Message(
        "advice.too_few_trials",
        {
            "trials": worst.trials,
            "dimensions": worst.dimensions,
            "study": study.label if len(round.studies) > 1 else None,
            "branches": worst.branches,
            "suggested": worst.suggested,
        },
    )


def _dimensions(round: Round) -> Iterator[Message]:
    most = max(len(b.dimensions) for study in round.studies for b in study.branches)
    if most > _MOST_DIMENSIONS:
        yield Message("advice.sobol", {"dimensions": most, "most": _MOST_DIMENSIONS})
    elif most > _EVEN_DIMENSIONS:
        yield Message("advice.many_dimensions", {"dimensions": most, "most": _EVEN_DIMENSIONS})
