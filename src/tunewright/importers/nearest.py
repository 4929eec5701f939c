"""The nearest right name, as the end of a refusal."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str], most: int = 12) -> str:
    """The nearest known name, else what is known, with a space before it.

    >>> did_you_mean("learnig_rate", ["learning_rate", "beta1"]), did_you_mean("x", ["beta1"])
    (" Did you mean 'learning_rate'?", ' There is: beta1.')
    """
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f" Did you mean {near[0]!r}?"
    if not names:
        return ""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f" There is: {', '.join(names[:most])}{more}."
