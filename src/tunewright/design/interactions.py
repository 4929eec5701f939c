"""Which hyperparameters act on each other: what must not be fixed, shared or tuned as an aside.

The more a nuisance hyperparameter interacts with the scientific one, the more a comparison at one
value of it holds for that value alone (playbook, "Identifying scientific, nuisance and fixed
hyperparameters"). One table, `FIXED_WHILE_COMPARED`, holds the pairs; notes, never refusals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tunewright.design.areas import Area, area_of
from tunewright.design.names import Meaning
from tunewright.design.ranges import Value, choices_of, same_value
from tunewright.design.round import Round
from tunewright.messages import Message

_OF_ONE_OPTIMIZER = ("learning_rate", "momentum", "beta1", "beta2", "epsilon", "weight_decay")


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
        asked = [name for name, area in compared.items() if area == interaction.compared]
        held = [
            name
            for name in fixed
            if area_of(name, meaning) == interaction.fixed
            and meaning.of(name) not in ("optimizer", "learning_rate", "clip_norm")
        ]
        if asked and held:
            yield Message(
                "advice.fixed_while_compared",
                {
                    "compared": asked,
                    "fixed": {name: fixed[name] for name in held},
                    "why": Message(interaction.why).to_data(),
                },
            )


def _nuisance(round: Round) -> list[str]:
    found = (h for study in round.studies for h in study.space if h.column not in round.scientific)
    return list(dict.fromkeys(h.name for h in found))


def _fixed(round: Round) -> Mapping[str, Value]:
    """What has one value in all studies; what differs between them was thought of."""
    searched = {*_nuisance(round), *round.scientific}
    found: dict[str, list[Value]] = {}
    for study in round.studies:
        for one in study.fixed:
            own = found.setdefault(one.name, [])
            if not any(same_value(one.value, other) for other in own):
                own.append(one.value)
    return {
        name: values[0]
        for name, values in found.items()
        if len(values) == 1 and name not in searched
    }


def _off(name: str, value: Value, meaning: Meaning) -> bool:
    """Whether a value switches its hyperparameter off, so that it acts on nothing."""
    if value is None or value is False:
        return True
    return same_value(value, meaning.off_by_name.get(name, 0))
