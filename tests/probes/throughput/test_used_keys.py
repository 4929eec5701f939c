"""Which entries of a batch a step asks for, by any of the ways to ask a dictionary."""

from __future__ import annotations

import numpy as np
import pytest

from tunewright.probes.throughput.tap import UsedKeys

BATCH = {"x": np.zeros(6), "y": np.zeros(1), "extra": np.zeros(3)}


def unused(step) -> dict[str, float]:
    keys = UsedKeys()
    for _ in range(3):
        noted = keys.watch(dict(BATCH))
        assert isinstance(noted, dict) and len(noted) == 3
        step(noted)
    return keys.unused


def test_what_is_never_asked_for_is_named_with_its_share() -> None:
    assert unused(lambda b: (b["x"], b.get("y"))) == {"extra": pytest.approx(0.3)}
    assert unused(lambda b: (b.pop("x"), b["extra"])) == {"y": pytest.approx(0.1)}
    assert unused(lambda b: [b[name] for name in ("x", "y", "extra")]) == {}


@pytest.mark.parametrize(
    "step",
    [
        lambda b: {name: part + 1 for name, part in b.items()},
        lambda b: list(b.values()),
        lambda b: [b[name] for name in b],
        lambda b: (lambda **parts: parts)(**b),
        lambda b: b.copy(),
        lambda b: {**b},
        lambda b: None,  # it may hold the batch in another way
    ],
)
def test_who_takes_all_leaves_nothing_to_say(step) -> None:
    assert unused(step) == {}


def test_other_batches_pass() -> None:
    keys = UsedKeys()
    pair = (1, 2)
    assert keys.watch(pair) is pair and keys.unused == {}
