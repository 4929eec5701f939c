"""Where a probe begins: a known configuration, read by what its names mean."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tunewright.design.names import Meaning
from tunewright.design.ranges import Value, as_number
from tunewright.errors import DesignError, NotFound
from tunewright.execution.command import Command
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.nearest import nearest
from tunewright.store.store import Store
from tunewright.store.trial import Trial

# ---- where a probe begins: the best configuration known of a workload, and the defaults it has


_PROBE_ROUNDS = "probe_"  # how the names of their short rounds begin


def best_known(workload: Workload) -> Trial | None:
    """The best completed trial that any round of the store has for this workload and objective.

    Rounds of probes do not count: they train with features switched off, or in unstable ways.
    """
    try:
        store = Store.open(workload.store, create=False)
    except NotFound:
        return None
    objective, best = workload.objective, None
    with store:
        for record in store.rounds():
            judged_by = (record.objective.metric, record.objective.minimize, record.command)
            if judged_by != (objective.metric, objective.minimize, workload.name):
                continue
            if record.name.startswith(_PROBE_ROUNDS):
                continue
            for trial in store.results(record.name).top(1):
                if best is None or objective.better(trial.value or 0.0, best.value or 0.0):
                    best = trial
    return best


def configuration(
    workload: Workload, known: Trial | None, fixed: Mapping[str, Value]
) -> dict[str, Value]:
    """Every hyperparameter: as fixed by the caller, else as best known, else as by default."""
    accepts = workload.accepts
    for name in fixed:
        if name not in accepts.names and not accepts.takes_anything:
            near = nearest(name, accepts.names)
            hint = f" Did you mean {near!r}?" if near else f" It has {sorted(accepts.names)}."
            raise DesignError("probe.unknown_fixed", name=name, hint=hint)
    recorded = {} if known is None else known.configuration
    taken = {
        name: value
        for name, value in recorded.items()
        if name in accepts.names or accepts.takes_anything
    }
    return {**accepts.defaults, **taken, **fixed}


# ---- A configuration read by what its names mean: learning rate, warm-up, schedule, clipping,
# steps.
#
# What a training program does not take, or nobody gave a value for, is named with the entry to add.


_CONSTANT = "constant"  # the playbook's word for a learning rate that does not change


@dataclass(frozen=True)
class ByMeaning:
    """A complete configuration of a workload."""

    workload: Workload
    configuration: Mapping[str, Value]
    known: Trial | None = None  # the recorded trial it is from

    def name(self, meaning: str) -> str:
        """How the workload spells it."""
        return self.workload.meaning.name(meaning)

    def takes(self, meaning: str) -> bool:
        """Whether the training program has such a hyperparameter."""
        accepts, name = self.workload.accepts, self.name(meaning)
        return name in accepts.names or name in self.configuration or accepts.takes_anything

    def number(self, meaning: str) -> float | None:
        """Its value, if the configuration has one that is a number."""
        return as_number(self.configuration.get(self.name(meaning)))

    @property
    def learning_rate(self) -> float:
        """The learning rate, not a number if there is none."""
        return self.number("learning_rate") or math.nan

    @property
    def max_train_steps(self) -> int:
        """The length of a whole training, 0 if it is not known."""
        return round(self.number("max_train_steps") or 0)

    @property
    def warmup_steps(self) -> int:
        """The steps of warm-up it has already."""
        return round(self.number("warmup_steps") or 0)

    @property
    def unclipped(self) -> Value:
        """The value of `clip_norm` that clips nothing: as declared, else the function's default."""
        name = self.name("clip_norm")
        off, defaults = self.workload.meaning.off_by_name, self.workload.accepts.defaults
        return off[name] if name in off else defaults.get(name)

    def lacks(self, needed: Sequence[str]) -> tuple[Message, ...]:
        """What is missing of these meanings."""
        lacks = (self._lack(meaning) for meaning in needed)
        return tuple(lack for lack in lacks if lack is not None)

    def _lack(self, meaning: str) -> Message | None:
        facts = {"name": self.name(meaning), "meaning": meaning}
        if not self.takes(meaning):
            return Message("probe.takes_no_hyperparameter", facts)
        positive = meaning in ("learning_rate", "max_train_steps")
        if positive and not (self.number(meaning) or 0.0) > 0:
            return Message("probe.no_value", facts)
        if meaning == "clip_norm" and not self._knows_unclipped:
            return Message("probe.unclipped_unknown", {"name": self.name(meaning)})
        return None

    def spelling(self, **meanings: Value) -> dict[str, Value]:
        """These meanings in the workload's own spelling."""
        return {self.name(meaning): value for meaning, value in meanings.items()}

    def with_values(self, **meanings: Value) -> dict[str, Value]:
        """The configuration with these meanings set."""
        return {**self.configuration, **self.spelling(**meanings)}

    def with_meanings(self, **meanings: Value) -> ByMeaning:
        """The same start with these meanings set."""
        return replace(self, configuration=self.with_values(**meanings))

    def short(self, steps: int, **meanings: Value) -> dict[str, Value]:
        """The configuration of a short run: its learning rate constant, where that can be asked."""
        constant = self.spelling(schedule=self._constant) if self._holds else {}
        return {**self.with_values(max_train_steps=steps, **meanings), **constant}

    @property
    def caveats(self) -> tuple[Message, ...]:
        """What short runs of this workload do otherwise than they should."""
        if self._holds:
            return ()
        facts = {"name": self.name("schedule"), "constant": _CONSTANT}
        return (Message("probe.schedule_squeezed", facts),)

    @property
    def _knows_unclipped(self) -> bool:
        if self.name("clip_norm") in self.workload.meaning.off_by_name:
            return True
        is_command = isinstance(self.workload.train, Command)
        return not is_command and self.unclipped in (None, 0, math.inf)

    @property
    def _constant(self) -> Value:
        return self.workload.meaning.off_by_name.get(self.name("schedule"), _CONSTANT)

    @property
    def _holds(self) -> bool:
        """Whether the schedule can be switched off, or is off."""
        name = self.name("schedule")
        known = name in self.workload.meaning.off_by_name and self.takes("schedule")
        return known or self.configuration.get(name) == _CONSTANT


