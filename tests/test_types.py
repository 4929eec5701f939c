"""`tunewright.types` names the types that the public functions return."""

from __future__ import annotations

import inspect

import pytest

import tunewright as tw
from tunewright import types


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (tw.run, "Results"),
        (tw.load, "Results"),
        (tw.check, "Finding"),
        (tw.next_round, "Proposal"),
        (tw.tune, "Campaign"),
        (tw.campaign, "Campaign"),
        (tw.minimize, "Objective"),
    ],
)
def test_what_a_function_returns_has_a_public_type(function: object, name: str) -> None:
    assert callable(function)
    assert name in str(inspect.signature(function).return_annotation)
    assert inspect.isclass(getattr(types, name))
