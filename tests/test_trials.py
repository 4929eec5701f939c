"""`tunewright.trials`: the verbs about recorded trials, with the types that they use."""

from __future__ import annotations

import inspect

from tunewright import trials


def test_the_types_of_the_verbs_are_named_beside_them() -> None:
    assert inspect.signature(trials.again).return_annotation == trials.Again.__name__
    assert set(trials.__all__) == {"Again", "Checkpoint", "again", "evaluate"}
    assert callable(trials.evaluate) and callable(trials.again)
