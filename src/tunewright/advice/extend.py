"""From round i to round i + 1: the question answered, few trainings, many more steps.

Each hyperparameter goes by how likely its best value transfers (`decision.transfer`). What is very
likely or likely to transfer is fixed at the best trial's value. The learning rate only might, and
decides most, so it is tuned again in half a decade either way; others that might are fixed, since
few long trials cannot pay for them, unless they are asked for. What is unlikely to transfer, the
schedule, follows the rules of stretching, and a length of its decay that was searched is searched
again.

Round 1 to round 2 (playbook): a linear decay keeps its length in steps and the constant phase
before it grows; a cosine is stretched; what decays by the step count alone would spend the extra
steps at a tiny learning rate, which is refused unless the program can be given another schedule.

Very likely: warm-up length and initialization. Likely: the model. It might: optimizer and its
hyperparameters, data augmentation, regularisation. Unlikely: the learning-rate schedule. These are
the playbook's own guesses ("Round 1"), made by meaning; a name nothing is known of is taken for
part of the model, and marked as such.

Round 1 trains for about a tenth of the production length, though never less than ten times the
warm-up; the last round trains few good configurations for all of it, with a round between where
the two are far apart (playbook, "Deciding how long to train when training is compute-bound": one to
three rounds, exponentially longer, conclusions looked at again at each length).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from tunewright import messages
from tunewright.advice.proposal import next_name
from tunewright.design.longer_schedule import share_at_tiny_rate, stretch
from tunewright.design.names import Area, Meaning, area_of, guess_note, usual_meaning, with_guesses
from tunewright.design.range import HALF_DECADE, in_digits
from tunewright.design.ranges import Range, Value, is_number, log
from tunewright.design.round import Round
from tunewright.design.schedule import Cosine, Linear, Schedule, Warmup, from_json
from tunewright.design.study import trials_for
from tunewright.errors import DesignError, NotFound
from tunewright.messages import Message, Text
from tunewright.store.results import Results
from tunewright.store.trial import Trial

_TINY = 0.10  # of the extra steps may be spent below a tenth of the base learning rate
_ROUNDING = 0.005  # of that share: it is counted on a sample of the steps

# how programs spell the numbers of a schedule; the first that a configuration has counts
_DECAY_STEPS = ("decay_steps",)
_DECAY_SHARE = ("decay_steps_factor", "decay_fraction")
_END_FACTOR = ("end_factor",)

# warm-up as a share of training: its best length transfers in steps (playbook), so the share falls
_WARMUP_SHARE = (
    "warmup_ratio",
    "warmup_fraction",
    "warmup_frac",
    "warmup_share",
    "warmup_proportion",
    "warmup_pct",
    "warmup_steps_factor",
)
Likelihood = Literal["very likely", "likely", "might", "unlikely"]
LIKELIHOOD: dict[Area, Likelihood] = {
    "warm-up": "very likely",
    "initialization": "very likely",
    "model": "likely",
    "optimizer": "might",
    "augmentation": "might",
    "regulariser": "might",
    "data": "might",
    "batch size": "might",
    "schedule": "unlikely",
    "length": "unlikely",
}
_SHORT = 0.1  # of the production length
_WARMUPS = 10  # of the first round's length
_TRIALS, _LONG_TRIALS = 30, 5  # of round 1, and the few of the last
_GROWTH = 3  # times as long, from one round to the next
_FEW_UNITS = 2  # logged steps per unit of length, from which the length is not counted in steps
Role = Literal["fixed", "nuisance", "dropped"]


@dataclass(frozen=True)
class Lengthened:
    """What changes in the configuration, and by which rule."""

    values: Mapping[str, Value]  # name -> new value
    rule: Message
    notes: tuple[Message, ...] = ()  # what could not be kept
    dropped: tuple[str, ...] = field(default=())  # names that mean nothing any more


def changes_for_length(
    configuration: Mapping[str, Value], meaning: Meaning, old: int, new: int
) -> Lengthened:
    """What a configuration tuned at `old` steps needs to be trained for `new` ones.

    Both are steps, whatever the program counts its length in.

    >>> linear = {"schedule": "linear", "decay_steps": 400}
    >>> changes = changes_for_length(linear, Meaning(), 1000, 5000)
    >>> dict(changes.values), changes.rule.text
    ({}, 'the decay stays 400 steps, 4000 more come before it at the base rate')
    """
    changes = _changes_for_length(configuration, meaning, old, new)
    shares = {
        name: float(f"{float(value) * old / new:.6g}")
        for name in _WARMUP_SHARE
        if is_number(value := configuration.get(name)) and value
    }
    return replace(changes, values={**shares, **changes.values}) if shares else changes


def _changes_for_length(
    configuration: Mapping[str, Value], meaning: Meaning, old: int, new: int
) -> Lengthened:
    """What becomes of the schedule."""
    name = meaning.name("schedule")
    declared = configuration.get(name)
    if declared is None:
        note = Message("schedule.check_own", {"extra": new - old})
        return Lengthened({}, Message("schedule.not_named"), (note,))
    known = _schedule(declared, configuration, meaning, old)
    if known is None:
        rule = Message("schedule.kept", {"name": name, "value": declared})
        return Lengthened({}, rule, (Message("schedule.unknown", {"extra": new - old}),))
    longer_schedule = stretch(known, old, new)
    rule = longer_schedule.rule
    numbers = _decay_numbers(configuration, _inside(longer_schedule.schedule), new)
    if numbers is not None:
        if not longer_schedule.changed_family:
            return Lengthened(numbers, rule)
        unused = tuple(n for n in ("timescale",) if n in configuration)
        changed = (Message("schedule.new_family"),)
        return Lengthened({name: "linear", **numbers}, rule, changed, unused)
    # the program takes no length of its decay: is what it will do by itself acceptable?
    wasted = share_at_tiny_rate(known, old, _by_kind_alone(known), new)
    if wasted > _TINY + _ROUNDING and not isinstance(_inside(known), Cosine):
        raise DesignError(
            "advice.schedule_wastes_steps",
            name=name,
            declared=declared,
            wasted=wasted,
            extra=new - old,
            rule=longer_schedule.rule.to_data(),
            decay_steps=_DECAY_STEPS[0],
        )
    note = Message("schedule.no_decay_steps", {"decay_steps": _DECAY_STEPS[0], "old": old})
    facts = {"name": name, "value": declared, "new": new}
    return Lengthened({}, Message("schedule.whole_stretched", facts), (note,))


def _schedule(
    declared: Value, configuration: Mapping[str, Value], meaning: Meaning, old: int
) -> Schedule | None:
    """The schedule a configuration names, with the numbers it carries; None for one unknown."""
    if not isinstance(declared, str):
        return None
    kind = declared.lower().strip()
    fields: dict[str, object] = {}
    if kind == "linear":
        length = _decay_steps(configuration, old)
        if length is not None and length > old:  # the two are not counted in the same unit
            return None
        fields["decay_steps"] = length
    if kind in ("linear", "cosine") and (end := _number(configuration, _END_FACTOR)) is not None:
        fields["end_factor"] = end
    if kind == "rsqrt" and (scale := _number(configuration, ("timescale",))) is not None:
        fields["timescale"] = round(scale)
    try:
        schedule = from_json({"schedule": kind, **fields})
        warmup = configuration.get(meaning.name("warmup_steps"))
        if warmup is None and (share := _number(configuration, _WARMUP_SHARE)) is not None:
            warmup = round(share * old)
        if is_number(warmup) and 0 < int(warmup) < old:
            decay = fields.get("decay_steps")
            steps = int(warmup)
            fits = not isinstance(decay, int) or decay <= old - steps
            schedule = Warmup(steps, schedule) if fits else schedule
        schedule.total_steps(old)
    except DesignError:
        return None
    return schedule


def _decay_steps(configuration: Mapping[str, Value], old: int) -> int | None:
    steps = _number(configuration, _DECAY_STEPS)
    if steps is None and (part := _number(configuration, _DECAY_SHARE)) is not None:
        steps = part * old
    return None if steps is None else max(1, round(steps))


def _decay_numbers(
    configuration: Mapping[str, Value], after: Schedule, new: int
) -> dict[str, Value] | None:
    """The new schedule as settings of the program; None if it has no hyperparameter for it."""
    if not isinstance(after, Linear):
        return {}  # nothing in it depends on a separate length
    values: dict[str, Value] = {}
    length = after.decay_steps or new
    steps, part = _first_name(configuration, _DECAY_STEPS), _first_name(configuration, _DECAY_SHARE)
    if steps is not None:
        values[steps] = length
    elif part is not None:
        values[part] = float(f"{length / new:.6g}")
    else:
        return None
    end = _first_name(configuration, _END_FACTOR)
    if end is not None:
        values[end] = after.end_factor
    return {n: v for n, v in values.items() if configuration[n] != v}


def _by_kind_alone(schedule: Schedule) -> Schedule:
    """The schedule as a program runs it that only knows its kind: over all the steps."""
    if isinstance(schedule, Warmup):
        return Warmup(schedule.warmup_steps, _by_kind_alone(schedule.schedule), schedule.mode)
    if isinstance(schedule, Linear):
        return Linear(end_factor=schedule.end_factor)
    return schedule


def _inside(schedule: Schedule) -> Schedule:
    return schedule.schedule if isinstance(schedule, Warmup) else schedule


def _first_name(configuration: Mapping[str, Value], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in configuration), None)


def _number(configuration: Mapping[str, Value], names: tuple[str, ...]) -> float | None:
    name = _first_name(configuration, names)
    value = None if name is None else configuration[name]
    return float(value) if is_number(value) else None


@dataclass(frozen=True)
class Transfer:
    """What a hyperparameter is, how likely its best value transfers, and whether that is known."""

    name: str
    area: Area
    likelihood: Likelihood
    known: bool = True  # False: its meaning is unknown, so it is taken for part of the model


def transfer(name: str, meaning: Meaning) -> Transfer:
    """The rung of one hyperparameter.

    >>> transfer("warmup_steps", Meaning()).likelihood, transfer("dropout", Meaning()).likelihood
    ('very likely', 'might')
    >>> transfer("hidden_layers", Meaning())
    Transfer(name='hidden_layers', area='model', likelihood='likely', known=True)
    """
    area = area_of(name, meaning)
    if area is None:
        return Transfer(name, "model", LIKELIHOOD["model"], known=False)
    return Transfer(name, area, LIKELIHOOD[area])


@dataclass(frozen=True)
class Length:
    """One round of the plan."""

    max_train_steps: int
    trials: int
    purpose: Literal["only", "first", "between", "last"]

    @property
    def what(self) -> Text:
        """What the round is for."""
        return messages.text(f"length.{self.purpose}", {})

    @property
    def steps(self) -> int:
        """All the training steps it costs."""
        return self.max_train_steps * self.trials


@dataclass(frozen=True)
class LengthPlan:
    """The rounds, short to long, and what all of them cost."""

    rounds: tuple[Length, ...]

    @property
    def steps(self) -> int:
        """All the training steps of the plan."""
        return sum(length.steps for length in self.rounds)


def first_length(production_steps: int, warmup_steps: int = 0) -> int:
    """How long round 1 trains.

    >>> first_length(100_000), first_length(100_000, warmup_steps=2000)
    (10000, 20000)
    """
    for name, value, least in (
        ("production_steps", production_steps, 1),
        ("warmup_steps", warmup_steps, 0),
    ):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise DesignError("advice.bad_steps", name=name, value=value, least=least)
    return min(production_steps, max(round(_SHORT * production_steps), _WARMUPS * warmup_steps, 1))


def length_plan(
    production_steps: int, warmup_steps: int = 0, trials: int = _TRIALS, rounds: int = 2
) -> LengthPlan:
    """One to three rounds up to a production length, each several times as long as the last.

    The trials of a round fall as its length grows, so that no round costs much more than the first
    two. The conclusions of a length are looked at again at the next (`advice.agreement`).

    >>> plan = length_plan(100_000)
    >>> [(r.max_train_steps, r.trials) for r in plan.rounds], plan.steps
    ([(10000, 30), (100000, 5)], 800000)
    >>> [(r.max_train_steps, r.trials) for r in length_plan(100_000, rounds=3).rounds]
    [(10000, 30), (32000, 12), (100000, 5)]
    """
    if type(rounds) is not int or rounds not in (1, 2, 3):
        raise DesignError("advice.bad_rounds", rounds=rounds, most=3)
    short = first_length(production_steps, warmup_steps)
    few = min(_LONG_TRIALS, trials)
    if short == production_steps or rounds == 1:
        return LengthPlan((Length(production_steps, trials, "only"),))
    lengths = [Length(short, trials, "first")]
    for step in range(1, rounds - 1):
        share = step / (rounds - 1)
        steps = _digits(short * (production_steps / short) ** share)
        between = round(trials * (few / trials) ** share)
        if short < steps < production_steps:
            lengths.append(Length(steps, between, "between"))
    return LengthPlan((*lengths, Length(production_steps, few, "last")))


def increasing(steps: int, rounds: int = 3) -> tuple[int, ...]:
    """Lengths for several rounds from this one on, about three times as long each.

    >>> increasing(2000)
    (2000, 6000, 18000)
    """
    return tuple(steps * _GROWTH**power for power in range(rounds))


def _digits(x: float) -> int:
    """A number of steps with two digits."""
    return int(float(f"{x:.2g}"))


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
    return extension(results, max_train_steps, tune=tune, trials_per_study=trials_per_study).round


def extension(
    results: Results,
    max_train_steps: int,
    *,
    tune: Collection[str] = (),
    trials_per_study: int | None = None,
) -> Extension:
    """What `extend` makes, with what becomes of each hyperparameter and why."""
    results = _with_guessed_meaning(results)
    best, old = _best(results), steps_of_training(results)
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
    schedule = changes_for_length(
        best.configuration, results.meaning, old=old * each, new=max_train_steps * each
    )
    hyperparameters = tuple(
        _for_longer_round(results, best, name, schedule, max_train_steps, tune)
        for name in best.configuration
    )
    nuisance = {e.name: e.value for e in hyperparameters if e.role == "nuisance"}
    fixed = {e.name: e.value for e in hyperparameters if e.role == "fixed"}
    change = Message("change.steps", {"steps": max_train_steps, "before": old})
    longer_round = Round(
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
        *_notes(hyperparameters, results.meaning, old, max_train_steps),
    )
    return Extension(
        round=longer_round,
        best=best,
        old_steps=old,
        new_steps=max_train_steps,
        hyperparameters=hyperparameters,
        rule=schedule.rule,
        notes=notes,
    )


def steps_of_training(results: Results) -> int:
    """How many steps the round's trials were trained for, by what means max_train_steps."""
    name = _with_guessed_meaning(results).meaning.name("max_train_steps")
    value = _best(results).configuration.get(name)
    if isinstance(value, int | float) and is_number(value) and value == int(value):
        return int(value)
    raise DesignError("extend.length_unknown", round=results.round.name, name=name)


