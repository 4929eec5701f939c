"""What is a stage of the input pipeline like? The same result again, the same on a whole batch?

A stage that gives the same result again can be done once, ahead of training. One that gives the
same on a stack of examples as on each can run after batching. Both are tried on real examples;
what cannot be tried is not known (None), and nothing is advised about it.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

TRIED = 16  # examples in a stack
REPEATED = 5  # timings, of which the best counts


def same_again(stage: Callable[[Any], Any], value: Any) -> bool | None:
    """Whether a stage gives the same result twice; None where results cannot be compared.

    >>> import random
    >>> same_again(lambda x: 2 * x, 3), same_again(lambda x: random.random(), 3)
    (True, False)
    """
    try:
        one, two, three = (stage(copy.deepcopy(value)) for _ in range(3))
        first, second = equal(one, two), equal(one, three)
    except Exception:
        return None
    return None if first is None or second is None else first and second


def batched_speedup(stage: Callable[[Any], Any], values: Sequence[Any]) -> float | None:
    """How much faster a stage is on a stack of examples; None where the results are not the same.

    >>> batched_speedup(lambda x: x[::-1], [np.arange(3), np.arange(3) + 1]) is None
    True
    """
    values = list(values)[:TRIED]
    try:
        stacked = _stacked(values)
        if stacked is None:
            return None
        together = stage(copy.deepcopy(stacked))
        apart = _stacked([stage(copy.deepcopy(value)) for value in values])
        if apart is None or not _close(together, apart):
            return None
        each = _fastest(lambda: [stage(value) for value in values])
        return each / max(_fastest(lambda: stage(stacked)), 1e-9)
    except Exception:
        return None


def equal(one: Any, two: Any) -> bool | None:
    """Whether two examples are the same; None where that cannot be seen.

    >>> equal((np.ones(2), "a"), (np.ones(2), "a")), equal(object(), object())
    (True, None)
    """
    if isinstance(one, np.ndarray) and isinstance(two, np.ndarray):
        return one.dtype == two.dtype and bool(np.array_equal(one, two))
    if hasattr(one, "detach") and hasattr(two, "detach"):
        return equal(one.detach().cpu().numpy(), two.detach().cpu().numpy())
    if hasattr(one, "tobytes") and hasattr(two, "tobytes"):  # an image
        return bool(one.tobytes() == two.tobytes())
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        return one.keys() == two.keys() and _all(equal(one[name], two[name]) for name in one)
    if isinstance(one, list | tuple) and isinstance(two, list | tuple):
        return len(one) == len(two) and _all(equal(a, b) for a, b in zip(one, two, strict=True))
    if isinstance(one, int | float | str | bytes | bool | None):
        return bool(one == two)
    return None


def size_of(example: Any) -> int | None:
    """The bytes of an example; None where they cannot be seen.

    >>> size_of((np.zeros(4, "float32"), 1))
    24
    """
    if hasattr(example, "nbytes"):
        return int(example.nbytes)
    if isinstance(example, str | bytes):
        return len(example)
    if isinstance(example, int | float | bool | None):
        return 8
    if hasattr(example, "tobytes"):
        return len(example.tobytes())
    parts = example.values() if isinstance(example, Mapping) else example
    if not isinstance(example, Mapping | list | tuple):
        return None
    sizes = [size_of(part) for part in parts]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def _all(found: Any) -> bool | None:
    answers = list(found)
    return None if None in answers else all(answers)


def _stacked(values: Sequence[Any]) -> Any:
    if len(values) < 2:
        return None
    if all(isinstance(value, np.ndarray) for value in values):
        return np.stack(values)
    if all(hasattr(value, "detach") for value in values):
        import torch

        return torch.stack(list(values))
    return None


def _close(one: Any, two: Any) -> bool:
    if hasattr(one, "detach"):
        one, two = one.detach().cpu().numpy(), two.detach().cpu().numpy()
    same = type(one) is type(two) and one.shape == two.shape and one.dtype == two.dtype
    return bool(same and np.allclose(one, two, rtol=1e-4, atol=1e-6, equal_nan=True))


def _fastest(work: Callable[[], Any]) -> float:
    spent = []
    for _ in range(REPEATED):
        before = time.perf_counter()
        work()
        spent.append(time.perf_counter() - before)
    return min(spent)
