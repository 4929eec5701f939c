"""A range around an option's default, on the scale that its meaning is searched on."""

from __future__ import annotations

import math

from tunewright.design.ranges import (
    Range,
    choice,
    integers,
    linear,
    log,
    log_from_one,
)
from tunewright.design.spellings import regularises, usual_meaning
from tunewright.project.programs.declared import Declared
from tunewright.project.programs.roles import Proposed

# where nothing is known of the default
_USUAL: dict[str, Range] = {
    "learning_rate": log(1e-4, 1e-1),
    "weight_decay": log(1e-6, 1e-2),
    "momentum": log_from_one(0.7, 0.995),
    "beta1": log_from_one(0.5, 0.99),
    "beta2": log_from_one(0.5, 0.999),
    "epsilon": log(1e-10, 1e-6),
    "clip_norm": log(0.1, 10.0),
}
_WIDE = {"learning_rate": 10.0, "weight_decay": 10.0, "epsilon": 100.0, "clip_norm": 10.0}
_FROM_ONE = ("momentum", "beta1", "beta2")
_FRACTION = (
    "dropout",
    "smoothing",
    "prob",
    "rate",
    "ratio",
    "pct",
    "fraction",
    "frac",
    "mix",
    "path",
)


def proposed_range(one: Proposed) -> Range | None:
    """The range to search a nuisance hyperparameter in; None where none can be proposed.

    >>> from tunewright.messages import Message
    >>> why = Message("scan.role", {"part": "optimizer"})
    >>> lr = Proposed(Declared("lr", "--lr", "float", 6e-4), "nuisance", why, "learning_rate")
    >>> str(proposed_range(lr))
    'log(6e-05, 0.006)'
    """
    option = one.option
    meaning = one.meaning or usual_meaning(option.name)
    if option.choices:
        return choice(*option.choices) if len(option.choices) > 1 else None
    if option.kind not in ("float", "int", "other"):
        return None
    value = option.value
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return _USUAL.get(meaning or "") if option.kind != "int" else None
    if option.kind == "int" or isinstance(value, int):
        # the length of a decay follows the length of training, which is fixed
        follows = one.reason.facts["part"] == "schedule" and "warm" not in option.name.lower()
        return None if follows else _of_whole(int(value))
    # an average's share that is kept (ema_decay 0.9998) matters by its distance from one
    near_one = 0.9 <= value < 1 or (0.5 <= value < 1 and "beta" in option.name.lower())
    if meaning in _FROM_ONE or near_one:
        return _from_one(value) if 0 < value < 1 else _USUAL.get(meaning or "beta1")
    if _is_fraction(option, value):
        return linear(0.0, float(f"{min(0.5, max(0.3, 2 * value)):.1g}"))
    if value > 0:
        wide = _WIDE.get(meaning or "", 10.0 if one.reason.facts["part"] == "optimizer" else 3.0)
        return log(_short(value / wide), _short(value * wide))
    return _USUAL.get(meaning or "")


def _of_whole(value: int) -> Range | None:
    """A count: from none to twice the default."""
    if value < 0:
        return None
    return integers(0, 2 * value) if value > 0 else None


def _from_one(value: float) -> Range:
    """Five times nearer to one, and five times farther."""
    rest = 1 - value
    low, high = max(1 - 5 * rest, 0.5), 1 - rest / 5
    return log_from_one(float(f"{min(low, value):.4g}"), float(f"{high:.6g}"))


def _is_fraction(option: Declared, value: float) -> bool:
    """Whether it is a probability or a share, searched on a plain scale from zero."""
    name = option.name.lower()
    if "lr" in name.split("_") or "learning_rate" in name:
        return False
    named = any(word in name for word in _FRACTION)
    shrinks = regularises(option.name) and usual_meaning(option.name) != "weight_decay"
    return 0 <= value <= 0.5 and (named or shrinks)


def _short(value: float) -> float:
    return float(f"{value:.1g}")
