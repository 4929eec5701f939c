"""From round i to round i + 1: the question answered, few trainings, many more steps.

Each hyperparameter goes by how likely its best value transfers (`decision.transfer`). What is very
likely or likely to transfer is fixed at the best trial's value. The learning rate only might, and
decides most, so it is tuned again in half a decade either way; others that might are fixed, since
few long trials cannot pay for them, unless they are asked for. What is unlikely to transfer, the
schedule, follows the rules of stretching, and a length of its decay that was searched is searched
again.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal

from tunewright.advice.compute_bound import SHORT
from tunewright.advice.lengthened import DECAY_STEPS, WARMUP_SHARE, Lengthened, lengthened
from tunewright.advice.proposal import next_name
from tunewright.advice.transfer import Transfer, transfer
from tunewright.design.budget import trials_for
from tunewright.design.names import Meaning
from tunewright.design.range import HALF_DECADE
from tunewright.design.ranges import Range, Value, is_number, log
from tunewright.design.round import Round
from tunewright.design.round_numbers import in_digits
from tunewright.design.spellings import guess_note, understood, usual_meaning
from tunewright.errors import DesignError, NotFound
from tunewright.messages import Message
from tunewright.store.results import Results
from tunewright.store.trial import Trial

_FEW_UNITS = 2  # logged steps per unit of length, from which the length is not counted in steps
Role = Literal["fixed", "nuisance", "dropped"]


@dataclass(frozen=True)
class Extended:
    """What became of one hyperparameter, and why."""

    name: str
    role: Role
    value: Value | Range  # the value it is fixed at, or the range it is tuned in
    transfer: Transfer
    why: Message


@dataclass(frozen=True, kw_only=True)
class Extension:
    """The longer round, hyperparameter by hyperparameter.

    >>> import tunewright as tw
    >>> from tunewright.testing.surfaces import Bowl
    >>> from tunewright.testing.worlds import results
    >>> rates = tw.Round("rates", goal="?", nuisance={"learning_rate": tw.log(1e-3, 1)},
    ...                  fixed={"max_train_steps": 1000}, trials_per_study=16)
    >>> longer = extension(results(rates, Bowl({"learning_rate": 0.5})), 4000)
    >>> longer.old_steps, longer.new_steps, [one.name for one in longer.hyperparameters]
    (1000, 4000, ['learning_rate', 'max_train_steps'])
    """

    round: Round  # the longer round, ready to run
    best: Trial  # the trial its values come from
    old_steps: int  # max_train_steps of that trial
    new_steps: int  # max_train_steps of the longer round
    hyperparameters: tuple[Extended, ...]  # what became of each
    rule: Message  # of the schedule
    notes: tuple[Message, ...]  # what a reader of the longer round should know


def extend(
    results: Results,
    max_train_steps: int,
    *,
    tune: Collection[str] = (),
    trials_per_study: int | None = None,
) -> Round:
    """The round that trains the best configuration's neighbourhood for more steps.

    `tune` names hyperparameters to be tuned again beside the learning rate.

    Args:
        results: a round as `tw.run` or `tw.load` returns it.
        max_train_steps: the new length.
        tune: hyperparameters to tune again beside the learning rate.
        trials_per_study: of the new round; None: chosen by what is tuned.
    """
    made = extension(results, max_train_steps, tune=tune, trials_per_study=trials_per_study)
    return made.round


def extension(
    results: Results,
    max_train_steps: int,
    *,
    tune: Collection[str] = (),
    trials_per_study: int | None = None,
) -> Extension:
    """What `extend` makes, with what becomes of each hyperparameter and why."""
    results = _understood(results)
    best, old = _best(results), trained_steps(results)
    if isinstance(max_train_steps, bool) or not isinstance(max_train_steps, int):
        raise DesignError("extend.steps_not_whole", max_train_steps=max_train_steps)
    if max_train_steps <= old:
        raise DesignError(
            "extend.not_longer", max_train_steps=max_train_steps, old=old, round=results.round.name
        )
    unknown = [name for name in tune if name not in best.configuration]
    if unknown:
        raise DesignError(
            "extend.unknown_hyperparameter",
            tune=list(tune),
            unknown=unknown[0],
            known=list(best.configuration),
        )
    each = _steps_each(results, best, old)
    schedule = lengthened(
        best.configuration, results.meaning, old=old * each, new=max_train_steps * each
    )
    found = tuple(
        _extended(results, best, name, schedule, max_train_steps, tune)
        for name in best.configuration
    )
    nuisance = {e.name: e.value for e in found if e.role == "nuisance"}
    fixed = {e.name: e.value for e in found if e.role == "fixed"}
    change = Message("change.steps", {"steps": max_train_steps, "before": old})
    made = Round(
        next_name(results.round.name),
        goal=results.round.goal,
        change=change,
        nuisance=nuisance,
        fixed=fixed,
        trials_per_study=trials_per_study or trials_for(len(nuisance)),
        seed=results.round.seed,  # the data split goes by it
        detect=results.round.detect,
        continues=results.round.name,
    )
    notes = (
        *guess_note(results.meaning),
        *schedule.notes,
        *_notes(found, results.meaning, old, max_train_steps),
    )
    return Extension(
        round=made,
        best=best,
        old_steps=old,
        new_steps=max_train_steps,
        hyperparameters=found,
        rule=schedule.rule,
        notes=notes,
    )


def trained_steps(results: Results) -> int:
    """How many steps the round's trials were trained for, by what means max_train_steps."""
    name = _understood(results).meaning.name("max_train_steps")
    value = _best(results).configuration.get(name)
    if isinstance(value, int | float) and is_number(value) and value == int(value):
        return int(value)
    raise DesignError("extend.length_unknown", round=results.round.name, name=name)


