from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given as forall, settings, strategies as st
from tests.strategies import rounds

import tunewright as tw
from tunewright.design.conditions import given
from tunewright.design.ranges import (
    Choice,
    Integers,
    Range,
    choice,
    integers,
    linear,
    log,
    log_from_one,
)
from tunewright.design.round import Round
from tunewright.design.study import Study
from tunewright.errors import DesignError
from tunewright.search.bayesian.bayesian import Bayesian, first_trials
from tunewright.search.bayesian.model import Recipe
from tunewright.search.halton import Halton
from tunewright.search.search import Search, Suggestion, search_trials
from tunewright.store.results import Results
from tunewright.store.trial import Trial
from tunewright.testing import check_search
from tunewright.testing.surfaces import Bowl, Walled
from tunewright.testing.worlds import World, results

Objective = Callable[[Mapping[str, float]], float | None]
Discrete = Choice | Integers
PLANE = {"rate": log(1e-4, 1e-1), "decay": linear(0.0, 1.0)}


def study_of(trials: int = 40, seed: int = 0, **nuisance: object) -> Study:
    made = Round("r", goal="?", nuisance=nuisance or PLANE, trials_per_study=trials, seed=seed)
    return made.studies[0]


def trial(index: int, suggestion: Suggestion, value: float | None, status: str = "") -> Trial:
    status = status or ("infeasible" if value is None else "completed")
    return Trial(
        number=index,
        study=0,
        index=index,
        configuration=suggestion.configuration,
        unit=suggestion.unit,
        status=status,  # type: ignore[arg-type]
        value=value,
    )


def played(
    search: Search, study: Study, surface: Objective, count: int, batch: int = 1
) -> list[Trial]:
    """The trials of a search that is told each batch before the next is asked for."""
    trials: list[Trial] = []
    while len(trials) < count:
        suggested = search.suggest(study, trials, min(batch, count - len(trials)))
        if not suggested:
            break
        trials += [trial(len(trials) + i, s, surface(s.unit)) for i, s in enumerate(suggested)]
    return trials


def _is_fine(range_: Range) -> bool:
    return len({range_.value(i / 1e4) for i in range(4000, 4100)}) == 100


def lowest(trials: Sequence[Trial]) -> float:
    return min((t.value for t in trials if t.value is not None), default=math.inf)


def test_it_keeps_the_contract() -> None:
    check_search(Bayesian())


@pytest.mark.parametrize("diverged", ["worst", "model", "dropped"])
def test_every_way_with_diverged_trials_keeps_the_contract(diverged: str) -> None:
    studies = (study_of(), study_of(optimizer=given({"adam": PLANE, "sgd": {}})))
    check_search(Bayesian(recipe=Recipe(diverged=diverged)), studies)  # type: ignore[arg-type]


# ---- what it suggests


@forall(
    made=rounds(),
    seed=st.integers(0, 10**6),
    count=st.integers(1, 4),
    known=st.integers(0, 12),
)
@settings(max_examples=15, deadline=None)
def test_suggestions_are_new_inside_and_the_same_again(
    made: Round, seed: int, count: int, known: int
) -> None:
    study = made.studies[0]
    assume(len(study.space) <= 6)
    # a range of a few floats has equal values at different positions
    assume(all(isinstance(h.range, Discrete) or _is_fine(h.range) for h in study.space))
    random = np.random.default_rng(seed)
    drawn = Halton().suggest(study, [], known)
    values = [None if random.random() < 0.3 else float(random.normal()) for _ in drawn]
    trials = [
        trial(i, s, v, "running" if random.random() < 0.2 else "")
        for i, (s, v) in enumerate(zip(drawn, values, strict=True))
    ]
    trials = [dataclasses.replace(t, value=None) if t.status == "running" else t for t in trials]
    found = Bayesian().suggest(study, trials, count)
    assert found == Bayesian().suggest(study, list(reversed(trials)), count)
    assert len(found) <= count
    before = [dict(t.configuration) for t in trials]
    for suggestion in found:
        assert study.configuration(suggestion.unit) == suggestion.configuration
        assert dict(suggestion.configuration) not in before
        before.append(dict(suggestion.configuration))


