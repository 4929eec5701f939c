"""Notes on a round that continues another: what was tuned for settings that have changed since.

A changed batch size moves the best values of the optimizer first and of the regularisers second; a
changed model, data set or augmentation moves the number of steps that a perfect fit takes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tunewright.design.areas import area_of
from tunewright.design.names import Meaning
from tunewright.design.ranges import Choice, Value, same_value
from tunewright.design.round import Round
from tunewright.messages import Message

CHANGES_LENGTH = ("model", "data", "augmentation")  # areas on which the number of steps depends


def notes_on_continued(
    round: Round, earlier: Round, meaning: Meaning, probed: Collection[object] = ()
) -> tuple[Message, ...]:
    """What the settings of `earlier` make doubtful; `probed` are lengths that a probe proposed."""
    return (
        *_batch_size(round, earlier, meaning),
        *_length(round, earlier, meaning, probed),
    )


def _batch_size(round: Round, earlier: Round, meaning: Meaning) -> Iterator[Message]:
    name = meaning.name("batch_size")
    before, now = values_of(earlier, name), values_of(round, name)
    if len(before) != 1 or len(now) != 1 or same_value(before[0], now[0]):
        return
    tuned = {h.name for study in earlier.studies for h in study.space} | set(earlier.scientific)
    frozen = [one for one in _fixed(round) if one in tuned or meaning.of(one) == "learning_rate"]
    optimizer = [
        one
        for one in frozen
        if area_of(one, meaning) in ("optimizer", "warm-up") and meaning.of(one) != "optimizer"
    ]
    regularisers = [one for one in frozen if area_of(one, meaning) == "regulariser"]
    if optimizer or regularisers:
        yield Message(
            "continued.batch_size",
            {
                "name": name,
                "earlier": earlier.name,
                "before": before[0],
                "now": now[0],
                "optimizer": optimizer,
                "regularisers": regularisers,
            },
        )


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
        if area_of(one, meaning) in CHANGES_LENGTH and not _alike(round, earlier, one)
    ]
    if changed:
        facts = {"name": name, "steps": now[0], "earlier": earlier.name, "changed": changed}
        yield Message("continued.length", facts)


def values_of(round: Round, name: str) -> list[Value]:
    """The values that a name takes in a round, where they can be listed; none for a range."""
    declared = round.scientific.get(name)
    found: list[Value] = list(declared.values) if isinstance(declared, Choice) else []
    for study in round.studies:
        for h in study.space:
            if h.name == name and isinstance(h.range, Choice):
                found += h.range.values
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