def _understood(results: Results) -> Results:
    """The results with names read by their spelling, where nobody declared what they mean."""
    return replace(results, meaning=understood(results.meaning, _best(results).configuration))


def _steps_each(results: Results, best: Trial, old: int) -> int:
    """The steps of one unit of length, which a program may count in epochs; 1 for steps."""
    counted = {*DECAY_STEPS, results.meaning.name("warmup_steps")}
    if not counted & set(best.configuration):
        return 1  # nothing in the configuration is counted in steps
    per_epoch = results.meaning.number("steps_per_epoch")
    if per_epoch and "epoch" in results.meaning.name("max_train_steps").lower():
        return round(per_epoch)
    last = max((int(c.steps[-1]) for c in best.curves.values() if len(c)), default=old)
    return max(1, round(last / old)) if last >= _FEW_UNITS * old else 1


def _extended(
    results: Results,
    best: Trial,
    name: str,
    schedule: Lengthened,
    steps: int,
    tune: Collection[str],
) -> Extended:
    """What becomes of one hyperparameter of the best trial."""
    value, rung = best.configuration[name], transfer(name, results.meaning)
    if rung.area == "length":
        return Extended(name, "fixed", steps, rung, Message("extend.new_length"))
    if name in schedule.dropped:
        return Extended(name, "dropped", value, rung, Message("extend.unused"))
    searched = _searched(results, best, name)
    if name in schedule.values:
        new = schedule.values[name]
        if searched is not None and (moved := _half_to_double(new, searched)) is not None:
            return Extended(name, "nuisance", moved, rung, Message("extend.schedule"))
        why = schedule.rule
        if name in WARMUP_SHARE:
            why = Message("extend.warmup_share", {"before": value})
        return Extended(name, "fixed", new, rung, why)
    again = name in tune or results.meaning.of(name) == "learning_rate"
    again = again or (rung.likelihood == "unlikely" and searched is not None)
    near = _around(value, searched) if again else None
    if near is not None:
        code = "extend.schedule" if rung.area == "schedule" else "extend.decides"
        why = Message("extend.asked_for" if name in tune else code)
        return Extended(name, "nuisance", near, rung, why)
    if searched is None and name not in results.studies[best.study].scientific:
        return Extended(name, "fixed", value, rung, Message("extend.fixed_before"))
    return Extended(name, "fixed", value, rung, Message(f"extend.{rung.likelihood}"))


def _searched(results: Results, best: Trial, name: str) -> Range | None:
    """The range a hyperparameter of the best trial was drawn from; None if it had one value."""
    for h in results.studies[best.study].space:
        if h.name == name and h.column in best.unit:
            return h.range
    return None


def _around(value: Value, searched: Range | None) -> Range | None:
    """Near the value on the scale it was searched on; on a log scale where nothing is known."""
    if not is_number(value):
        return None
    number = float(value)  # type: ignore[arg-type]
    if searched is not None:
        return searched.near(number)
    if number <= 0:
        return None
    return log(in_digits(number / HALF_DECADE), in_digits(number * HALF_DECADE))


def _half_to_double(value: Value, searched: Range) -> Range | None:
    """Around a length that the new training moved out of the range it was searched in."""
    continuous = searched.ends is not None and searched.count is None
    if not is_number(value) or not continuous or searched.scale == "log_from_one":
        return None
    assert searched.ends is not None
    number, high = float(value), searched.ends[1]  # type: ignore[arg-type]
    most = high if high <= 1 else math.inf  # a share of training
    low, high = in_digits(number / 2, 4), in_digits(min(number * 2, most), 4)
    return searched.with_ends(low, high) if high > low > 0 else None


def _notes(found: Collection[Extended], meaning: Meaning, old: int, new: int) -> list[Message]:
    notes = []
    if not any(e.role == "nuisance" and meaning.of(e.name) == "learning_rate" for e in found):
        rates = [e.name for e in found if usual_meaning(e.name) == "learning_rate"]
        notes.append(Message("extend.no_rate", {"rates": rates}))
    if old < SHORT * new * 0.999:
        facts = {"old": old, "new": new, "share": old / new, "between": SHORT}
        notes.append(Message("extend.far_apart", facts))
    guessed = [e.name for e in found if not e.transfer.known]
    if guessed:
        notes.append(Message("extend.taken_for_model", {"names": guessed}))
    return notes


def _best(results: Results) -> Trial:
    top = results.top(1)
    if not top:
        raise NotFound("extend.no_completed_trial", round=results.round.name)
    return top[0]