@pytest.mark.parametrize(
    "values",
    [
        [None] * 12,
        [0.5] * 12,
        [1e300, -1e300] * 6,
        [1e-300 * i for i in range(12)],
        [0.3, *[None] * 11],
        [float(i % 2) for i in range(12)],
    ],
    ids=["all infeasible", "constant", "huge", "tiny", "one feasible", "two values"],
)
def test_odd_histories_are_learnt_from_too(values: list[float | None]) -> None:
    study = study_of(**PLANE, layers=integers(1, 4), norm=choice("a", "b", "c"))
    drawn = Halton().suggest(study, [], len(values))
    trials = [trial(i, s, v) for i, (s, v) in enumerate(zip(drawn, values, strict=True))]
    found = Bayesian().suggest(study, trials, 5)
    assert len({tuple(s.unit.items()) for s in found}) == 5
    assert all(0.0 <= u <= 1.0 for s in found for u in s.unit.values())


def test_the_first_ones_are_the_rounds_own_quasi_random_points() -> None:
    study = study_of()
    count = first_trials(study)
    assert Bayesian().suggest(study, [], count) == Halton().suggest(study, [], count)
    trials = played(Bayesian(), study, lambda unit: unit["rate"], count)
    assert [t.unit for t in trials] == [s.unit for s in Halton().suggest(study, [], count)]


def test_a_small_space_is_exhausted_and_then_nothing_is_suggested() -> None:
    study = study_of(layers=integers(1, 3), norm=choice("a", "b"), width=integers(1, 4, log=True))
    trials = played(Bayesian(), study, lambda unit: sum(unit.values()), 100, batch=3)
    assert len(trials) == 24
    assert len({tuple(t.configuration.items()) for t in trials}) == 24
    assert Bayesian().suggest(study, trials, 3) == []


def test_a_batch_does_not_crowd() -> None:
    study = study_of(seed=3)
    trials = played(Halton(), study, Bowl({"rate": 0.4, "decay": 0.6}), 10, 10)
    batch = Bayesian().suggest(study, trials, 8)
    crowd = Bayesian(recipe=Recipe(waiting="ignored")).suggest(study, trials, 8)
    assert nearest(batch) > 2 * nearest(crowd)


def nearest(points: list[Suggestion]) -> float:
    """How far the next of them is, on average, in ranges."""
    rows = np.array([[s.unit["rate"], s.unit["decay"]] for s in points])
    away = np.abs(rows[:, None, :] - rows[None, :, :]).max(axis=2) + np.eye(len(rows))
    return float(away.min(axis=1).mean())


@pytest.mark.parametrize(("noise", "seed"), [(0.15, 1), (0.4, 2), (0.4, 3)])
def test_nor_does_it_in_noise(noise: float, seed: int) -> None:
    """Where noise leaves doubt about a place, a batch must not be spent on that place."""
    study, bowl = study_of(seed=seed), Bowl({"rate": 0.4, "decay": 0.6})
    luck = np.random.default_rng(seed)
    trials = played(Halton(), study, lambda unit: bowl(unit) + noise * luck.normal(), 24, 24)
    assert nearest(Bayesian().suggest(study, trials, 8)) > 0.025  # seen with noise: 0.01 to 0.02


def test_running_trials_are_kept_away_from() -> None:
    study = study_of(seed=4)
    trials = played(Halton(), study, Bowl({"rate": 0.4, "decay": 0.6}), 10, 10)
    (alone,) = Bayesian().suggest(study, trials, 1)
    running = trial(16, alone, None, "running")
    (next_one,) = Bayesian().suggest(study, [*trials, running], 1)
    assert max(abs(alone.unit[c] - next_one.unit[c]) for c in alone.unit) > 0.01


# ---- how well it searches


WORLDS: dict[str, tuple[dict[str, object], Objective]] = {
    "bowl": (PLANE, Bowl({"rate": 0.62, "decay": 0.31}, best=0.0)),
    "wall": (
        {**PLANE, "beta": log_from_one(0.5, 0.99)},
        Walled(
            Bowl({"rate": 0.6, "decay": 0.3, "beta": 0.5}, best=0.0),
            {"rate": 1.0, "beta": 0.3},
            above=0.85,
        ),
    ),
    "integers": (
        {**PLANE, "layers": integers(1, 12), "norm": choice("a", "b", "c")},
        Bowl({"rate": 0.3, "decay": 0.8, "layers": 0.45, "norm": 0.5}, best=0.0),
    ),
    "branches": (
        {"optimizer": given({"adam": PLANE, "sgd": {"momentum": linear(0.0, 1.0)}})},
        Bowl({"optimizer.adam.rate": 0.4, "optimizer.adam.decay": 0.2, "optimizer": 0.25}, best=0),
    ),
}


