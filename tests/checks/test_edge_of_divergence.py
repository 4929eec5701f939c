from __future__ import annotations

from dataclasses import replace

import pytest
from tests.checks.rates import at_most
from tests.checks.real_space import SWEEPS, sweep
from tests.checks.space_worlds import near_edge

from tunewright.actions import Declare
from tunewright.checks.edge_of_divergence import EdgeEvidence, edge_of_divergence
from tunewright.checks.instability import remedies
from tunewright.design.ranges import linear, log
from tunewright.design.round import Round
from tunewright.messages import Message
from tunewright.store.results import Results
from tunewright.testing import Bowl, Walled, results

RATE = {"learning_rate": log(1e-4, 1e-1), "momentum": linear(0.5, 0.95)}


def made(optimum: float, above: float = 0.7) -> Results:
    round = Round("r", goal="?", nuisance=RATE, trials_per_study=24)
    surface = Walled(Bowl({"learning_rate": optimum}), {"learning_rate": 1.0}, above=above)
    return results(round, surface)


def test_the_best_rate_just_below_the_wall_is_held_down_by_it() -> None:
    world = made(0.75)
    (finding,) = edge_of_divergence(world)
    assert finding.verdict == "warn"
    assert finding.actions == remedies(world)
    assert finding.evidence.edge.decades_below < 0.75


def test_the_best_rate_far_below_the_wall_is_not() -> None:
    (finding,) = edge_of_divergence(made(0.1))
    assert finding.verdict == "ok"
    assert finding.evidence.edge.decades_below > 1


def test_without_divergence_there_is_no_edge() -> None:
    (finding,) = edge_of_divergence(made(0.5, above=2.0))
    assert (finding.verdict, finding.evidence) == ("ok", EdgeEvidence("learning_rate"))


def test_a_broken_constraint_is_no_divergence() -> None:
    found = made(0.75)
    # the curves of those trials end finite: they were stopped for another reason
    clean = found.best().curves
    constrained = [replace(t, curves=clean) for t in found.recorded]
    (finding,) = edge_of_divergence(replace(found, recorded=tuple(constrained)))
    assert finding.verdict != "warn"


def test_without_a_learning_rate_it_says_which_name_is_missing() -> None:
    round = Round("r", goal="?", nuisance={"lr": log(1e-4, 1e-1)}, trials_per_study=12)
    (finding,) = edge_of_divergence(results(round, Bowl({"lr": 0.5})))
    assert finding.evidence.why.code == "judge.rate_not_searched"
    assert finding.actions == (Declare("learning_rate"),)


def test_rates_on_simulated_studies() -> None:
    assert near_edge(30, -0.3, 30) >= 28  # published: 1.0
    assert at_most(near_edge(30, -1.5, 30), 30, 0.02)


@pytest.mark.parametrize(("problem", "optimizer"), SWEEPS)
def test_recorded_sweeps(problem: str, optimizer: str) -> None:
    (finding,) = edge_of_divergence(sweep(problem, optimizer))
    # plain gradient descent on a quadratic is best where it is about to diverge, as theory has it
    at_edge = (problem, optimizer) == ("quadratic_deep", "GradientDescent")
    assert finding.verdict == ("warn" if at_edge else "ok")


def test_where_every_trial_diverged_nothing_can_be_told() -> None:
    (finding,) = edge_of_divergence(made(0.5, above=-1.0))
    assert finding.verdict == "cannot_judge"
    assert finding.evidence.why == Message("judge.feasible_beside_diverged", {"needed": 6})
