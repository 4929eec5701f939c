from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.checks.rates import at_most
from tests.checks.real_space import SWEEPS, sweep

from tunewright.actions import Advise, NextRound, RunTrials, SearchRange
from tunewright.checks.boundary import NaturalBound, boundary, edge, edges_of
from tunewright.checks.positions import axes, study_trials
from tunewright.design.ranges import Range, choice, linear, log
from tunewright.design.round import Round
from tunewright.finding import Finding
from tunewright.messages import Message
from tunewright.testing import Basin, Bowl, Surface, Walled, World, results

RATE = {"learning_rate": log(1e-4, 1e-1)}


def asked(surface: Surface | World, **changes: Any) -> list[Finding]:
    settings: dict[str, Any] = {"goal": "?", "nuisance": RATE, "trials_per_study": 16, **changes}
    return boundary(results(Round("r", **settings), surface))


def test_an_optimum_inside_is_fine() -> None:
    (finding,) = asked(Bowl({"learning_rate": 0.5}))
    assert finding.verdict == "ok"
    (edge,) = finding.evidence.edges
    assert (edge.column, edge.seen.best) == ("learning_rate", pytest.approx(0.5, abs=0.1))


@pytest.mark.parametrize(
    ("optimum", "side", "proposed"),
    [(1.2, "high", log(1e-4, 1.0)), (-0.2, "low", log(1e-5, 0.1))],
)
def test_an_optimum_outside_is_warned_about_with_a_wider_range(
    optimum: float, side: str, proposed: Range
) -> None:
    (finding,) = asked(Bowl({"learning_rate": optimum}))
    assert finding.verdict == "warn"
    (edge,) = finding.evidence.edges
    assert (edge.seen.side, edge.range) == (side, log(1e-4, 1e-1))
    assert finding.evidence.proposed == {"learning_rate": proposed}
    assert finding.evidence.to_data()["edges"][0]["proposed"] == proposed.to_data()
    assert finding.evidence.trials_per_study == 21
    assert finding.actions == (
        SearchRange("learning_rate", proposed),
        NextRound("r", write=True),
    )


def test_an_infeasible_wall_is_not_to_be_widened() -> None:
    surface = Walled(Bowl({"learning_rate": 1.2}), {"learning_rate": 1.0}, above=0.93)
    (finding,) = asked(surface, trials_per_study=60)
    assert finding.verdict == "note"
    (edge,) = finding.evidence.edges
    assert edge.wall is not None and edge.wall.infeasible >= 0.8 * edge.wall.trials
    assert finding.actions == (Advise("do_not_widen", {"column": "learning_rate"}),)


def test_a_natural_bound_asks_for_the_arm_without() -> None:
    (finding,) = asked(Bowl({"dropout": -0.1}), nuisance={"dropout": linear(0.0, 0.5)})
    assert finding.verdict == "note"
    assert finding.evidence.edges[0].bound == NaturalBound(0.0, off=True)
    assert finding.actions == (Advise("compare_switched_off", {"column": "dropout"}),)


def test_a_lone_winner_is_a_warning_for_a_learning_rate_and_a_note_for_one_of_many() -> None:
    def surface(unit: Any) -> float:
        inside = Bowl({"other": 0.5}, {"other": 0.01}, best=0.6)(unit)
        return 0.2 if unit[name] > 0.97 else inside

    many = {n: linear(0.0, 1.0) for n in "abc"} | {"other": linear(0.0, 1.0)}
    rounds = {"learning_rate": many | RATE, "a": many | RATE}
    verdicts = {}
    for name, nuisance in rounds.items():
        found = [
            asked(surface, nuisance=nuisance, seed=seed, trials_per_study=20)[0]
            for seed in range(12)
        ]
        lone = [
            own.verdict
            for finding in found
            for own in finding.evidence.edges
            if own.seen.rule == "lone" and own.column == name
        ]
        verdicts[name] = set(lone)
    assert verdicts == {"learning_rate": {"warn"}, "a": {"note"}}


def test_the_end_of_an_ordered_scientific_list() -> None:
    found = asked(
        World(Bowl({"learning_rate": 0.5}), effect=lambda s: -0.3 * s.number, noise_sd=0.01),
        scientific={"layers": [1, 2, 3]},
    )
    assert [f.verdict for f in found] == ["ok", "ok", "ok", "warn"]
    assert (found[-1].scope, found[-1].about) == ("round", "r")
    assert found[-1].actions == (Advise("add_values", {"column": "layers", "side": "high"}),)
    silent = asked(Bowl({"learning_rate": 0.5}), scientific={"layers": [1, 2, 3]})
    assert [f.verdict for f in silent] == ["ok", "ok", "ok"]


def test_few_feasible_trials_are_pooled_over_studies() -> None:
    arms = {"act": ["a", "b", "c", "d", "e"]}
    round = Round("r", goal="?", scientific=arms, nuisance=RATE, trials_per_study=12)
    made = results(round, World(Bowl({"learning_rate": 1.2}), noise_sd=0.02))
    lost = np.random.default_rng(1).random(len(made.trials)) < 0.6
    half = tuple(
        replace(trial, status="infeasible") if gone else trial
        for trial, gone in zip(made.recorded, lost, strict=True)
    )
    found = boundary(replace(made, recorded=half))
    assert all(f.verdict == "cannot_judge" for f in found[:-1])
    pooled = [f for f in found if f.scope == "round" and f.verdict == "warn"]
    assert len(pooled) == 1
    (edge,) = pooled[0].evidence.edges
    assert (edge.seen.rule, edge.studies) == ("pooled", 5)