def _with_guessed_meaning(results: Results) -> Results:
    """The results with names read by their spelling, where nobody declared what they mean."""
    return replace(results, meaning=with_guesses(results.meaning, _best(results).configuration))


def _steps_each(results: Results, best: Trial, old: int) -> int:
    """The steps of one unit of length, which a program may count in epochs; 1 for steps."""
    counted = {*_DECAY_STEPS, results.meaning.name("warmup_steps")}
    if not counted & set(best.configuration):
        return 1  # nothing in the configuration is counted in steps
    per_epoch = results.meaning.number("steps_per_epoch")
    if per_epoch and "epoch" in results.meaning.name("max_train_steps").lower():
        return round(per_epoch)
    last = max((int(c.steps[-1]) for c in best.curves.values() if len(c)), default=old)
    return max(1, round(last / old)) if last >= _FEW_UNITS * old else 1


def _for_longer_round(
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
    searched = _range_of(results, best, name)
    if name in schedule.values:
        new = schedule.values[name]
        if searched is not None and (moved := _half_to_double(new, searched)) is not None:
            return Extended(name, "nuisance", moved, rung, Message("extend.schedule"))
        why = schedule.rule
        if name in _WARMUP_SHARE:
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


def _range_of(results: Results, best: Trial, name: str) -> Range | None:
    """The range a hyperparameter of the best trial was drawn from; None if it had one value."""
    for h in results.studies[best.study].space:
        if h.name == name and h.column in best.unit:
            return h.range
    return None


def _around(value: Value, searched: Range | None) -> Range | None:
    """Near the value on the scale it was searched on; on a log scale where nothing is known."""
    if not is_number(value):
        return None
    number = float(value)
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
    number, high = float(value), searched.ends[1]
    most = high if high <= 1 else math.inf  # a share of training
    low, high = in_digits(number / 2, 4), in_digits(min(number * 2, most), 4)
    return searched.with_ends(low, high) if high > low > 0 else None


def _notes(
    hyperparameters: Collection[Extended], meaning: Meaning, old: int, new: int
) -> list[Message]:
    notes = []
    if not any(
        e.role == "nuisance" and meaning.of(e.name) == "learning_rate" for e in hyperparameters
    ):
        rates = [e.name for e in hyperparameters if usual_meaning(e.name) == "learning_rate"]
        notes.append(Message("extend.no_rate", {"rates": rates}))
    if old < _SHORT * new * 0.999:
        facts = {"old": old, "new": new, "share": old / new, "between": _SHORT}
        notes.append(Message("extend.far_apart", facts))
    guessed = [e.name for e in hyperparameters if not e.transfer.known]
    if guessed:
        notes.append(Message("extend.taken_for_model", {"names": guessed}))
    return notes


def _best(results: Results) -> Trial:
    top = results.top(1)
    if not top:
        raise NotFound("extend.no_completed_trial", round=results.round.name)
    return top[0]
