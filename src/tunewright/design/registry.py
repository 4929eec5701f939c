"""The registry of kinds of ranges: round files, stores and importers look a kind up by its name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from tunewright.design import belief
from tunewright.design.range import Range
from tunewright.errors import DesignError

_TAKEN = ("given", "none", *belief.KEYS)  # words of a round file that are no kinds of ranges
K = TypeVar("K", bound=type[Range])
_KINDS: dict[str, type[Range]] = {}


def register(kind: K) -> K:
    """Make a kind of range known by its name; also usable as a decorator of the class.

    Defining the class again (as in a notebook) replaces it; the name of another class is refused.

    >>> import tunewright as tw
    >>> from tunewright.design.kinds.log import Log
    >>> tw.ranges.register(Log) is Log
    True

    Args:
        kind: a class that fulfils the protocol of `tw.protocols.Range`, with a name in `kind`.
    """
    name = getattr(kind, "kind", None)
    if not isinstance(kind, type) or not issubclass(kind, Range):
        raise DesignError("range.not_a_kind", given=kind)
    if not isinstance(name, str) or not name.isidentifier() or name in _TAKEN:
        raise DesignError("range.bad_kind_name", given=kind.__name__, name=name)
    known = _KINDS.get(name)
    if known is not None and _home(known) != _home(kind):
        raise DesignError("range.kind_taken", name=name, given=_home(kind), known=_home(known))
    _KINDS[name] = kind
    return kind


def kinds() -> Mapping[str, type[Range]]:
    """Every registered kind by its name.

    >>> import tunewright as tw
    >>> tw.ranges.kinds()["log"].__name__
    'Log'
    """
    return MappingProxyType(_KINDS)


def read(data: Mapping[str, Any]) -> Range | None:
    """The range that a table of a round file means; None where it names no kind.

    >>> from tunewright.design import ranges
    >>> str(read({"log": [0.1, 1]})), read({"learning_rate": 0.1})
    ('log(0.1, 1)', None)
    """
    named = [name for name in _KINDS if name in data]
    # `integers` has a flag `log`, which is no second range
    beside = {key for name in named for key in _KINDS[name].keys}
    found = [name for name in named if name not in beside] or named
    if not found:
        return None
    kind, *others = found
    allowed = {kind, *_KINDS[kind].keys, *belief.KEYS}
    others += [key for key in data if key not in allowed and key not in others]
    if others:
        raise DesignError("declaration.two_kinds", others=others, kind=kind)
    alone = {key: given for key, given in data.items() if key not in belief.KEYS}
    return belief.read_belief(_KINDS[kind].from_data(alone), data)


def _home(kind: type[Range]) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
