"""The schedule hyperparameters of a longer training, by the rules of `design.stretch`.

Round 1 to round 2 (playbook): a linear decay keeps its length in steps and the constant phase
before it grows; a cosine is stretched; what decays by the step count alone would spend the extra
steps at a tiny learning rate, which is refused unless the program can be given another schedule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tunewright.design.longer_schedule import share_at_tiny_rate, stretched
from tunewright.design.names import Meaning
from tunewright.design.ranges import Value, is_number
from tunewright.design.schedule import Cosine, Linear, Schedule, Warmup, from_json
from tunewright.errors import DesignError
from tunewright.messages import Message

_TINY = 0.10  # of the extra steps may be spent below a tenth of the base learning rate
ROUNDING = 0.005  # of that share: it is counted on a sample of the steps
# how programs spell the numbers of a schedule; the first that a configuration has counts
DECAY_STEPS = ("decay_steps",)
_DECAY_SHARE = ("decay_steps_factor", "decay_fraction")
_END_FACTOR = ("end_factor",)
# warm-up as a share of training: its best length transfers in steps (playbook), so the share falls
WARMUP_SHARE = (
    "warmup_ratio",
    "warmup_fraction",
    "warmup_frac",
    "warmup_share",
    "warmup_proportion",
    "warmup_pct",
    "warmup_steps_factor",
)


@dataclass(frozen=True)
class Lengthened:
    """What changes in the configuration, and by which rule."""

    values: Mapping[str, Value]  # name -> new value
    rule: Message
    notes: tuple[Message, ...] = ()  # what could not be kept
    dropped: tuple[str, ...] = field(default=())  # names that mean nothing any more


def lengthened(
    configuration: Mapping[str, Value], meaning: Meaning, old: int, new: int
) -> Lengthened:
    """What a configuration tuned at `old` steps needs to be trained for `new` ones.

    Both are steps, whatever the program counts its length in.

    >>> made = lengthened({"schedule": "linear", "decay_steps": 400}, Meaning(), 1000, 5000)
    >>> dict(made.values), made.rule.text
    ({}, 'the decay stays 400 steps, 4000 more come before it at the base rate')
    """
    made = _lengthened(configuration, meaning, old, new)
    shares = {
        name: float(f"{float(value) * old / new:.6g}")
        for name in WARMUP_SHARE
        if is_number(value := configuration.get(name)) and value
    }
    return replace(made, values={**shares, **made.values}) if shares else made


def _lengthened(
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
    made = stretched(known, old, new)
    rule = made.rule
    told = _told(configuration, _inside(made.schedule), new)
    if told is not None:
        if not made.changed_family:
            return Lengthened(told, rule)
        gone = tuple(n for n in ("timescale",) if n in configuration)
        changed = (Message("schedule.new_family"),)
        return Lengthened({name: "linear", **told}, rule, changed, gone)
    # the program takes no length of its decay: is what it will do by itself acceptable?
    wasted = share_at_tiny_rate(known, old, _unchanged(known), new)
    if wasted > _TINY + ROUNDING and not isinstance(_inside(known), Cosine):
        raise DesignError(
            "advice.schedule_wastes_steps",
            name=name,
            declared=declared,
            wasted=wasted,
            extra=new - old,
            rule=made.rule.to_data(),
            decay_steps=DECAY_STEPS[0],
        )
    note = Message("schedule.no_decay_steps", {"decay_steps": DECAY_STEPS[0], "old": old})
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
        made = from_json({"schedule": kind, **fields})
        warmup = configuration.get(meaning.name("warmup_steps"))
        if warmup is None and (share := _number(configuration, WARMUP_SHARE)) is not None:
            warmup = round(share * old)
        if is_number(warmup) and 0 < int(warmup) < old:  # type: ignore[arg-type]
            decay = fields.get("decay_steps")
            steps = int(warmup)  # type: ignore[arg-type]
            fits = not isinstance(decay, int) or decay <= old - steps
            made = Warmup(steps, made) if fits else made
        made.total_steps(old)
    except DesignError:
        return None
    return made


def _decay_steps(configuration: Mapping[str, Value], old: int) -> int | None:
    steps = _number(configuration, DECAY_STEPS)
    if steps is None and (part := _number(configuration, _DECAY_SHARE)) is not None:
        steps = part * old
    return None if steps is None else max(1, round(steps))


def _told(configuration: Mapping[str, Value], after: Schedule, new: int) -> dict[str, Value] | None:
    """The new schedule as settings of the program; None if it has no hyperparameter for it."""
    if not isinstance(after, Linear):
        return {}  # nothing in it depends on a separate length
    values: dict[str, Value] = {}
    length = after.decay_steps or new
    steps, part = _spelled(configuration, DECAY_STEPS), _spelled(configuration, _DECAY_SHARE)
    if steps is not None:
        values[steps] = length
    elif part is not None:
        values[part] = float(f"{length / new:.6g}")
    else:
        return None
    end = _spelled(configuration, _END_FACTOR)
    if end is not None:
        values[end] = after.end_factor
    return {n: v for n, v in values.items() if configuration[n] != v}


def _unchanged(schedule: Schedule) -> Schedule:
    """The schedule as a program runs it that only knows its kind: over all the steps."""
    if isinstance(schedule, Warmup):
        return Warmup(schedule.warmup_steps, _unchanged(schedule.schedule), schedule.mode)
    if isinstance(schedule, Linear):
        return Linear(end_factor=schedule.end_factor)
    return schedule


def _inside(schedule: Schedule) -> Schedule:
    return schedule.schedule if isinstance(schedule, Warmup) else schedule


def _spelled(configuration: Mapping[str, Value], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in configuration), None)


def _number(configuration: Mapping[str, Value], names: tuple[str, ...]) -> float | None:
    name = _spelled(configuration, names)
    value = None if name is None else configuration[name]
    return float(value) if is_number(value) else None  # type: ignore[arg-type]
