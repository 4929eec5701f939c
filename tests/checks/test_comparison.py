from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.checks.curve_worlds import results_of

from tunewright.actions import Advise, Repeat, RunTrials
from tunewright.checks.comparison import comparison, pairs
from tunewright.design.conditions import given
from tunewright.design.ranges import linear, log
from tunewright.design.round import Round
from tunewright.store.results import Results
from tunewright.testing import Bowl, Walled, World, results

BOWL = Bowl({"learning_rate": 0.4, "momentum": 0.6})


def made(effect: float = 0.0, arms: int = 2, trials: int = 16, **changes: Any) -> Results:
    settings: dict[str, Any] = {
        "goal": "?",
        "scientific": {"act": ["a", "b", "c", "d"][:arms]},
        "nuisance": {"learning_rate": log(1e-4, 1e-1), "momentum": linear(0.5, 0.95)},
        "trials_per_study": trials,
        **changes,
    }
    world = World(BOWL, effect=lambda s: effect * s.number, noise_sd=0.01)
    return results(Round("r", **settings), world)


def test_a_clear_difference_is_told_with_its_size_and_the_trials_it_took() -> None:
    (finding,) = comparison(made(0.1, arms=3))
    assert finding.verdict == "ok"
    assert (finding.evidence.best, finding.evidence.trials) == ("act=a", 16)
    assert [pair.verdict for pair in finding.evidence.pairs] == ["worse"] * 2
    assert (finding.evidence.pairs[0].other, finding.evidence.weak) == ("act=b", False)
    region = finding.evidence.pairs[0].shared_region
    assert region.interval[0] < 0.1 < region.interval[1]


def test_equal_settings_cannot_be_told_apart() -> None:
    (finding,) = comparison(made(0.0))
    assert finding.verdict == "note"
    (pair,) = finding.evidence.pairs
    assert (pair.verdict, pair.trials, pair.shared_points) == ("not_distinguishable", 16, True)
    assert finding.actions == (Repeat("r"), RunTrials("r", trials_per_study=32))


def test_few_trials_are_called_weak() -> None:
    (finding,) = comparison(made(0.2, trials=8))
    assert (finding.verdict, finding.evidence.weak) == ("ok", True)


def test_infeasible_arms_cannot_be_judged() -> None:
    world = Walled(BOWL, {"learning_rate": 1.0}, above=0.2)
    (finding,) = comparison(results(made().round, world))
    assert finding.verdict == "cannot_judge"
    why = finding.evidence.why
    assert (why.code, why.facts["needed"]) == ("comparison.few_trials", 6)


def test_arms_with_hyperparameters_of_their_own_are_compared_on_their_own_points() -> None:
    nuisance = {
        "act": given(
            {"a": {"slope": linear(0, 1)}, "b": {"gain": linear(0, 1), "bias": linear(0, 1)}}
        ),
        "learning_rate": log(1e-4, 1e-1),
    }
    (pair,) = pairs(made(1.0, nuisance=nuisance))
    assert pair.halves is not None
    assert not pair.halves.shared
    assert pair.region is None
    (finding,) = comparison(made(1.0, nuisance=nuisance))
    assert finding.verdict == "ok"
    assert finding.evidence.pairs[0].shared_points is False


def test_optima_in_different_places_are_pointed_out() -> None:
    near = results(made().round, World(Bowl({"learning_rate": 0.2}), noise_sd=0.01))
    far = results(made().round, World(Bowl({"learning_rate": 0.8}), noise_sd=0.01))
    mixed = [n if n.study == 0 else f for n, f in zip(near.recorded, far.recorded, strict=True)]
    (finding,) = comparison(replace(near, recorded=tuple(mixed)))
    assert finding.evidence.pairs[0].same_place is False
    (together,) = comparison(near)
    assert together.evidence.pairs[0].same_place is not False


def test_one_setting_has_nothing_to_compare() -> None:
    assert comparison(made(scientific={})) == []


def test_unequal_budgets_are_cut_to_the_shared_points() -> None:
    found = made(0.0, trials=20)
    shorter = [t for t in found.recorded if not (t.study == 1 and (t.index or 0) >= 10)]
    (pair,) = pairs(replace(found, recorded=tuple(shorter)))
    assert pair.halves is not None
    assert pair.halves.trials == 10


@pytest.mark.parametrize(("trials", "verdict"), [(20, "cannot_judge"), (64, "note")])
def test_a_scientific_range_has_buckets_and_little_power(trials: int, verdict: str) -> None:
    (finding,) = comparison(made(trials=trials, scientific={"width": linear(0, 1)}))
    assert finding.verdict == verdict
    assert finding.actions == (Advise("compare_as_list", {"name": "width"}),)
    assert (finding.evidence.feasible, finding.evidence.needed) == (trials, 48)
    if trials == 64:
        assert len(finding.evidence.buckets) == 8
        assert np.isfinite(finding.evidence.p)


def test_points_that_are_not_known_are_not_taken_for_shared() -> None:
    found = made(1.0)
    elsewhere = [replace(t, unit={}, configuration={"learning_rate": 7.0}) for t in found.recorded]
    (pair,) = pairs(replace(found, recorded=tuple(elsewhere)))
    assert pair.halves is not None
    assert not pair.halves.shared
    (known,) = pairs(found)
    assert known.halves is not None and known.halves.shared
    assert pair.halves.trials == known.halves.trials
    assert pair.halves.difference == pytest.approx(known.halves.difference)


def test_settings_of_different_lengths_have_no_winner() -> None:
    (finding,) = comparison(made(0.1, scientific={"max_train_steps": [50, 200]}))
    assert finding.verdict == "cannot_judge"
    assert finding.evidence.why.code == "comparison.different_lengths"
    assert finding.actions == (Advise("train_as_long"),)


def compared(rates: dict[int, list[float]]) -> Any:
    """Two settings of 16 trials; the first is better, its trials the better the earlier."""
    levels = np.array([0.2 + 0.1 * (n % 2) + 0.01 * (n // 2) for n in range(32)])
    curves = levels[:, None] + 0.5 * np.exp(-np.arange(30) / 3)
    configurations = [
        {"learning_rate": rates[n % 2][n // 2], "layers": 1 + n % 2} for n in range(32)
    ]
    scientific = {"layers": [1, 2]}
    recorded = results_of(
        {"valid_error": curves}, configurations=configurations, scientific=scientific
    )
    (finding,) = comparison(recorded)
    return finding.evidence.small_rates


def test_a_lead_with_smaller_learning_rates_is_named() -> None:
    spread = [1e-3 * (1 + 7 * n % 16) for n in range(16)]
    seen = compared({0: sorted(spread), 1: sorted(spread, reverse=True)})
    assert (seen.name, seen.best) == ("learning_rate", 3e-3)
    assert seen.others == pytest.approx(14e-3) and seen.p < 0.05
    assert compared({0: spread, 1: spread}) is None
    assert compared({0: sorted(spread, reverse=True), 1: sorted(spread)}) is None  # larger ones


def test_equal_settings_are_hardly_ever_said_to_differ_in_rates() -> None:
    found = [comparison(made(0.1, seed=seed))[0].evidence.small_rates for seed in range(30)]
    assert sum(one is not None for one in found) <= 3
