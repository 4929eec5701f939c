"""A claim: what a recorded trial was, held by nobody."""

from __future__ import annotations

import pytest
from tests.store.record_parts import a_trial

from tunewright.store.trial import NOBODY, Claim, claim_of


def test_the_claim_of_a_recorded_trial_is_held_by_nobody() -> None:
    trial = a_trial(3, 0.5, identity=8, seed=4, folder="r1-x/t000003")
    claim = claim_of(trial)
    assert (claim.trial, claim.number, claim.attempt, claim.worker) == (8, 3, 1, NOBODY)
    assert (claim.configuration, claim.seed) == (trial.configuration, 4)
    assert (claim.study, claim.index, claim.folder) == (1, 1, "r1-x/t000003")


def test_its_fields_are_named() -> None:
    with pytest.raises(TypeError):
        Claim(1, 1, 0, 0, 0, {}, {}, 0, "")  # type: ignore[misc]
