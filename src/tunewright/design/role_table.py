"""The hyperparameters of a round or a study as a table: role, and value or range."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tunewright.design.conditions import Fixed, Hyperparameter, in_words
from tunewright.design.ranges import Range, choices_of
from tunewright.messages import Message, words
from tunewright.messages.markup import Table


def table_of(
    space: Sequence[Hyperparameter], fixed: Sequence[Fixed], scientific: Mapping[str, Any]
) -> Table:
    """Every hyperparameter with its role and its value or range, as a card shows it."""

    def word(code: str, **facts: Any) -> str:
        return Message(f"card.label.{code}", facts).text

    rows = [(name, word("scientific"), _shown(one)) for name, one in scientific.items()]
    known = {name for name, _, _ in rows}
    for own in space:
        if own.name not in known:
            condition = in_words(own.when)
            when = f" ({word('conditional', condition=condition.strip())})" if condition else ""
            rows.append((own.name, word("nuisance"), f"{_shown(own.range)}{when}"))
    for held in fixed:
        rows.append((held.name, word("fixed"), f"{words.value(held.value)}{in_words(held.when)}"))
    return Table((word("hyperparameter"), word("role"), word("searched")), tuple(rows))


def _shown(declared: Any) -> str:
    values = choices_of(declared)
    if values is not None and declared.belief is None:
        return f"[{', '.join(words.value(value) for value in values)}]"
    return str(declared) if isinstance(declared, Range) else words.value(declared)
