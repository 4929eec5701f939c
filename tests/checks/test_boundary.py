from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.checks.real_space import SWEEPS, sweep

from tunewright.checks.boundary import boundary, edges_of
from tunewright.design.ranges import choice, linear, log
from tunewright.design.round import Round
from tunewright.finding import Finding
from tunewright.testing import Basin, Bowl, Surface, Walled, World, results

RATE = {"learning_rate": log(1e-4, 1e-1)}


def asked(surface: Surface | World, **changes: Any) -> list[Finding]:
    settings: dict[str, Any] = {"goal": "?", "nuisance": RATE, "trials_per_study": 16, **changes}
    return boundary(results(Round("r", **settings), surface))


def test_an_optimum_inside_is_fine() -> None:
    (finding,) = asked(Bowl({"learning_rate": 0.5}))
    assert finding.verdict == "ok"
    assert finding.says.startswith("best learning_rate at 0.5")


@pytest.mark.parametrize(
    ("optimum", "side", "proposed"),
    [(1.2, "high", "log(0.0001, 1)"), (-0.2, "low", "log(1e-05, 0.1)")],
)
def test_an_optimum_outside_is_warned_about_with_a_wider_range(
    optimum: float, side: str, proposed: str
) -> None:
    (finding,) = asked(Bowl({"learning_rate": optimum}))
    assert finding.verdict == "warn"
    assert f"the {side} end of log(0.0001, 0.1) of learning_rate" in finding.says
    assert finding.evidence["proposed"] == {"learning_rate": proposed}
    assert finding.evidence["trials_per_study"] == 21
    assert finding.advice[-1] == "tunewright next r --write"


def test_an_infeasible_wall_is_not_to_be_widened() -> None:
    surface = Walled(Bowl({"learning_rate": 1.2}), {"learning_rate": 1.0}, above=0.93)
    (finding,) = asked(surface, trials_per_study=60)
    assert finding.verdict == "note"
    assert "infeasible" in finding.says
    assert finding.advice[0].startswith("do not widen")


def test_a_natural_bound_asks_for_the_arm_without() -> None:
    (finding,) = asked(Bowl({"dropout": -0.1}), nuisance={"dropout": linear(0.0, 0.5)})
    assert finding.verdict == "note"
    assert "natural bound: 0, where dropout is off" in finding.says
    assert "switched off" in finding.advice[0]


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
            own["verdict"]
            for finding in found
            for own in finding.evidence["hyperparameters"]
            if own["rule"] == "lone" and own["hyperparameter"] == name
        ]
        verdicts[name] = set(lone)
    assert verdicts == {"learning_rate": {"warn"}, "a": {"note"}}


def test_the_end_of_an_ordered_scientific_list() -> None:
    found = asked(
        World(Bowl({"learning_rate": 0.5}), effect=lambda s: -0.3 * s.number, noise_sd=0.01),
        scientific={"layers": [1, 2, 3]},
    )
    assert [f.verdict for f in found] == ["ok", "ok", "ok", "warn"]
    assert found[-1].about == "round r"
    assert found[-1].advice == ("add larger values to the list of layers",)
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
    pooled = [f for f in found if f.about == "round r" and f.verdict == "warn"]
    assert len(pooled) == 1
    assert "taken together" in pooled[0].says


def test_what_cannot_be_judged_says_what_it_needs() -> None:
    (few,) = asked(Bowl({"learning_rate": 1.2}), trials_per_study=6)
    assert few.verdict == "cannot_judge"
    assert "needs 8" in few.says
    assert few.advice == ("tunewright run r --trials 16",)
    (lists,) = asked(Bowl({}), nuisance={"act": choice("relu", "gelu")})
    assert lists.verdict == "ok"


def test_an_adaptive_search_is_not_judged() -> None:
    made = results(
        Round("r", goal="?", nuisance=RATE, trials_per_study=16), Bowl({"learning_rate": 1.2})
    )
    adaptive = replace(made, recorded=tuple(replace(t, search="bayesian") for t in made.trials))
    (finding,) = boundary(adaptive)
    assert finding.verdict == "cannot_judge"
    assert "16 of an adaptive search" in finding.says


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
    (edge,) = finding.evidence["hyperparameters"]
    assert (edge["side"] or "inside") == SWEEPS[problem, optimizer]
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
        assert finding.evidence["hyperparameters"][0]["side"] == "low"