LONG = pytest.mark.slow


@pytest.mark.beyond_core
@pytest.mark.parametrize(
    "world, batch",
    [
        ("wall", 8),
        ("branches", 8),
        ("bowl", 1),
        *(pytest.param(world, 8, marks=LONG) for world in ("bowl", "integers")),
        *(pytest.param(world, 1, marks=LONG) for world in ("wall", "branches", "integers")),
    ],
)
def test_it_beats_quasi_random_search_with_twice_the_trials(world: str, batch: int) -> None:
    nuisance, surface = WORLDS[world]
    ratios = []
    for seed in range(6):
        study = study_of(seed=seed, **nuisance)
        ours = lowest(played(Bayesian(), study, surface, 32, batch))
        ratios.append(ours / lowest(played(Halton(), study, surface, 64, 64)))
    assert math.exp(float(np.mean(np.log(np.maximum(ratios, 1e-6))))) < 0.7


def test_it_learns_to_keep_away_from_what_diverges() -> None:
    nuisance, surface = WORLDS["wall"]
    study = study_of(seed=1, **nuisance)
    ours = played(Bayesian(), study, surface, 40)[20:]
    even = played(Halton(), study, surface, 400, 400)
    box = sum(t.value is None for t in even) / 400
    assert sum(t.value is None for t in ours) / 20 <= box / 2
    assert 0.15 < box < 0.6


def test_dropping_diverged_trials_is_worse() -> None:
    nuisance, surface = WORLDS["wall"]
    study = study_of(seed=1, **nuisance)
    told_worst = played(Bayesian(), study, surface, 36)
    dropped = played(Bayesian(recipe=Recipe(diverged="dropped")), study, surface, 36)
    assert sum(t.value is None for t in told_worst) < sum(t.value is None for t in dropped)


# ---- earlier rounds, repeats, recommendation


def round_of(trials: int = 24, **changes: object) -> Round:
    roles = {"nuisance": PLANE, "fixed": {"max_train_steps": 1000}, **changes}
    return Round("earlier", goal="?", trials_per_study=trials, **roles)  # type: ignore[arg-type]


def test_trials_of_earlier_rounds_are_learnt_from_beyond_the_bounds_too() -> None:
    surface = Bowl({"rate": 0.9, "decay": 0.5})
    earlier = results(round_of(), surface)
    # the same objective on a narrower range whose best end is the upper one
    narrow = round_of(nuisance={"rate": log(1e-3, 1e-1), "decay": linear(0.0, 1.0)}).studies[0]
    (first,) = Bayesian(earlier=[earlier]).suggest(narrow, [], 1)
    assert first.configuration["rate"] == pytest.approx(10**-1.3, rel=0.5)
    assert Bayesian().suggest(narrow, [], 1) == Halton().suggest(narrow, [], 1)


@pytest.mark.parametrize(
    "changes",
    [
        {"fixed": {"max_train_steps": 2000}},
        {"fixed": {"max_train_steps": 1000, "width": 8}},
        {"nuisance": {**PLANE, "dropout": linear(0.0, 0.5)}},
    ],
    ids=["other steps", "one more fixed", "one more searched"],
)
def test_trials_of_another_kind_are_passed_over(changes: dict[str, object]) -> None:
    earlier = results(round_of(), Bowl({"rate": 0.9}))
    study = round_of(**changes).studies[0]
    assert Bayesian(earlier=[earlier]).suggest(study, [], 3) == Halton().suggest(study, [], 3)


def test_earlier_results_of_another_objective_are_refused() -> None:
    earlier = results(round_of(), Bowl({"rate": 0.9}))
    search = Bayesian(earlier=[earlier])
    search.vet(round_of(), tw.minimize("valid_error"))
    with pytest.raises(DesignError, match=r"judged by minimize valid_error.*with_objective"):
        search.vet(round_of(), tw.maximize("accuracy"))