def test_what_cannot_be_judged_says_what_it_needs() -> None:
    (few,) = asked(Bowl({"learning_rate": 1.2}), trials_per_study=6)
    assert few.verdict == "cannot_judge"
    assert few.evidence.why == Message(
        "boundary.few_trials", {"feasible": 6, "needed": 8, "adaptive": 0}
    )
    assert few.actions == (RunTrials("r", trials_per_study=16),)
    (lists,) = asked(Bowl({}), nuisance={"act": choice("relu", "gelu")})
    assert (lists.verdict, lists.evidence.edges, lists.evidence.searched) == ("ok", (), True)


def test_an_adaptive_search_is_not_judged() -> None:
    made = results(
        Round("r", goal="?", nuisance=RATE, trials_per_study=16), Bowl({"learning_rate": 1.2})
    )
    adaptive = replace(made, recorded=tuple(replace(t, search="bayesian") for t in made.trials))
    (finding,) = boundary(adaptive)
    assert finding.verdict == "cannot_judge"
    assert finding.evidence.why.facts["adaptive"] == 16


def test_a_narrow_basin_at_the_end_of_the_range() -> None:
    found = edges_of(
        results(
            Round("r", goal="?", nuisance=RATE, trials_per_study=20),
            Basin({"learning_rate": 1.0}, width=0.08),
        )
    )
    assert [(e.seen.side, e.verdict) for e in found[0]] == [("high", "warn")]


@pytest.mark.parametrize(("problem", "optimizer"), SWEEPS)
def test_recorded_learning_rate_sweeps(problem: str, optimizer: str) -> None:
    (finding,) = boundary(sweep(problem, optimizer))
    (edge,) = finding.evidence.edges
    assert (edge.seen.side or "inside") == SWEEPS[problem, optimizer]
    assert finding.verdict == ("ok" if SWEEPS[problem, optimizer] == "inside" else "warn")


@pytest.mark.parametrize(
    ("problem", "optimizer"), [pair for pair, where in SWEEPS.items() if where == "inside"]
)
def test_recorded_sweeps_cut_at_their_best_rate(problem: str, optimizer: str) -> None:
    best = sweep(problem, optimizer).best().configuration["learning_rate"]
    assert isinstance(best, float)
    cut = sweep(problem, optimizer, lowest=best)
    (finding,) = boundary(cut)
    if cut.counts["completed"] < 8:
        assert finding.verdict == "cannot_judge"
    else:
        assert finding.evidence.edges[0].seen.side == "low"


def ruled(optimum: float, seed: int) -> Finding:
    """Six axes: `main` rules, the optimum of `lesser` is given, four have no effect."""
    names = ("main", "lesser", "a", "b", "c", "d")
    bowl = Bowl({"main": 0.45, "lesser": optimum}, curvature={"main": 1.0, "lesser": 0.3})
    round = Round(
        "r",
        goal="?",
        nuisance={name: linear(0.5, 1.5) for name in names},
        trials_per_study=30,
        seed=seed,
    )
    return boundary(results(round, World(bowl, noise_sd=0.02, seed=seed)))[0]


def test_a_lesser_axis_is_judged_beside_the_one_that_rules() -> None:
    adjusted = plain = false = 0
    for seed in range(30):
        finding = ruled(1.15, seed)
        edges = {e.column: e for e in finding.evidence.edges}
        found = edges["lesser"]
        adjusted += found.seen.side == "high"
        if found.seen.rule == "adjusted":
            assert "main" in found.beside and found.proposed is not None
            assert "main" in finding.words.evidence[0] + "".join(finding.words.evidence)
        plain += edge_alone(seed)
        false += sum(edges[name].verdict == "warn" for name in "abcd")
    assert adjusted >= 24 > plain
    assert at_most(false, 120, 0.03)


def edge_alone(seed: int) -> bool:
    """What the crowd of the best trials alone shows of the same study."""
    names = ("main", "lesser", "a", "b", "c", "d")
    bowl = Bowl({"main": 0.45, "lesser": 1.15}, curvature={"main": 1.0, "lesser": 0.3})
    nuisance = {name: linear(0.5, 1.5) for name in names}
    round = Round("r", goal="?", nuisance=nuisance, trials_per_study=30, seed=seed)
    made = results(round, World(bowl, noise_sd=0.02, seed=seed))
    (own,) = study_trials(made)
    axis = next(a for a in axes(made, own) if a.name == "lesser")
    return edge(made.meaning, axis, 6).seen.side == "high"


def test_an_optimum_inside_a_lesser_axis_is_not_flagged_beside_the_one_that_rules() -> None:
    flagged = sum(
        e.speaks
        for seed in range(30)
        for e in ruled(0.5, seed).evidence.edges
        if e.column == "lesser"
    )
    assert flagged <= 3
