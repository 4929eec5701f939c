"""The comparison of searches: problems are what they claim, tables say what was run."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest
from bench.search import priors, table
from bench.search.contestant import Suggesting
from bench.search.costs import cost
from bench.search.diverging import DIVERGING
from bench.search.entries import opening
from bench.search.problem import Problem, references
from bench.search.problems import BUILDING, HELD_OUT, chosen, problems, seeds
from bench.search.real import PREPARED
from bench.search.reference import find
from bench.search.run import TRIALS, Run, Task, add, play, read, wanted
from bench.search.standard import STANDARD, ackley, hartmann, levy, styblinski_tang

import tunewright as tw

pytestmark = pytest.mark.beyond_core  # many trials or repetitions: seconds each

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
MADE_UP = [*DIVERGING, *STANDARD]
optuna = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")


def test_building_and_held_out_problems_share_nothing() -> None:
    assert not set(BUILDING) & set(HELD_OUT)
    assert len(set(BUILDING)) == len(BUILDING) and len(set(HELD_OUT)) == len(HELD_OUT)
    assert {*BUILDING, *HELD_OUT} == set(references())
    kinds = {p.name: p.kind for p in MADE_UP}
    for group in (BUILDING, HELD_OUT):
        assert {"diverging", "feasible"} <= {kinds[n] for n in group if n in kinds}
    branin, ridge = (next(p for p in MADE_UP if p.name == n) for n in ("branin", "curved_ridge"))
    assert not set(seeds(branin, 500)) & set(seeds(ridge, 500))


@pytest.mark.parametrize("problem", MADE_UP, ids=lambda p: p.name)
def test_the_kept_reference_is_what_a_smaller_search_finds(problem: Problem) -> None:
    kept, found = problem.reference, find(problem, points=512, starts=2, steps=150)
    spread = kept.median - kept.optimum
    assert found.optimum >= kept.optimum - 1e-6 * spread  # nothing lies below the optimum
    assert found.median == pytest.approx(kept.median, abs=0.15 * spread)
    assert found.infeasible == pytest.approx(kept.infeasible, abs=0.06)
    if problem.kind == "diverging":
        assert 0.2 <= kept.infeasible <= 0.48
    else:
        assert kept.infeasible == 0


def test_standard_functions_have_their_published_optima() -> None:
    assert references()["branin"].optimum == pytest.approx(0.397887, abs=1e-5)
    assert references()["six_hump_camel"].optimum == pytest.approx(-1.031628, abs=1e-5)
    assert hartmann((0.114614, 0.555649, 0.852547)) == pytest.approx(-3.86278, abs=1e-4)
    assert references()["hartmann_6"].optimum == pytest.approx(-3.32237, abs=1e-4)
    assert ackley([0.0] * 5) == pytest.approx(0, abs=1e-12)
    assert levy([1.0] * 4) == pytest.approx(0, abs=1e-12)
    assert styblinski_tang([-2.903534]) == pytest.approx(-39.16617, abs=1e-4)


def test_regret_is_0_at_the_optimum_1_at_the_median_and_never_more() -> None:
    (problem,) = chosen(["rosenbrock_4"])
    assert problem.regret(problem.best) == 0
    assert problem.regret(None) == 1
    assert problem.regret(dict.fromkeys(problem.nuisance, -2.048)) == 1


def test_luck_is_the_same_for_every_contestant_and_differs_by_seed_and_trial() -> None:
    (problem,) = chosen(["clipped_recurrent"])
    here = problem.study(0, 1)
    configuration = next(
        s.configuration
        for s in tw.search.Halton().suggest(here, [], 50)
        if problem.truth(s.configuration) is not None
        and problem.chance is not None
        and problem.chance(s.configuration) == 0
    )
    seen = [problem.observe(configuration, s, t) for s, t in ((1, 2), (1, 2), (1, 3), (2, 2))]
    assert seen[0] == seen[1]
    assert len(set(seen)) == 3
    spread = problem.reference.median - problem.reference.optimum
    many = [problem.observe(configuration, 0, t) for t in range(400)]
    assert None not in many
    sd = np.std([v for v in many if v is not None]) / spread
    assert sd == pytest.approx(problem.noise, rel=0.15)


@optuna
@pytest.mark.parametrize("workers", [1, 8])
@pytest.mark.parametrize("contestant", ["halton", "random", "optuna_tpe", "optuna_tpe_worst"])
def test_contestants_keep_to_the_budget_and_the_space(contestant: str, workers: int) -> None:
    run = play(Task("norm_given", contestant, 5, workers))
    assert not run.error
    assert len(run.regret) == TRIALS[workers] * (2 if contestant == "halton" else 1)
    assert all(b <= a + 0.2 for a, b in zip(run.regret, run.regret[1:], strict=False))
    assert run.later == len(run.regret) - 20
    assert 0 <= run.infeasible <= run.later
    if contestant in ("halton", "random"):
        expected = references()["norm_given"].infeasible
        spread = math.sqrt(expected * (1 - expected) / run.later)
        assert run.infeasible / run.later == pytest.approx(expected, abs=4 * spread)


@optuna
def test_what_optuna_is_told_of_a_diverged_trial() -> None:
    (problem,) = chosen(["momentum_sgd"])
    for name, expected in (("optuna_tpe", [None, 2.0]), ("optuna_tpe_worst", [2.0, 2.0])):
        session = opening(name)(problem, 0, 10)
        session.ask(2)
        session.tell(0, None)
        session.tell(1, 2.0)
        study = session.study  # type: ignore[attr-defined]
        assert [t.value for t in study.trials] == expected


@pytest.mark.parametrize("contestant", ["bayesian", "bayesian:kernel=gaussian,bend=0.5"])
def test_our_search_and_a_variant_of_it_take_part(contestant: str) -> None:
    for workers, most in ((1, 14), (8, 24)):
        run = play(Task("norm_given", contestant, 0, workers, most))
        assert not run.error
        assert len(run.regret) == most and run.regret[-1] < 1
        assert [n for n, _ in run.recommended] == ([10] if workers == 1 else [])


def test_pending_trials_are_shown_to_a_search_of_ours() -> None:
    (problem,) = chosen(["branin"])
    session = Suggesting(tw.search.Halton(), problem, 0, 16)
    session.ask(8)
    assert [t.status for t in session.trials] == ["running"] * 8
    session.tell(3, None)
    session.tell(4, 1.5)
    assert [t.status for t in session.trials[3:5]] == ["infeasible", "completed"]
    assert session.trials[4].value == 1.5


def test_runs_are_added_once_and_a_cut_line_is_passed_over(tmp_path: Path) -> None:
    out = tmp_path / "runs.jsonl"
    tasks = list(wanted(chosen(["branin", "curved_ridge"]), ["halton", "random"], 2, [1, 8]))
    assert len(tasks) == 8  # what does not depend on results is run with one worker only
    assert add(tasks[:3], 1, out) == (3, 0)
    with out.open("a") as file:
        file.write('{"task": {"problem": "bra')
    with out.open("a") as file:
        file.write("\n")
    assert add(tasks, 1, out) == (5, 0)
    assert add(tasks, 1, out) == (0, 0)
    assert sorted(map(str, (r.task for r in read(out)))) == sorted(map(str, tasks))
    assert add([dataclasses.replace(tasks[0], seed=77)], 1, out, minutes=-1) == (0, 1)


@optuna
def test_a_table_of_two_seeds(tmp_path: Path) -> None:
    out = tmp_path / "runs.jsonl"
    names = ["halton", "random", "optuna_tpe"]
    add(wanted(chosen(["branin", "curved_ridge"]), names, 2, [1, 8]), 1, out)
    made = table.tables(read(out), ["branin", "curved_ridge"])
    assert made.count("| optuna_tpe | 2 |") == 4
    assert "### Diverging problems (1), one at a time" in made
    assert "### Always feasible problems (1), 8 in parallel" in made
    assert "| branin |" in table.per_problem(read(out), ["branin"], names)


def _made_up(contestant: str, ends: list[float], problem: str = "branin") -> list[Run]:
    budget = 200 if contestant == "halton" else 100
    return [
        Run(Task(problem, contestant, seed, 1), (end,) * budget, 0, 80, 0.0)
        for seed, end in enumerate(ends)
    ]


def test_beats_counts_pairs_and_halves_ties() -> None:
    runs = [*_made_up("halton", [0.1, 0.3]), *_made_up("bayesian", [0.05, 0.1, 0.2, 0.5])]
    field = table.Field.of(runs, ["branin"], 1)
    assert list(field.beats("bayesian", "branin", 50).values()) == [1.0, 0.75, 0.5, 0.0]
    assert field.mean_regret("halton", 50) == pytest.approx(math.sqrt(0.03))


def test_what_is_recommended_counts_where_a_contestant_has_a_model() -> None:
    ours = [
        dataclasses.replace(run, recommended=((50, 0.01),))
        for run in _made_up("bayesian", [0.5, 0.2])
    ]
    field = table.Field.of([*_made_up("halton", [0.1]), *ours], ["branin"], 1)
    assert field.mean_beats("bayesian", 50) == 0.0
    assert field.mean_beats("bayesian", 50, recommended=True) == 1.0
    assert field.recommended("halton", "branin", 50) == {0: 0.1}


def test_paired_intervals_see_a_difference_and_leave_none_alone() -> None:
    random = np.random.default_rng(3)
    rival = list(10 ** random.normal(-1, 0.5, 20))
    ahead = [r / 2 for r in rival]
    runs = [
        *_made_up("halton", rival),
        *_made_up("optuna_gp", rival),
        *_made_up("bayesian", ahead),
        *_made_up("bayesian:x=1", list(10 ** random.normal(-1, 0.5, 20))),
    ]
    field = table.Field.of(runs, ["branin"], 1)
    assert table.best_rival(field) == "optuna_gp"
    found = table.compare(field, "bayesian", "optuna_gp", 50)
    assert found is not None
    shares, decades = found
    assert decades.difference == pytest.approx(math.log10(2))
    assert shares.seeds[0] > 0
    none = table.compare(field, "bayesian:x=1", "optuna_gp", 50)
    assert none is not None and none[1].seeds[0] < 0 < none[1].seeds[1]


def test_the_best_of_many_seeds_is_shown_beside_a_better_one_of_few() -> None:
    ends = [0.1, 0.2, 0.3, 0.2, 0.1, 0.2]
    runs = [
        *_made_up("halton", ends),
        *_made_up("bayesian", ends),
        *_made_up("optuna_gp", ends),
        *_made_up("hebo_worst", [0.01]),
    ]
    made = table.tables(runs, ["branin"])
    assert "bayesian less hebo_worst, the best rival here, 1 seed only (" in made
    assert "bayesian less optuna_gp, the best rival here (" in made
    assert made.count("| 50 | 6 |") == 1 and made.count("| 50 | 1 |") == 1


def test_who_is_alike_where_nothing_diverges_fills_in() -> None:
    runs = [
        *_made_up("halton", [0.1]),
        *_made_up("halton", [0.1], "curved_ridge"),
        *_made_up("optuna_gp", [0.2]),
        *_made_up("optuna_gp", [0.3], "curved_ridge"),
        *_made_up("optuna_gp_worst", [0.4], "curved_ridge"),
    ]
    field = table.Field.of(runs, ["branin", "curved_ridge"], 1)
    assert field.regrets("optuna_gp_worst", "branin", 10) == {0: 0.2}
    assert field.regrets("optuna_gp_worst", "curved_ridge", 10) == {0: 0.4}


@optuna
def test_costs_are_measured_after_trials_of_somebody_else() -> None:
    assert 0 < cost("optuna_tpe_worst", 30) < 5


@pytest.mark.skipif(not (PREPARED / "yahpo.json").exists(), reason="nothing prepared")
def test_tables_and_surrogates_of_real_tasks() -> None:
    known = problems()
    assert {*BUILDING, *HELD_OUT} == set(known)
    kc1 = known["mlp_kc1"]
    at = {"alpha": 3, "batch": 2, "depth": 1, "learning_rate": 5, "width": 7}
    drawn = {kc1.observe(at, 0, t) for t in range(60)}
    assert len(drawn) <= 5
    assert kc1.truth(at) == pytest.approx(np.mean([*drawn]), abs=0.2)
    assert kc1.regret(at) >= 0
    for name in ("rnn_gru64", "alexnet_imagenet", "rpart_6"):
        problem = known[name]
        values = [
            problem.truth(s.configuration)
            for s in tw.search.Halton().suggest(problem.study(3, 60), [], 60)
        ]
        assert min(v for v in values if v is not None) >= problem.reference.optimum
    infeasible = [
        known["alexnet_imagenet"].truth(s.configuration) is None
        for s in tw.search.Halton().suggest(known["alexnet_imagenet"].study(4, 300), [], 300)
    ]
    assert np.mean(infeasible) == pytest.approx(
        references()["alexnet_imagenet"].infeasible, abs=0.1
    )


@pytest.mark.skipif(not (SHARED / "yahpo_rbv2_rpart").exists(), reason="no shared data")
def test_the_network_agrees_with_onnxruntime() -> None:
    runtime = pytest.importorskip("onnxruntime")
    from bench.search.onnx_network import Network

    path = SHARED / "yahpo_rbv2_rpart" / "model.onnx"
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    random = np.random.default_rng(0)
    codes = np.stack([random.integers(1, 117, 20), random.integers(1, 4, 20)], 1).astype(np.int32)
    numbers = np.stack(
        [10 ** random.uniform(-3, 0, 20), *random.integers(1, 30, (3, 20)), np.ones(20), [10] * 20]
    )
    inputs = {"x_cat": codes, "x_cont": numbers.T.astype(np.float32)}
    expected = session.run(None, inputs)[0]
    scale = np.abs(expected).max(axis=0)  # outputs are of very different size
    apart = np.abs(Network(path)(**inputs) - expected).max(axis=0)
    assert (apart < 1e-5 * scale).all()


def test_beliefs_of_the_comparison_are_near_the_best_or_far_from_it() -> None:
    (problem,) = chosen(["hartmann_6_noisy"])
    best = priors.best(problem.name)
    for seed in range(3):
        for kind, near in (("good", True), ("misleading", False)):
            believed = priors.with_belief(problem, kind, seed).nuisance
            for name in list(believed)[: priors.MOST_BELIEFS]:
                away = abs(believed[name].belief.value - best[name])
                assert away <= priors.SD + 0.02 if near else away >= 0.45
    assert priors.with_belief(problem, "none", 0) == problem


def test_a_table_of_beliefs_pairs_runs_of_one_problem_and_seed() -> None:
    line = {"problem": "p", "seed": 0, "strength": 10.0}
    lines = [
        {**line, "kind": "none", "regret": [0.1] * 50},
        {**line, "kind": "good", "regret": [0.01] * 50},
        {**line, "seed": 1, "kind": "none", "regret": [0.1] * 50},
        {**line, "seed": 1, "kind": "good", "regret": [0.01] * 50},
        {**line, "seed": 2, "kind": "good", "regret": [1.0] * 50},
    ]
    rows = list(priors.table(lines))[2:]
    assert len(rows) == len(priors.AFTER) and all("| 2 |" in row and "+1.00" in row for row in rows)