def test_the_lucky_trial_is_not_the_recommended_one() -> None:
    study = study_of(seed=2)
    surface = Bowl({"rate": 0.5, "decay": 0.5}, curvature={"rate": 4.0, "decay": 4.0})
    trials = played(Halton(), study, surface, 40, 40)
    far = max(trials, key=lambda t: abs(t.unit["rate"] - 0.5) + abs(t.unit["decay"] - 0.5))
    lucky = dataclasses.replace(far, value=0.15)
    noisy = [lucky if t is far else t for t in trials]
    repeats = [
        dataclasses.replace(
            far, number=None, index=None, parent=far.number, seed=s, value=far.value
        )
        for s in range(1, 4)
    ]
    chosen = Bayesian().recommend(study, [*noisy, *repeats])
    assert chosen is not None and chosen.number != far.number
    assert max(abs(chosen.unit[c] - 0.5) for c in chosen.unit) < 0.25


def test_what_is_recommended_is_likely_feasible() -> None:
    study = study_of(seed=5)
    surface = Walled(Bowl({"rate": 0.75, "decay": 0.5}, best=0.0), {"rate": 1.0}, above=0.7)
    trials = played(Bayesian(), study, surface, 40)
    chosen = Bayesian().recommend(study, trials)
    assert chosen is not None and chosen.value is not None
    assert chosen.unit["rate"] < 0.7
    assert Bayesian().recommend(study, [t for t in trials if t.value is None]) is None
    assert Bayesian().recommend(study, []) is None


# ---- what a search is told


def test_values_to_be_maximized_are_told_with_the_other_sign() -> None:
    made = round_of(6)
    world = World(Bowl({"rate": 0.5}), objective=tw.maximize("accuracy"))
    known = results(made, world, repeats={0: 2})
    assert isinstance(known, Results)
    found = search_trials(known, made.studies[0])
    assert len(found) == 8 and [t.parent for t in found[6:]] == [0, 0]
    assert [t.value for t in found[:6]] == [-t.value for t in known.trials if t.value is not None]


def test_a_round_with_scientific_hyperparameters_is_refused(tmp_path: Path) -> None:
    store = str(tmp_path / "tuning.db")
    workload = tw.Workload(lambda run, width: None, tw.minimize("x"), store=store)
    made = Round(
        "depth", goal="?", scientific={"layers": [1, 2]}, nuisance=PLANE, trials_per_study=8
    )
    with pytest.raises(DesignError, match=r"depth asks what layers does.*scientific=True"):
        Bayesian().vet(made, tw.minimize("x"))
    Bayesian(scientific=True).vet(made, tw.minimize("x"))
    ranged = Round("width", goal="?", scientific={"width": integers(1, 99)}, trials_per_study=8)
    with pytest.raises(DesignError, match="width asks what width does"):
        tw.run(ranged, workload, search=Bayesian())
    assert not Path(workload.store).exists()  # refused before anything is begun


# ---- a whole round


def noisy_bowl(run: tw.protocols.Run, rate: float, decay: float) -> None:
    if rate > 0.03:
        run.log(1, valid_error=math.nan)
    for step in run.steps(3):
        run.log(step, valid_error=(math.log10(rate) + 2) ** 2 + decay**2 + 1 / step)


def test_a_round_is_run_and_resumed_with_the_same_suggestions(tmp_path: Path) -> None:
    made = Round("tune", goal="?", nuisance=PLANE, trials_per_study=14)

    def configurations(name: str, *parts: int) -> list[dict[str, object]]:
        store = str(tmp_path / f"{name}.db")
        workload = tw.Workload(
            noisy_bowl, tw.minimize("valid_error"), store=store, executor=tw.executors.Inline()
        )
        for trials in parts:
            part = dataclasses.replace(made, trials_per_study=trials)
            found = tw.run(part, workload, search=Bayesian())
        assert found.search == "bayesian" and found.counts.get("infeasible", 0) > 0
        return [dict(t.configuration) for t in found.trials]

    whole = configurations("whole", 14)
    assert len({tuple(c.items()) for c in whole}) == 14
    assert configurations("parts", 5, 9, 14) == whole


@pytest.mark.beyond_core
def test_a_round_runs_in_parallel(tmp_path: Path) -> None:
    made = Round("tune", goal="?", nuisance=PLANE, trials_per_study=10)
    store = str(tmp_path / "tuning.db")
    workload = tw.Workload(
        noisy_bowl, tw.minimize("valid_error"), store=store, executor=tw.Local(workers=2)
    )
    found = tw.run(made, workload, search=Bayesian())
    assert sum(t.ended for t in found.trials) == 10
    assert len({tuple(t.configuration.items()) for t in found.trials}) == 10
