"""What is refused before any compute because of what names mean, and what is noted.

A number of steps to be searched, a batch size tuned for a validation metric, a seed as a
hyperparameter, a name the training program does not take, a declared meaning of no such name. Each
refusal explains why and what to do; all of a round's are reported at once. What is only unwise is a
note of `advice`.

The playbook's rules of thumb for the roles of hyperparameters, the budget, and the limits of the
search; notes, never refusals.

The more a nuisance hyperparameter interacts with the scientific one, the more a comparison at one
value of it holds for that value alone (playbook, "Identifying scientific, nuisance and fixed
hyperparameters"). One table, `FIXED_WHILE_COMPARED`, holds the pairs; notes, never refusals.

A changed batch size moves the best values of the optimizer first and of the regularisers second; a
changed model, data set or augmentation moves the number of steps that a perfect fit takes.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from tunewright.design.conditions import holds
from tunewright.design.names import Area, Meaning, area_of, lengths, usual_meaning
from tunewright.design.objective import Objective
from tunewright.design.ranges import Value, choices_of, is_number, same_value
from tunewright.design.round import Round
from tunewright.design.study import budget
from tunewright.errors import DesignError
from tunewright.messages import Message
from tunewright.nearest import nearest

_OF_ONE_OPTIMIZER = ("learning_rate", "momentum", "beta1", "beta2", "epsilon", "weight_decay")
OPTIMIZER = ("learning_rate", "momentum", "beta1", "beta2", "epsilon", "warmup_steps", "clip_norm")
_ROUNDED = 0.02  # by which the examples of two batch sizes differ through whole steps alone
_EVEN_DIMENSIONS = 12  # up to here Halton points are even at usual numbers of trials
_MOST_DIMENSIONS = 20  # beyond here the search takes Sobol points instead
_FAR_APART = 10.0  # ratio of two values from which what lies between them should be searched
_MISSPELT = 0.85  # similarity of two names, from which one is taken for a misspelling of the other
_CHANGES_LENGTH = ("model", "data", "augmentation")  # areas on which the number of steps depends


@dataclass(frozen=True)
class Interaction:
    """A comparison, and what should be tuned anew under each of its values."""

    compared: Area
    fixed: Area
    why: str  # the code of the reason


# the learning rate, which interacts with everything, has a separate note
FIXED_WHILE_COMPARED = (
    Interaction("model", "regulariser", "interaction.model_size"),
    Interaction("batch size", "regulariser", "interaction.batch_size"),
    Interaction("batch size", "optimizer", "interaction.batch_size"),
    Interaction("augmentation", "regulariser", "interaction.augmentation"),
)


def notes_on_interactions(round: Round, meaning: Meaning) -> Iterator[Message]:
    """What is fixed, shared or nuisance although it acts on what is compared."""
    yield from _architecture_nuisance(round, meaning)
    yield from _shared_by_optimizers(round, meaning)
    yield from _fixed_while_compared(round, meaning)


def _architecture_nuisance(round: Round, meaning: Meaning) -> Iterator[Message]:
    names = [name for name in _nuisance(round) if area_of(name, meaning) == "model"]
    if names:
        yield Message("advice.architecture_nuisance", {"names": names})


def _shared_by_optimizers(round: Round, meaning: Meaning) -> Iterator[Message]:
    """One unconditional range for what every compared optimizer understands differently."""
    name = meaning.name("optimizer")
    values = list(choices_of(round.scientific.get(name)) or ())
    if len(values) < 2:
        return
    shared = dict.fromkeys(
        h.name
        for study in round.studies
        for h in study.space
        if meaning.of(h.name) in _OF_ONE_OPTIMIZER and all(c != name for c, _ in h.when)
    )
    if shared:
        yield Message(
            "advice.shared_by_optimizers",
            {"optimizer": name, "values": values, "names": list(shared)},
        )


def _fixed_while_compared(round: Round, meaning: Meaning) -> Iterator[Message]:
    compared = {
        name: area_of(name, meaning)
        for name, declared in round.scientific.items()
        if (values := choices_of(declared)) is None or len(values) > 1
    }
    fixed = {name: value for name, value in _fixed(round).items() if not _off(name, value, meaning)}
    for interaction in FIXED_WHILE_COMPARED:
        names = [name for name, area in compared.items() if area == interaction.compared]
        held = [
            name
            for name in fixed
            if area_of(name, meaning) == interaction.fixed
            and meaning.of(name) not in ("optimizer", "learning_rate", "clip_norm")
        ]
        if names and held:
            yield Message(
                "advice.fixed_while_compared",
                {
                    "compared": names,
                    "fixed": {name: fixed[name] for name in held},
                    "why": Message(interaction.why).to_data(),
                },
            )


def _nuisance(round: Round) -> list[str]:
    dimensions = (
        h for study in round.studies for h in study.space if h.column not in round.scientific
    )
    return list(dict.fromkeys(h.name for h in dimensions))


def _fixed(round: Round) -> Mapping[str, Value]:
    """What has one value in all studies; what differs between them was thought of."""
    listed = {name: values_of(round, name) for name in _fixed_names(round)}
    return {name: values[0] for name, values in listed.items() if len(values) == 1}


def _off(name: str, value: Value, meaning: Meaning) -> bool:
    """Whether a value switches its hyperparameter off, so that it acts on nothing."""
    if value is None or value is False:
        return True
    return same_value(value, meaning.off_by_name.get(name, 0))


def advise(round: Round, objective: Objective, meaning: Meaning) -> tuple[Message, ...]:
    """What a careful colleague would advise about this round, one sentence or two each."""
    return (
        *_questions(round),
        *_roles(round, meaning),
        *_two_values(round),
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
    nuisance = _nuisance(round)
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


def _two_values(round: Round) -> Iterator[Message]:
    """A nuisance hyperparameter that takes two numbers far apart, where a range may be meant."""
    searched = {
        h.name: h.range for s in round.studies for h in s.space if h.column not in round.scientific
    }
    for name, kind in searched.items():
        values = choices_of(kind)
        if values is None or len(values) != 2 or not all(is_number(v) for v in values):
            continue
        low, high = sorted(map(float, cast("list[float]", values)))
        if 0 < _FAR_APART * low <= high:
            yield Message("advice.two_values", {"name": name, "low": low, "high": high})


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


def refuse(round: Round, objective: Objective, meaning: Meaning) -> None:
    """Raise DesignError with every reason why this round cannot be run, by any program."""
    problems = refusals(round, objective, meaning)
    if problems:
        raise DesignError.several(problems)


def refusals(
    round: Round,
    objective: Objective,
    meaning: Meaning,
    accepts: frozenset[str] | None = None,
    required: frozenset[str] = frozenset(),
    takes_anything: bool = False,
) -> list[Message]:
    """Every reason why this round cannot be run for this workload.

    `accepts` are the names the training program takes (None: not known), `required` those of them
    without a default; with `takes_anything` other names are passed on too.
    """
    return [
        *_steps_problems(round, meaning),
        *_batch_size_problems(round, objective, meaning),
        *_seeds(round),
        *_unknown_names(round, accepts, takes_anything),
        *_missing_names(round, required),
        *_absent_names(round, meaning, accepts, takes_anything),
    ]


def meaning_problems(meaning: Meaning, takes: Collection[str]) -> Iterator[Message]:
    """Names under `means` and `off` that the program does not take: their guards would be off."""
    for meant, names in meaning.declared.items():
        for name in names:
            if name not in takes:
                about = {
                    "meaning": meant,
                    "spelled": name,
                    "near": _likely_name(meant, name, takes),
                }
                yield Message("meaning.not_taken", {**about, "known": sorted(takes)})
    for name in meaning.off:  # a name, or a meaning
        if name not in takes and meaning.name(name) not in takes:
            near = nearest(name, sorted(takes))
            facts = {"name": name, "near": near, "known": sorted(takes)}
            yield Message("meaning.off_not_taken", facts)


def _likely_name(meant: str, name: str, takes: Collection[str]) -> str | None:
    """The name that was probably meant: one spelled like the meaning, else the nearest."""
    usual = [n for n in sorted(takes) if meant in (n, usual_meaning(n))]
    near = difflib.get_close_matches(name, usual or sorted(takes), n=1)
    return next(iter([*near, *usual]), None)


def _absent_names(
    round: Round, meaning: Meaning, accepts: frozenset[str] | None, takes_anything: bool
) -> Iterator[Message]:
    """Declared names that are not in the round, where the program's names cannot be known.

    Without any program (ask and tell) all of them must be there. A program that takes whatever it
    is given may have more than a round mentions: only a name beside one that the round has by a
    similar spelling is refused.
    """
    if accepts is None:
        yield from meaning_problems(meaning, round.names)
        return
    if not takes_anything:
        return  # the workload has refused them
    takes = {*accepts, *round.names}
    known = {name for names in meaning.declared.values() for name in names}
    for meant, names in meaning.declared.items():
        for name in names:
            others = sorted(takes - known)
            near = [n for n in others if meant in (n, usual_meaning(n))]
            near += difflib.get_close_matches(name, others, n=1, cutoff=_MISSPELT)
            if name not in takes and near:
                facts = {"meaning": meant, "spelled": name, "near": near[0]}
                yield Message("meaning.not_taken", {**facts, "known": sorted(takes)})


def _steps_problems(round: Round, meaning: Meaning) -> Iterator[Message]:
    for name in lengths(meaning, round.names):
        searched = {h.name for study in round.studies for h in study.space}
        if name in round.scientific or name in searched:
            yield Message("guard.searched_steps", {"name": name})
            continue
        for study in round.studies:
            values = list(dict.fromkeys(f.value for f in study.fixed if f.name == name))
            if len(values) > 1:
                yield Message("guard.steps_differ", {"name": name, "values": values})
                break


def _batch_size_problems(round: Round, objective: Objective, meaning: Meaning) -> Iterator[Message]:
    name = meaning.name("batch_size")
    nuisance = _nuisance(round)
    if name in nuisance and meaning.judges_validation(objective.metric):
        yield Message("guard.tuned_batch_size", {"name": name, "metric": objective.metric})


def is_seed(name: str) -> bool:
    """Whether a name is that of a random seed.

    >>> [is_seed(n) for n in ("seed", "data.split_seed", "random_state", "seed_length")]
    [True, True, True, False]
    """
    words = re.split(r"[^a-z0-9]+", name.lower())
    return words[-1] in ("seed", "seeds") or words[-2:] == ["random", "state"]


def _seeds(round: Round) -> Iterator[Message]:
    for name in round.names:
        if is_seed(name):
            yield Message("guard.seed", {"name": name})


def _unknown_names(
    round: Round, accepts: frozenset[str] | None, takes_anything: bool
) -> Iterator[Message]:
    if accepts is None or takes_anything:
        return
    for name in round.names:
        if name in accepts or is_seed(name):
            continue
        free = sorted(accepts.difference(round.names)) or sorted(accepts)
        near = nearest(name, free)
        facts = {"name": name, "near": near, "known": sorted(accepts)}
        yield Message("guard.unknown_name", facts)


def _missing_names(round: Round, required: frozenset[str]) -> Iterator[Message]:
    """Required names that some configuration of the round would lack."""
    lacking: dict[str, list[Mapping[str, Value]]] = {}
    settings = 0
    for study in round.studies:
        for branch in study.branches:
            settings += 1
            known = {**study.scientific, **branch.settings}
            names = {*study.scientific, *(h.name for h in study.space if h.active(known))}
            names |= {f.name for f in study.fixed if holds(f.when, known)}
            for name in required - names:
                lacking.setdefault(name, []).append(known)
    for name, under in sorted(lacking.items()):
        facts = {"name": name, "under": under[0] if len(under) < settings else {}}
        yield Message("guard.missing_name", facts)


@dataclass(frozen=True)
class BatchSizeChange:
    """Values that were tuned for another batch size and are kept."""

    name: str  # of the batch size
    earlier: str  # the round that tuned them
    before: Value
    now: Value
    optimizer: tuple[str, ...]  # to be tuned again first
    regularisers: tuple[str, ...]  # and these after them

    @property
    def message(self) -> Message:
        """The change as a sentence."""
        facts = {"name": self.name, "earlier": self.earlier, "before": self.before}
        kept = {"optimizer": list(self.optimizer), "regularisers": list(self.regularisers)}
        return Message("continued.batch_size", {**facts, "now": self.now, **kept})


def notes_on_continued(
    round: Round, earlier: Round, meaning: Meaning, probed: Collection[object] = ()
) -> tuple[Message, ...]:
    """What the settings of `earlier` make doubtful; `probed` are lengths that a probe proposed."""
    change = batch_size_change(round, (earlier,), meaning)
    return (
        *(() if change is None else (change.message,)),
        *_length(round, earlier, meaning, probed),
    )


def batch_size_change(
    round: Round, earlier: Sequence[Round], meaning: Meaning
) -> BatchSizeChange | None:
    """What a round keeps of values that an earlier one tuned at another batch size.

    `earlier` are the rounds that it continues, newest first. What one of them tuned again at the
    present batch size is not kept from before.
    """
    name = meaning.name("batch_size")
    now = values_of(round, name)
    again: set[str] = set()
    for other in earlier:
        before = values_of(other, name)
        if len(before) != 1 or len(now) != 1:
            return None
        tuned = {h.name for study in other.studies for h in study.space} | set(other.scientific)
        if same_value(before[0], now[0]):
            again |= tuned
            continue
        kept = [
            n
            for n in _fixed_names(round)
            if n not in again and (n in tuned or meaning.of(n) == "learning_rate")
        ]
        areas = {n: area_of(n, meaning) for n in kept if meaning.of(n) != "optimizer"}
        optimizer = tuple(n for n in areas if areas[n] in ("optimizer", "warm-up"))
        regularisers = tuple(n for n in areas if areas[n] == "regulariser")
        if not optimizer and not regularisers:
            return None
        return BatchSizeChange(name, other.name, before[0], now[0], optimizer, regularisers)
    return None


def _length(
    round: Round, earlier: Round, meaning: Meaning, probed: Collection[object]
) -> Iterator[Message]:
    name = meaning.name("max_train_steps")
    before, now = values_of(earlier, name), values_of(round, name)
    if len(now) != 1 or not before or not same_value(before[0], now[0]) or now[0] not in probed:
        return
    changed = [
        n
        for n in dict.fromkeys([*round.names, *earlier.names])
        if area_of(n, meaning) in _CHANGES_LENGTH and not _alike(round, earlier, n)
    ]
    if changed:
        facts = {"name": name, "steps": now[0], "earlier": earlier.name, "changed": changed}
        yield Message("continued.length", facts)


def values_of(round: Round, name: str) -> list[Value]:
    """The values that a name takes in a round, where they can be listed; none for a range."""
    declared = round.scientific.get(name)
    listed: list[Value] = list(choices_of(declared) or ())
    for study in round.studies:
        for h in study.space:
            if h.name == name:
                listed += h.range.choices or ()
        listed += [f.value for f in study.fixed if f.name == name]
    distinct: list[Value] = []
    for value in listed:
        if not any(same_value(value, other) for other in distinct):
            distinct.append(value)
    return distinct


def _fixed_names(round: Round) -> list[str]:
    """What is fixed in every study, and searched in none."""
    searched = {h.name for study in round.studies for h in study.space} | set(round.scientific)
    names = dict.fromkeys(f.name for study in round.studies for f in study.fixed)
    return [name for name in names if name not in searched]


def _alike(round: Round, earlier: Round, name: str) -> bool:
    now, before = values_of(round, name), values_of(earlier, name)
    return all(any(same_value(value, other) for other in before) for value in now)
