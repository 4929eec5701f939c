from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.checks.rates import at_most
from tests.checks.real_space import alexnet
from tests.checks.space_worlds import halton

from tunewright.actions import Advise, RunTrials
from tunewright.checks.positions import Axis
from tunewright.checks.sensitivity import discoveries, importances, interactions, sensitivity
from tunewright.design.conditions import Hyperparameter, given
from tunewright.design.ranges import Choice, choice, linear, log
from tunewright.design.round import Round
from tunewright.finding import Finding
from tunewright.messages import Message
from tunewright.testing import Bowl, Unlucky, World, results


def lines(units: np.ndarray, losses: np.ndarray) -> list[Axis]:
    return [
        Axis(Hyperparameter(f"h{n}", f"h{n}", linear(0, 1)), (), units[:, n], losses)
        for n in range(units.shape[1])
    ]


def found(seed: int, count: int, together: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    units = halton(seed, count, 4)
    losses = (units[:, 0] - 0.4) ** 2 + 0.3 * (units[:, 1] - 0.5) ** 2
    losses += together * (units[:, 0] - 0.5) * (units[:, 1] - 0.5)
    return units, losses + 0.02 * np.random.default_rng(seed).normal(size=count)


@pytest.mark.parametrize(("count", "second"), [(16, 0.26), (30, 0.88)])
def test_power_and_false_alarms(count: int, second: float) -> None:
    p = np.array([[one.p for one in importances(lines(*found(s, count)))] for s in range(60)])
    called = (p < 0.05).sum(axis=0)
    assert called[0] == 60
    assert abs(called[1] / 60 - second) < 0.2
    assert at_most(int(called[2] + called[3]), 120, 0.05)


def test_shares_say_which_matters_more() -> None:
    first, second, *rest = importances(lines(*found(0, 60)))
    assert first.share > 0.6 > second.share > max(one.share for one in rest)
    assert first.interval[0] <= first.share <= first.interval[1]
    assert (first.matters, second.matters) == (True, True)
    assert first.best_quarter is not None
    assert first.best_quarter[0] < 0.4 < first.best_quarter[1]


def test_interactions_are_found_where_they_are_and_seldom_where_not() -> None:
    (pair,) = interactions(lines(*found(1, 60, together=1.0))) or []
    assert pair.names == ("h0", "h1")
    called = sum(bool(interactions(lines(*found(s, 40)))) for s in range(40))
    assert at_most(called, 40, 0.1)
    assert interactions(lines(*found(0, 16))) is None


def test_few_trials_are_tested_one_axis_at_a_time() -> None:
    assert all(one.alone for one in importances(lines(*found(0, 11))))
    assert all(one.alone for one in importances(lines(*found(0, 16))))
    assert not any(one.alone for one in importances(lines(*found(0, 30))))


@pytest.mark.parametrize(("count", "least"), [(24, 50), (32, 55)])
def test_the_main_axis_of_eight_is_found_and_others_are_not(count: int, least: int) -> None:
    """One axis rules and five have no effect; a joint fit of 17 terms leaves too little."""
    main = others = 0
    for seed in range(60):
        units = halton(seed, count, 8)
        losses = np.abs(units[:, 0] - 0.4) + 0.15 * np.abs(units[:, 1] - 0.6)
        losses += 0.05 * np.random.default_rng(seed).normal(size=count)
        called = [one.matters for one in importances(lines(units, losses))]
        main, others = main + called[0], others + sum(called[3:])
    assert main >= least
    assert at_most(others, 300, 0.02)


def test_a_list_of_many_values_leaves_degrees_of_freedom() -> None:
    random = np.random.default_rng(1)
    places = random.integers(0, 8, 12) / 7
    act = Axis(
        Hyperparameter("act", "act", Choice(tuple("abcdefgh"))), (), places, random.random(12)
    )
    rates = [
        Axis(Hyperparameter(f"h{n}", f"h{n}", linear(0, 1)), (), random.random(12), act.losses)
        for n in range(4)
    ]
    assert all(0 <= one.p <= 1 for one in importances([act, *rates]))


def test_a_list_without_order_has_a_level_for_each_value() -> None:
    random = np.random.default_rng(0)
    places = random.integers(0, 3, 40) / 2
    losses = np.where(places == 0.5, 0.0, 1.0) + 0.1 * random.normal(size=40)
    activation = Choice(("relu", "gelu", "tanh"))
    axis = Axis(Hyperparameter("act", "act", activation), (), places, losses)
    (one,) = importances([axis])
    assert one.matters and one.p < 0.01
    assert one.share > 0.8
    assert one.best_quarter is None
    without = Axis(axis.hyperparameter, (), places, random.normal(size=40))
    (none,) = importances([without])
    assert not none.matters and none.p > 0.05


def asked(**changes: Any) -> Finding:
    settings: dict[str, Any] = {
        "goal": "?",
        "nuisance": {
            "learning_rate": log(1e-4, 1e-1),
            "beta1": linear(0.8, 0.99),
            "act": choice("relu", "gelu"),
        },
        "trials_per_study": 30,
        **changes,
    }
    world = World(Bowl({"learning_rate": 0.4}), noise_sd=0.01)
    return sensitivity(results(Round("r", **settings), world))[0]


def test_what_decides_and_what_can_be_fixed() -> None:
    finding = asked()
    assert (finding.verdict, finding.evidence.matter[0]) == ("ok", "learning_rate")
    assert set(finding.evidence.unseen) <= {"beta1", "act"}
    assert finding.actions == (Advise("fix_candidates", {"names": finding.evidence.unseen}),)


def test_what_it_needs() -> None:
    few = asked(trials_per_study=8)
    assert (few.verdict, few.evidence.why.facts) == ("cannot_judge", {"feasible": 8, "needed": 10})
    assert few.actions == (RunTrials("r", trials_per_study=16),)
    nothing = asked(nuisance={}, fixed={"learning_rate": 0.1}, trials_per_study=1)
    assert nothing.verdict == "cannot_judge"
    assert nothing.evidence.why.code == "sensitivity.nothing_searched"


@pytest.mark.parametrize(("feasible", "trials"), [(0, 8), (0, 1), (1, 1)])
def test_with_hardly_a_feasible_trial_it_says_that_trials_are_missing(
    feasible: int, trials: int
) -> None:
    surface = Unlucky(Bowl({"learning_rate": 0.4}), share=1.0 - feasible)
    rate = {"learning_rate": log(1e-4, 1e-1)}
    made = results(Round("r", goal="?", nuisance=rate, trials_per_study=trials), surface)
    (finding,) = sensitivity(made)
    facts = {"feasible": feasible, "needed": 10, "adaptive": 0}
    assert finding.evidence.why == Message("sensitivity.few_trials", facts)


def test_false_discoveries() -> None:
    assert discoveries(np.array([0.5, 0.6])).tolist() == [False, False]
    assert discoveries(np.array([])).tolist() == []


def test_the_learning_rate_decides_in_the_recorded_search_of_alexnet() -> None:
    (finding,) = sensitivity(alexnet())
    first = finding.evidence.importances[0]
    assert first.name == "lr"
    assert first.share > 0.8


@pytest.mark.parametrize(("count", "weighed"), [(60, True), (14, False)])
def test_conditional_hyperparameters_are_weighed_where_they_are_active(
    count: int, weighed: bool
) -> None:
    branches = {"adam": {"beta1": linear(0, 1)}, "sgd": {"momentum": linear(0, 1)}}
    space = {"optimizer": given(branches)}
    round = Round("r", goal="?", nuisance=space, trials_per_study=count)

    def surface(unit: Any) -> float:
        return float(sum((v - 0.4) ** 2 for n, v in unit.items() if n.endswith("momentum")))

    (finding,) = sensitivity(results(round, World(surface, noise_sd=0.001)))
    names = {one.name: one.matters for one in finding.evidence.conditional}
    (momentum,) = (n for n in (*names, *finding.evidence.unweighed) if n.endswith("momentum"))
    if weighed:
        assert names[momentum] and len(names) == 2
        assert momentum in finding.evidence.matter and not finding.evidence.unweighed
    else:
        assert not names and len(finding.evidence.unweighed) == 2
    assert finding.words.evidence
