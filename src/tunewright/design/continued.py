"""Notes on a round that continues another: what was tuned for settings that have changed since.

A changed batch size moves the best values of the optimizer first and of the regularisers second; a
changed model, data set or augmentation moves the number of steps that a perfect fit takes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from tunewright.design.areas import area_of
from tunewright.design.names import Meaning
from tunewright.design.ranges import Value, choices_of, same_value
from tunewright.design.round import Round
from tunewright.messages import Message

_CHANGES_LENGTH = ("model", "data", "augmentation")  # areas on which the number of steps depends


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
            one
            for one in _fixed(round)
            if one not in again and (one in tuned or meaning.of(one) == "learning_rate")
        ]
        areas = {one: area_of(one, meaning) for one in kept if meaning.of(one) != "optimizer"}
        optimizer = tuple(one for one in areas if areas[one] in ("optimizer", "warm-up"))
        regularisers = tuple(one for one in areas if areas[one] == "regulariser")
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
        one
        for one in dict.fromkeys([*round.names, *earlier.names])
        if area_of(one, meaning) in _CHANGES_LENGTH and not _alike(round, earlier, one)
    ]
    if changed:
        facts = {"name": name, "steps": now[0], "earlier": earlier.name, "changed": changed}
        yield Message("continued.length", facts)


def values_of(round: Round, name: str) -> list[Value]:
    """The values that a name takes in a round, where they can be listed; none for a range."""
    declared = round.scientific.get(name)
    found: list[Value] = list(choices_of(declared) or ())
    for study in round.studies:
        for h in study.space:
            if h.name == name:
                found += h.range.choices or ()
        found += [f.value for f in study.fixed if f.name == name]
    distinct: list[Value] = []
    for value in found:
        if not any(same_value(value, other) for other in distinct):
            distinct.append(value)
    return distinct


def _fixed(round: Round) -> list[str]:
    """What is fixed in every study, and searched in none."""
    searched = {h.name for study in round.studies for h in study.space} | set(round.scientific)
    names = dict.fromkeys(f.name for study in round.studies for f in study.fixed)
    return [name for name in names if name not in searched]


def _alike(round: Round, earlier: Round, name: str) -> bool:
    now, before = values_of(round, name), values_of(earlier, name)
    return all(any(same_value(value, other) for other in before) for value in now)
