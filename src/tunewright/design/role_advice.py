"""Notes on a round that can be run but asks more, or less, than its author may think.

The playbook's rules of thumb for the roles of hyperparameters, the budget, and the limits of the
search; notes, never refusals.
"""

from __future__ import annotations

from collections.abc import Iterator

from tunewright.design.budget import budget
from tunewright.design.names import Meaning
from tunewright.design.objective import Objective
from tunewright.design.ranges import Choice, Value, same_value
from tunewright.design.round import Round

OPTIMIZER = ("learning_rate", "momentum", "beta1", "beta2", "epsilon", "warmup_steps", "clip_norm")
EVEN_DIMENSIONS = 12  # up to here Halton points are even at usual numbers of trials
MOST_DIMENSIONS = 20  # beyond here the search takes Sobol points instead


def advise(round: Round, objective: Objective, meaning: Meaning) -> tuple[str, ...]:
    """What a careful colleague would say of this round, one sentence or two each."""
    return (
        *_questions(round),
        *_roles(round, meaning),
        *_training_objective(round, objective, meaning),
        *_batch_sizes(round, meaning),
        *_budget(round),
        *_dimensions(round),
    )


def _questions(round: Round) -> Iterator[str]:
    names = list(round.scientific)
    if len(names) > 1:
        yield (
            f"{' and '.join(names)} are all scientific: a round answers one question well. Ask "
            f"about one, with the others nuisance or fixed, or expect {len(round.studies)} studies "
            "to share the trials."
        )
    for name, declared in round.scientific.items():
        if not isinstance(declared, Choice):
            yield (
                f"{name} is a scientific range: its effect is read from buckets of one study, "
                "which find a difference of 3 trial standard deviations at most 8 times in 100, "
                "even with 100 trials. A list of 3 values with 16 trials each finds it 9 times "
                "in 10."
            )
        elif len(declared.values) == 1:
            yield f"{name} is scientific with one value: nothing is compared. Add one, or fix it."


def _roles(round: Round, meaning: Meaning) -> Iterator[str]:
    nuisance = {
        h.name for study in round.studies for h in study.space if h.column not in round.scientific
    }
    fixed = {f.name for study in round.studies for f in study.fixed}
    compared = len(round.studies) > 1 or len(round.scientific) > 0
    for name, declared in round.scientific.items():
        if meaning.of(name) in OPTIMIZER:
            yield (
                f"{name} is scientific: its best value changes with almost anything else, so the "
                "answer will not last. Optimizer hyperparameters are usually nuisance."
            )
        if name in meaning.regularisers and _strengths(declared, meaning.off.get(name, 0)) > 1:
            yield (
                f"{name} is scientific in its strength: ask whether it helps at all (a list of on "
                "and off), and let its strength be nuisance where it is on, by given()."
            )
    rate = meaning.name("learning_rate")
    if compared and rate in fixed and rate not in nuisance and rate not in round.scientific:
        yield (
            f"{rate} is fixed while settings are compared: each may need another one, and the "
            "setting it happens to suit will win. Make it nuisance if the budget allows."
        )
    elif compared and not nuisance:
        yield (
            "nothing is nuisance: settings are compared at one configuration each, and the answer "
            "holds for that configuration only."
        )
    if (optimizer := meaning.name("optimizer")) in nuisance:
        yield (
            f"{optimizer} is nuisance: which optimizer is used is usually scientific (compare "
            "them) or fixed, since each brings hyperparameters of its own."
        )


def _strengths(declared: object, off: Value) -> float:
    """How many values switch the regulariser on."""
    if not isinstance(declared, Choice):
        return float("inf")
    return sum(
        not (value is None or value is False or same_value(value, off)) for value in declared.values
    )


def _training_objective(round: Round, objective: Objective, meaning: Meaning) -> Iterator[str]:
    if meaning.of(objective.metric) != "train_loss":
        return
    searched = [*round.scientific, *(h.name for study in round.studies for h in study.space)]
    for name in dict.fromkeys(n for n in searched if n in meaning.regularisers):
        yield (
            f"{name} regularises, and {objective.metric} is a training metric: it can only look "
            "harmful. Judge regularisers by a validation metric."
        )


def _batch_sizes(round: Round, meaning: Meaning) -> Iterator[str]:
    batch, steps = meaning.name("batch_size"), meaning.name("max_train_steps")
    if batch not in round.scientific:
        return
    lengths = {
        study.scientific[batch]: f.value
        for study in round.studies
        if batch in study.scientific
        for f in study.fixed
        if f.name == steps
    }
    examples = {
        b * n
        for b, n in lengths.items()
        if isinstance(b, int | float) and isinstance(n, int | float)
    }
    same_examples = len(set(lengths.values())) > 1 and len(examples) == 1
    if same_examples or (steps in round.names and "epoch" in steps.lower()):
        yield (
            f"batch sizes are compared under an epoch budget ({steps}): the larger ones take fewer "
            "steps and look worse for that alone. Give every batch size as many steps as it needs, "
            "and compare at the same number of steps or the same time."
        )
    nuisance = {h.name for study in round.studies for h in study.space}
    if meaning.name("learning_rate") not in nuisance:
        yield (
            f"{batch} is scientific, but the learning rate is not tuned anew under each value: "
            "most optimal values change with the batch size."
        )


def _budget(round: Round) -> Iterator[str]:
    budgets = [(budget(study), study) for study in round.studies]
    short = [(b, study) for b, study in budgets if not b.enough]
    if not short:
        return
    worst, study = max(short, key=lambda pair: pair[0].suggested)
    where = f" in study {study.label}" if len(round.studies) > 1 else ""
    shared = f", shared by {worst.branches} conditional branches" if worst.branches > 1 else ""
    plural = "" if worst.dimensions == 1 else "s"
    yield (
        f"{worst.trials} trials for {worst.dimensions} hyperparameter{plural}{where}{shared}: "
        f"{worst.suggested} trials would be enough; or fix the hyperparameters that matter least."
    )


def _dimensions(round: Round) -> Iterator[str]:
    most = max(len(b.dimensions) for study in round.studies for b in study.branches)
    if most > MOST_DIMENSIONS:
        yield (
            f"{most} hyperparameters are searched at once: Halton points degrade beyond "
            f"{MOST_DIMENSIONS}, so scrambled Sobol points are used, which do not stay the same "
            "when a hyperparameter is added. Fix some of them."
        )
    elif most > EVEN_DIMENSIONS:
        yield (
            f"{most} hyperparameters are searched at once: beyond {EVEN_DIMENSIONS} quasi-random "
            "points are hardly more even than random ones. Fix some of them."
        )
