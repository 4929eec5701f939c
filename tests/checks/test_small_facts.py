"""Facts of checks at their limits: exact intervals, counts that decide, and what is listed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.checks.applied_worlds import Manner, results_of as applied_results, round_of
from tests.checks.curve_worlds import results_of
from tests.store.record_parts import a_trial

from tunewright.checks._doubt import MOST_LISTED, numbers
from tunewright.checks._training_fit import training_fit
from tunewright.checks.applied import applied
from tunewright.checks.baseline import baseline
from tunewright.checks.boundary import BoundaryEvidence
from tunewright.checks.checklist import by_chance
from tunewright.checks.fairness import fairness
from tunewright.checks.instability import instability
from tunewright.checks.overfitting import overfitting
from tunewright.checks.variance import spread
from tunewright.design.conditions import given
from tunewright.design.objective import minimize
from tunewright.design.ranges import linear, log
from tunewright.design.round import Round
from tunewright.finding import Finding
from tunewright.messages import Message
from tunewright.testing import Bowl, World, results

T = np.linspace(0, 1, 40)


def test_the_spread_of_three_repeats_has_the_interval_of_one_degree_of_freedom() -> None:
    found = spread([[0.0, 1.0, 2.0]])
    assert found is not None
    assert (found.sd, found.repeats, found.groups) == (1.0, 3, 1)
    assert found.low == pytest.approx(1 / 1.959964, rel=1e-5)  # chi square of 1: 3.841, 0.00393
    assert found.high == pytest.approx(1 / 0.0627068, rel=1e-4)


def test_the_first_trials_are_listed_by_number_and_repeats_are_not() -> None:
    trials = [a_trial(n, 0.5) for n in range(MOST_LISTED + 5)]
    assert numbers([a_trial(None, 0.5, parent=0), *trials]) == tuple(range(MOST_LISTED))


def test_a_doubt_shows_the_values_of_three_trials() -> None:
    made = round_of(np.random.default_rng(1), None, searched=2)
    wrong = {"learning_rate": 1e-4}
    (found,) = applied(applied_results(made, Manner(echo=lambda g, used: {**g, **wrong})))
    doubt = found.evidence.doubts[0]
    assert doubt.runs > 3
    assert doubt.seen == (1e-4,) * 3
    trials = applied_results(made, Manner()).trials
    rates = [t.configuration["learning_rate"] for t in trials if t.number in doubt.trials]
    assert list(doubt.given) == rates[:3]


def warned(count: int, of: int) -> list[Finding]:
    evidence = BoundaryEvidence(())
    return [
        Finding(
            check="boundary",
            scope="study",
            about=f"seed={n}",
            verdict="warn" if n < count else "ok",
            evidence=evidence,
        )
        for n in range(of)
    ]


@pytest.mark.parametrize(("studies", "verdict"), [(9, "warn"), (10, "note")])
def test_one_warning_among_ten_studies_is_chance_and_among_nine_is_not(
    studies: int, verdict: str
) -> None:
    assert by_chance(warned(1, studies), "seed=5")[0].verdict == verdict


def test_a_loss_of_nothing_by_chance_leaves_no_reference() -> None:
    falling = np.tile(np.linspace(2.3, 0.1, 20), (6, 1))
    made = results_of({"valid_error": falling, "train_loss": falling}, means={"chance": 0.0})
    assert training_fit(made, made.top(6)) is None


def test_chance_is_compared_with_where_the_curves_begin() -> None:
    curve = np.concatenate([[0.9], np.linspace(0.5, 0.2, 39)]) + 0.001 * np.arange(6)[:, None]
    (found,) = baseline(results_of({"valid_error": curve}, means={"chance": 0.9}))
    assert (found.evidence.chance, found.evidence.unused_chance) == (0.9, None)
    assert found.verdict == "ok"


def spaces(a: int, b: int) -> Any:
    """What fairness finds where one setting searches so many hyperparameters, the other others."""
    inner = {
        name: {f"{name}{k}": linear(0, 1) for k in range(count - 1)}
        for name, count in {"a": a, "b": b}.items()
    }
    round = Round(
        "r",
        goal="?",
        scientific={"act": ["a", "b"]},
        nuisance={"learning_rate": log(1e-4, 1e-1), "act": given(inner)},
        trials_per_study=16,
    )
    (found,) = fairness(results(round, World(Bowl({"learning_rate": 0.5}))))
    return found.evidence.spaces


@pytest.mark.parametrize(("a", "b", "noted"), [(4, 2, True), (3, 2, False), (3, 1, True)])
def test_twice_the_dimensions_and_two_more_are_noted(a: int, b: int, noted: bool) -> None:
    found = spaces(a, b)
    assert (found is not None) == noted
    if found is not None:
        assert (found.most.searched, found.least.searched) == (a, b)


def test_out_of_memory_just_above_the_best_rate_is_no_instability() -> None:
    rates = [0.1, 0.09, 0.08, 0.07, 0.06, 0.05, 0.15, 0.2, 0.25]
    valid = 0.5 - 0.4 * np.linspace(0, 1, 100) + 0.01 * np.arange(9)[:, None]
    train = 2.3 - 2.0 * np.linspace(0, 1, 100) + 0.001 * np.arange(9)[:, None]
    made = results_of(
        {"valid_error": valid, "train_loss": train},
        configurations=[{"learning_rate": rate} for rate in rates],
    )
    lost = [
        replace(t, status="infeasible", reason=Message("limit.time", {"limit_s": 60.0}))
        if t.number in (6, 7)
        else t
        for t in made.recorded
    ]
    (found,) = instability(replace(made, recorded=tuple(lost)))
    above = found.evidence.above_best_rate
    assert above is not None
    assert (above.trials, above.unstable) == (3, ())


def test_the_validation_loss_is_judged_where_the_objective_is_the_training_loss() -> None:
    train = 2.3 - 2.0 * T + 0.001 * np.arange(6)[:, None]
    made = results_of({"train_loss": train}, objective=minimize("train_loss"))
    (found,) = overfitting(made)
    assert found.verdict == "cannot_judge"
    assert found.evidence.why.facts == {"metric": "valid_loss", "logged": ["train_loss"]}
