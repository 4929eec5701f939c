"""What counts as a number when it is logged, and the one line with why something does not."""

from __future__ import annotations

import math
import numbers
import operator
import sys
from collections.abc import Mapping
from typing import Any

from tunewright._jax_arrays import is_jax_array
from tunewright.design.ranges import is_storable
from tunewright.errors import BadValue, WorkloadError
from tunewright.messages import Message
from tunewright.store.plain_json import storable

LARGEST_STEP = 2**63 - 1  # steps are stored as 64-bit integers
_LONGEST_NAME = 200  # characters of a metric's name


def as_number(name: str, value: object) -> float:
    """The value of a metric as a float; refuses, in one line with a remedy, what is not a number.

    >>> as_number("loss", 2**70)
    1.1805916207174113e+21
    >>> as_number("loss", "0.5")
    Traceback (most recent call last):
    tunewright.errors.BadValue: loss: '0.5' is text; log a number, such as float('0.5')
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return _from_array(name, value)
    try:
        return float(value)
    except OverflowError:
        raise _bad_value("too_large", name, value) from None


def on_device(value: object) -> bool:
    """Whether reading it would make the program wait: for an accelerator, or for JAX anywhere."""
    torch: Any = sys.modules.get("torch")  # a program without torch has no tensors
    if torch is not None and isinstance(value, torch.Tensor):
        return bool(value.device.type != "cpu")
    return is_jax_array(value)


def detach(name: str, tensor: Any) -> Any:
    """What can be read later: a copy, unless, as in JAX, nobody can overwrite it meanwhile."""
    _check_array(name, tensor)
    return tensor if is_jax_array(tensor) else tensor.detach().clone()


def as_step(step: object) -> int:
    """A step as an integer; whatever is whole and not negative, NumPy and torch scalars included.

    >>> as_step(1.5)
    Traceback (most recent call last):
    tunewright.errors.BadValue: step 1.5 is not a whole number: steps count updates, 0, 1, 2, ...
    """
    try:
        if isinstance(step, bool):
            raise TypeError
        whole = operator.index(step)  # type: ignore[arg-type]
    except TypeError:
        raise BadValue(Message("step.not_whole", {"value": short_text(step)})) from None
    if not 0 <= whole <= LARGEST_STEP:
        raise BadValue(Message("step.out_of_bounds", {"value": short_text(whole)}))
    return whole


def as_count(steps: object) -> int:
    """A number of training steps; 500.0, as files may have it, will do.

    >>> as_count(500.0)
    500
    """
    if not isinstance(steps, float) or steps.is_integer():
        try:
            return as_step(int(steps) if isinstance(steps, float) else steps)
        except BadValue:
            pass
    raise WorkloadError("log.bad_step", shown=short_text(steps))


def as_name(name: object) -> str:
    """The name of a metric; refuses what cannot name one."""
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME:
        why = "length"
    elif not is_storable(name) or not name.isprintable():
        why = "unprintable"
    else:
        return name
    raise BadValue(Message("metric.bad_name", {"name": short_text(name), "why": why}))


def short_text(value: object, most: int = 40) -> str:
    """A short text for messages, even of a value whose own text is huge or cannot be made.

    >>> short_text("ab" * 100)
    "'abababababababababababababababababab..."
    """
    try:
        text = repr(value)
    except Exception:
        # an integer of thousands of digits, or a __repr__ that raises
        text = f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= most else text[: most - 3] + "..."


def _from_array(name: str, value: Any) -> float:
    """The float in a 0-dimensional array or tensor of any library."""
    if not hasattr(value, "dtype") or not hasattr(value, "shape"):
        raise _why_not(name, value)
    _check_array(name, value)
    try:
        return float(value.item() if hasattr(value, "item") else value)
    except (TypeError, ValueError, OverflowError) as error:
        raise _bad_value("not_read", name, value, text=str(error)) from None


def _check_array(name: str, value: Any) -> None:
    shape = tuple(value.shape)
    if shape:
        raise _bad_value("array", name, value, shape=[int(size) for size in shape])
    kind = str(value.dtype)
    if "bool" in kind:
        raise _bad_value("truth", name, value)
    if "complex" in kind:
        raise _bad_value("complex", name, value)


def _why_not(name: str, value: object) -> BadValue:
    kind = type(value).__name__
    if value is None:
        return _bad_value("none", name, value)
    if isinstance(value, bool):
        return _bad_value("truth", name, value)
    if isinstance(value, str | bytes):
        return _bad_value("text", name, value, reads_as_number=_reads_as_number(value))
    if isinstance(value, complex):
        return _bad_value("complex", name, value)
    if isinstance(value, dict):
        return _bad_value("dictionary", name, value)
    if isinstance(value, list | tuple | set):
        return _bad_value("collection", name, value, type=kind)
    return _bad_value("other", name, value, type=kind)


def _bad_value(kind: str, metric: str, value: object, **facts: Any) -> BadValue:
    return BadValue(
        Message(f"value.{kind}", {"metric": metric, "value": short_text(value), **facts})
    )


def _reads_as_number(text: str | bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# ---- Values that a program reports it used, as plain data: numbers, text, truth values, lists.


MOST_VALUES = 1_000  # of one report; further ones are dropped, since a configuration is shorter
_LONGEST_TEXT = 200  # characters of one value or name


def plain_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """A report as plain data; nested settings get names with dots.

    >>> plain_values({"lr": 0.1, "optim": {"name": "adam"}, "betas": (0.9, float("inf"))})
    {'lr': 0.1, 'optim.name': 'adam', 'betas': [0.9, 'inf']}
    """
    if not isinstance(values, Mapping):
        raise WorkloadError("applied.not_a_mapping", value=values)
    return dict(_flat(values, "")[:MOST_VALUES])


def _flat(values: Mapping[Any, Any], before: str) -> list[tuple[str, Any]]:
    flat: list[tuple[str, Any]] = []
    for name, value in values.items():
        full = f"{before}{name}"
        if isinstance(value, Mapping) and value:
            flat += _flat(value, f"{full}.")
        else:
            flat.append((storable(full, _LONGEST_TEXT), _plain(value)))
    return flat


def _plain(value: Any) -> Any:
    """One value; what has no plain form is its text, since it is there to be compared and read."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return storable(value, _LONGEST_TEXT)
    if isinstance(value, list | tuple) and len(value) <= MOST_VALUES:
        return [_plain(item) for item in value]
    if getattr(value, "shape", None) == () and hasattr(value, "item"):  # NumPy, torch, JAX
        return _plain(value.item())
    try:
        return storable(str(value), _LONGEST_TEXT)
    except Exception:  # a __str__ that raises
        return type(value).__name__
