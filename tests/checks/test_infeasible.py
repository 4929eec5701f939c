from __future__ import annotations

from typing import Any

import pytest
from tests.checks.real_space import SWEEPS, alexnet, sweep

from tunewright.actions import Advise, NextRound, Probe
from tunewright.checks.infeasible import Shared, infeasible
from tunewright.design.conditions import given
from tunewright.design.ranges import linear, log
from tunewright.design.round import Round
from tunewright.finding import Finding
from tunewright.stats.spread import wilson
from tunewright.testing import Bowl, Surface, Unlucky, Walled, results

RATE = {"learning_rate": log(1e-4, 1e-1)}
BOWL = Bowl({"learning_rate": 0.3})


def asked(surface: Surface, trials: int = 20, nuisance: Any = None) -> Finding:
    round = Round("r", goal="?", nuisance=nuisance or RATE, trials_per_study=trials)
    return infeasible(results(round, surface))[0]


def above(threshold: float) -> Surface:
    return Walled(BOWL, {"learning_rate": 1.0}, above=threshold)


def test_none_is_fine() -> None:
    finding = asked(BOWL)
    assert (finding.verdict, finding.evidence.infeasible) == ("ok", 0)


def test_a_third_above_a_rate_is_normal_and_localised() -> None:
    finding = asked(above(0.7))
    assert finding.verdict == "note"
    (own,) = finding.evidence.regions
    low, high = own.between
    assert low < 1e-4 * 1000**0.7 < high
    assert own.clear
    assert (own.feature, own.rises, own.branch) == ("learning_rate", True, ())
    assert finding.evidence.infeasible == 6
    assert [(r.reason, r.trials) for r in finding.evidence.reasons] == [("metric.not_finite", 6)]


def test_most_of_them_is_a_warning_and_all_of_them_suspect_a_bug() -> None:
    most = asked(above(0.25), trials=40)
    assert most.verdict == "warn"
    leave_out, *rest = most.actions
    assert isinstance(leave_out, Advise) and leave_out.code == "leave_out_region"
    assert (leave_out.facts["feature"], leave_out.facts["rises"]) == ("learning_rate", True)
    assert rest == [Probe("warmup", "r"), Probe("clip", "r"), NextRound("r")]
    assert not most.evidence.nearly_all
    for suspected in (asked(above(-1.0)), asked(above(0.05), trials=40)):
        assert (suspected.verdict, suspected.evidence.nearly_all) == ("warn", True)
        assert suspected.actions[0] == Advise("suspect_bug")


def test_divergence_anywhere_is_not_localised() -> None:
    finding = asked(Unlucky(BOWL, share=0.3), trials=30)
    assert finding.evidence.regions == ()
    assert [action.kind for action in finding.actions] == ["show_trial"]


def test_each_conditional_branch_has_its_own_region() -> None:
    nuisance = {
        "optimizer": given(
            {"adam": {"learning_rate": log(1e-5, 1e-2)}, "sgd": {"learning_rate": log(1e-3, 1.0)}}
        )
    }

    def surface(unit: Any) -> float | None:
        adam, sgd = (
            unit.get("optimizer.adam.learning_rate"),
            unit.get("optimizer.sgd.learning_rate"),
        )
        return None if (adam or 0) > 0.6 or (sgd or 0) > 0.8 else 0.5

    finding = asked(surface, trials=60, nuisance=nuisance)
    assert [own.branch for own in finding.evidence.regions] == [
        (Shared("optimizer", "adam"),),
        (Shared("optimizer", "sgd"),),
    ]
    low, high = finding.evidence.regions[0].between
    assert low < 1e-5 * 1000**0.6 < high


def test_two_trials_say_nothing() -> None:
    assert asked(BOWL, trials=2).verdict == "cannot_judge"


def test_wilson_interval() -> None:
    assert wilson(0, 10)[0] == 0.0
    assert wilson(0, 10)[1] == pytest.approx(0.278, abs=0.001)
    assert wilson(16, 16)[1] == 1.0


def test_a_linear_hyperparameter_may_be_the_cause() -> None:
    surface = Walled(Bowl({}), {"dropout": 1.0}, above=0.7)
    finding = asked(surface, trials=30, nuisance={**RATE, "dropout": linear(0.0, 0.9)})
    assert finding.evidence.regions[0].feature == "dropout"


def test_the_recorded_random_search_of_alexnet() -> None:
    (finding,) = infeasible(alexnet())
    assert finding.evidence.infeasible == 147  # as its README says
    assert finding.verdict == "note"
    (own,) = finding.evidence.regions
    # no threshold is clean there: the share levels off at a half, whatever the rate
    assert own.feature == "lr / (1 - momentum)"
    assert not own.clear


@pytest.mark.parametrize(("problem", "optimizer"), SWEEPS)
def test_recorded_sweeps_diverge_above_a_rate(problem: str, optimizer: str) -> None:
    made = sweep(problem, optimizer)
    (finding,) = infeasible(made)
    diverged = [t.configuration["learning_rate"] for t in made.trials if t.status == "infeasible"]
    if not diverged:
        assert finding.evidence.regions == ()
        return
    (own,) = finding.evidence.regions
    assert own.clear
    assert (own.feature, own.rises) == ("learning_rate", True)
    assert own.recall >= 0.7
