"""Longer where the best were still improving, shorter where they had settled, never both."""

from __future__ import annotations

from dataclasses import replace

from tests.advice.clean_worlds import clean, first
from tests.launches.rounds_of_worlds import asked, ran

from tunewright.actions import Extend
from tunewright.advice.next_round import next_round
from tunewright.checks.checklist import check


def test_still_improving_asks_for_longer_training() -> None:
    made = first(ran(asked(), clean(curve="linear")))
    assert made.kind == "longer"
    assert made.round is not None and made.round.fixed["max_train_steps"] == 2000
    assert made.actions[1] == Extend("first", max_train_steps=2000)
    assert made.reason.facts["lengths"] == [2000, 6000, 18000]  # longer each time, looked at again
    assert made.reason.facts["rule"]["code"] == "schedule.not_named"
    assert "schedule.not_named" not in made.reason.text


def test_best_steps_that_are_all_late_ask_for_longer_training_in_doubt() -> None:
    """Under a decaying rate curves cannot tell, and the best steps all lie at the end."""
    fixed = {"max_train_steps": 1000, "schedule": "cosine"}
    found = next_round(ran(asked(fixed=fixed), clean(curve="to_zero")))
    longer = next(one for one in found if one.kind == "longer")
    assert longer.reason.code == "proposal.longer_in_doubt"
    assert found[0].kind != "longer"  # nothing warns of it
    assert longer.round is not None and longer.round.fixed["max_train_steps"] == 2000
    scattered = next_round(ran(asked(fixed=fixed), clean()))
    assert "longer" not in [one.kind for one in scattered]


def test_settled_by_half_asks_for_shorter_training_and_allows_exploitation() -> None:
    found = next_round(ran(asked(), clean(curve="fast", evaluations=100)))
    assert [one.kind for one in found[:2]] == ["shorter", "exploit"]
    shorter = found[0].round
    assert shorter is not None
    assert shorter.fixed["max_train_steps"] < 1000
    made = ran(asked(), clean(curve="fast", evaluations=100))
    (settles,) = (f for f in check(made) if f.check == "saturated")
    assert shorter.fixed["max_train_steps"] >= max(settles.evidence.best_steps)


def test_longer_and_shorter_are_never_proposed_together() -> None:
    made = ran(asked(), clean(curve="fast", evaluations=100))
    findings = check(made)
    (settles,) = (f for f in findings if f.check == "saturated")
    other = replace(settles, check="still_improving", about="another study")  # of the same round
    kinds = [one.kind for one in next_round(made, [*findings, other])]
    assert "longer" in kinds and "shorter" not in kinds
