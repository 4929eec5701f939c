"""Did you mean this one? The known name nearest to one that nobody knows."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: object, known: Iterable[str]) -> str | None:
    """The known name that is most like this one; None where none is alike.

    >>> nearest("learning_rat", ["learning_rate", "momentum"]), nearest("x", ["momentum"])
    ('learning_rate', None)
    """
    return next(iter(difflib.get_close_matches(str(name), list(known), n=1)), None)
