"""Overfitting asks for a regulariser, before anything else about the model is changed."""

from __future__ import annotations

import pytest
from tests.advice.clean_worlds import clean, first
from tests.launches.rounds_of_worlds import REFERENCE, asked, ran, with_added

import tunewright as tw
from tunewright.advice.next_round import next_round
from tunewright.testing import Bowl, results, rise


def test_overfitting_asks_for_a_regulariser() -> None:
    fixed = {"max_train_steps": 1000, "weight_decay": 1e-4, "dropout": 0.0}
    made = ran(asked(fixed=fixed, trials_per_study=20), clean())
    found = next_round(with_added(made, valid_error=rise(50, by=0.3, since=0.4)))
    assert found[0].kind == "regularise"
    (one, both) = (p.round for p in found if p.kind == "regularise")
    assert one is not None and both is not None
    assert str(one.nuisance["weight_decay"]) == "log(1e-06, 0.01)"
    assert one.fixed == {"max_train_steps": 1000, "dropout": 0.0}
    assert one.trials_per_study == 25  # three are searched now
    assert str(both.nuisance["dropout"]) == "linear(0, 0.5)"


def test_overfitting_is_regularised_before_a_larger_model_is_tried() -> None:
    """Neither more layers nor fewer are a remedy for overfitting."""
    nuisance = {"learning_rate": REFERENCE["learning_rate"], "layers": tw.integers(1, 8)}
    fixed = {"max_train_steps": 1000, "weight_decay": 1e-4}
    surface = Bowl({"learning_rate": 0.5, "layers": 1.3})
    round = asked(nuisance=nuisance, fixed=fixed, trials_per_study=30)
    made = results(round, clean(surface))
    assert first(made).kind == "widen"
    assert "layers" in first(made).reason.facts["ranges"]
    overfits = with_added(made, valid_error=rise(50, by=0.3, since=0.4))
    found = next_round(overfits)
    assert (found[0].kind, found[0].round.nuisance["layers"]) == ("regularise", tw.integers(1, 8))
    assert "widen" not in [one.kind for one in found]
    # what is not a part of the model is widened all the same
    both = results(round, clean(Bowl({"learning_rate": 1.3, "layers": 1.3})))
    wide = next_round(with_added(both, valid_error=rise(50, by=0.3, since=0.4)))[0]
    assert wide.kind == "widen" and set(wide.reason.facts["ranges"]) == {"learning_rate"}
    assert wide.reason.facts["left_out"] == ["layers"]


@pytest.mark.parametrize(("level", "fits"), [(3.0, False), (0.0, True)])
def test_a_regulariser_for_a_training_set_that_is_not_fit_has_a_note(
    level: float, fits: bool
) -> None:
    fixed = {"max_train_steps": 1000, "weight_decay": 1e-4}
    made = ran(asked(fixed=fixed, trials_per_study=20), clean())
    lower = -2 * 0.2  # the best trials end at about 0.2
    found = first(
        with_added(made, valid_error=rise(50, by=0.3, since=0.4), train_loss=level or lower)
    )
    assert found.kind == "regularise"
    note = found.reason.facts["not_fit"]
    assert (note is None) is fits
    if not fits:
        assert note["metric"] == "train_loss" and note["fitted"] < 0.7


def test_overfitting_without_a_regulariser_says_what_is_missing() -> None:
    made = with_added(ran(asked(), clean()), valid_error=rise(50, by=0.3, since=0.4))
    found = first(made)
    assert (found.kind, found.round) == ("regularise", None)
    assert found.reason.code == "proposal.no_regulariser"
    assert found.reason.facts["known"] == ["weight_decay", "dropout", "label_smoothing"]
