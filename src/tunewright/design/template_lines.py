"""Lines of a round file to fill in: what the round asks about, and what its trials pay for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from tunewright.design.areas import area_of
from tunewright.design.budget import dimensions_for
from tunewright.design.names import Meaning
from tunewright.design.ranges import Value, same_value
from tunewright.design.spellings import lengths, usual_meaning
from tunewright.design.toml_file import toml_key, toml_value

_NEVER_ASKED = ("optimizer", "length", "schedule", "warm-up")  # areas: nuisance or one value
_STRENGTH = {"weight_decay": 1e-4}  # of a regulariser that is switched on; others take 0.1


def asked_about(name: str, takes: Sequence[str], meaning: Meaning) -> str | None:
    """The hyperparameter that a round of this name asks about: `dropout_2` about dropout.

    >>> asked_about("dropout_2", ["lr", "dropout"], Meaning())
    'dropout'
    """
    for own in takes:
        wanted = area_of(own, meaning) not in _NEVER_ASKED or meaning.of(own) == "optimizer"
        if wanted and re.fullmatch(rf"{re.escape(own)}(_\d+)?", name):
            return own
    return None


def scientific_lines(
    asked: str | None, others: Sequence[str], meaning: Meaning, defaults: Mapping[str, Value]
) -> Iterator[str]:
    """What the round asks about, then comments for what has no default."""
    if asked is not None:
        if area_of(asked, meaning) == "regulariser":
            off, own = meaning.off_by_name.get(asked, 0.0), defaults.get(asked)
            usual = _STRENGTH.get(meaning.of(asked) or "", 0.1)
            on = usual if own is None or same_value(own, off) else own
            values = f"[{toml_value(off)}, {toml_value(on)}]"
            yield f"{toml_key(asked)} = {values}  # off against on"
        else:
            own = defaults.get(asked)
            first = " " if own is None else f"{toml_value(own)}"
            yield f"# {toml_key(asked)} = [{first}, ]  # the round's question: list values here"
    for name in others:
        yield f"# {toml_key(name)} = [ , ]  # no default: list values here, or give it another role"


def what_is_paid_for(trials_per_study: int) -> Iterator[str]:
    """Comments: how many hyperparameters the trials pay for, and what to fix."""
    paid = dimensions_for(trials_per_study)
    yield f"# the most important first: {trials_per_study} trials per study pay for {paid} of them;"
    yield "# fix the rest from the end, each a caveat, but not what acts on the scientific one"


def one_value(name: str, meaning: Meaning) -> bool:
    """Whether a hyperparameter has one value: it counts the training steps, or the batch."""
    meant = meaning.of(name) or usual_meaning(name)
    return meant == "batch_size" or bool(lengths(meaning, [name]))