def by_meaning(
    workload: Workload, fixed: Mapping[str, Value] | None, trial: Trial | None
) -> ByMeaning:
    """The trial's configuration, or the best one known, with what is fixed set."""
    known = best_known(workload) if trial is None else trial
    return ByMeaning(workload, configuration(workload, known, fixed or {}), known)


# ---- A training without regularisation, augmentation and schedule: what to set, or what is
# missing


# what switches these off needs no declaration
_NATURAL: Mapping[str, Value] = {
    "weight_decay": 0.0,
    "dropout": 0.0,
    "label_smoothing": 0.0,
    "warmup_steps": 0,
}


def features_off(
    workload: Workload, given: Mapping[str, Value]
) -> tuple[dict[str, Value], list[Message]]:
    """The values that switch off what the program has of it, and the entries still to declare.

    Everything of `off=` goes off, and beyond it the regularisers, warm-up and schedule. `given` are
    the names of the configuration, for programs that take any name.
    """
    meaning, accepts = workload.meaning, workload.accepts
    taken = accepts.names | set(given)
    # a workload refuses names that its program does not take
    off = meaning.off_by_name
    missing = list[Message]()
    for key in _features(meaning):
        name = meaning.name(key)
        if name not in taken or name in off:
            continue
        known = key if key in _NATURAL else meaning.of(name)
        if known is not None and known in _NATURAL:
            off[name] = _NATURAL[known]
        else:
            value_of = {"name": name, "schedule": key == "schedule"}
            missing.append(Message("probe.off_value", value_of))
    return off, missing


def _features(meaning: Meaning) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*meaning.regularisers, "schedule", "warmup_steps")))
