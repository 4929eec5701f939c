"""A configuration read by what its names mean: learning rate, warm-up, schedule, clipping, steps.

What a training program does not take, or nobody gave a value for, is named with the entry to add.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tunewright.design.ranges import Value, is_number
from tunewright.execution.command import Command
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.probes.starting_point import best_known, configuration
from tunewright.store.trial import Trial

CONSTANT = "constant"  # the playbook's word for a learning rate that does not change


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
        value = self.configuration.get(self.name(meaning))
        return float(value) if isinstance(value, int | float) and is_number(value) else None

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

    def spelled(self, **meanings: Value) -> dict[str, Value]:
        """These meanings in the workload's own spelling."""
        return {self.name(meaning): value for meaning, value in meanings.items()}

    def changed(self, **meanings: Value) -> dict[str, Value]:
        """The configuration with these meanings set."""
        return {**self.configuration, **self.spelled(**meanings)}

    def with_meanings(self, **meanings: Value) -> ByMeaning:
        """The same start with these meanings set."""
        return replace(self, configuration=self.changed(**meanings))

    def short(self, steps: int, **meanings: Value) -> dict[str, Value]:
        """The configuration of a short run: its learning rate constant, where that can be asked."""
        constant = self.spelled(schedule=self._constant) if self._holds else {}
        return {**self.changed(max_train_steps=steps, **meanings), **constant}

    @property
    def caveats(self) -> tuple[Message, ...]:
        """What short runs of this workload do otherwise than they should."""
        if self._holds:
            return ()
        facts = {"name": self.name("schedule"), "constant": CONSTANT}
        return (Message("probe.schedule_squeezed", facts),)

    @property
    def _knows_unclipped(self) -> bool:
        if self.name("clip_norm") in self.workload.meaning.off_by_name:
            return True
        is_command = isinstance(self.workload.train, Command)
        return not is_command and self.unclipped in (None, 0, math.inf)

    @property
    def _constant(self) -> Value:
        return self.workload.meaning.off_by_name.get(self.name("schedule"), CONSTANT)

    @property
    def _holds(self) -> bool:
        """Whether the schedule can be switched off, or is off."""
        name = self.name("schedule")
        known = name in self.workload.meaning.off_by_name and self.takes("schedule")
        return known or self.configuration.get(name) == CONSTANT


def by_meaning(
    workload: Workload, fixed: Mapping[str, Value] | None, trial: Trial | None
) -> ByMeaning:
    """The trial's configuration, or the best one known, with what is fixed set."""
    known = best_known(workload) if trial is None else trial
    return ByMeaning(workload, configuration(workload, known, fixed or {}), known)
