from __future__ import annotations

import dataclasses
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given as forall, strategies as st
from scipy.stats import qmc
from tests.strategies import rounds

from tunewright.design.conditions import given
from tunewright.design.ranges import choice, integers, linear, log, log_from_one
from tunewright.design.round import Round
from tunewright.design.study import Study
from tunewright.errors import DesignError
from tunewright.search.halton import Halton
from tunewright.search.search import Suggestion
from tunewright.store.trial import Trial
from tunewright.testing import check_search


def study_of(count: int = 4, seed: int = 0, **roles) -> Study:
    roles = roles or {"nuisance": {f"x{i}": linear(0, 1) for i in range(count)}}
    (study,) = Round("r", goal="?", trials_per_study=8, seed=seed, **roles).studies
    return study


def cube(study: Study, count: int) -> np.ndarray:
    suggestions = Halton().suggest(study, [], count)
    return np.array([[s.unit[h.column] for h in study.space] for s in suggestions])


def claimed(suggestions: list[Suggestion]) -> list[Trial]:
    return [
        Trial(
            number=i, study=0, index=i, configuration=s.configuration, unit=s.unit, status="running"
        )
        for i, s in enumerate(suggestions)
    ]


def test_it_keeps_the_contract() -> None:
    check_search(Halton())


@forall(rounds(), st.integers(0, 12), st.integers(0, 12))
def test_prefixes_and_continuations_agree(round: Round, first: int, more: int) -> None:
    for study in round.studies[:2]:
        whole = Halton().suggest(study, [], first + more)
        assert len(whole) == first + more
        assert Halton().suggest(study, [], first) == whole[:first]
        assert Halton().suggest(study, claimed(whole[:first]), more) == whole[first:]


@forall(rounds())
def test_suggestions_are_configurations_of_the_study(round: Round) -> None:
    for study in round.studies[:2]:
        for suggestion in Halton().suggest(study, [], 7):
            assert study.configuration(suggestion.unit) == suggestion.configuration
            assert set(study.unit(suggestion.configuration)) == set(suggestion.unit)


@forall(st.integers(1, 7), st.integers(0, 2**63 - 1))
def test_every_half_of_every_axis_is_covered(dimensions: int, seed: int) -> None:
    points = cube(study_of(dimensions, seed), 64)
    assert np.all((points >= 0) & (points < 1))
    primes = [2, 3, 5, 7, 11, 13, 17]
    for column, prime in zip(points.T, primes, strict=False):
        # a radical inverse takes one point in each of `prime` cells of every `prime` in a row
        for start in range(0, 64 - prime, prime):
            cells = np.floor(column[start : start + prime] * prime)
            assert sorted(cells) == list(range(prime))
        # so from twice the prime on both halves have points, and stay even
        for count in range(2 * prime, 65):
            below = int(np.sum(column[:count] < 0.5))
            assert abs(below - count / 2) <= 2 + math.log2(count)


def test_less_discrepancy_than_random_points_up_to_seven_dimensions() -> None:
    for dimensions in (1, 2, 4, 7):
        for count in (8, 20, 50):
            ours, random = [], []
            for seed in range(20):
                ours.append(qmc.discrepancy(cube(study_of(dimensions, seed), count)))
                drawn = np.random.default_rng(seed).random((count, dimensions))
                random.append(qmc.discrepancy(drawn))
            assert np.mean(ours) < 0.8 * np.mean(random), (dimensions, count)


def test_every_study_of_a_round_gets_the_same_points() -> None:
    round = Round(
        "r",
        goal="?",
        scientific={"optimizer": ["adam", "sgd"]},
        nuisance={
            "optimizer": given(
                {
                    "adam": {"learning_rate": log(1e-5, 1e-2), "beta1": linear(0.8, 0.99)},
                    "sgd": {"learning_rate": log(1e-3, 1)},
                }
            ),
            "width": integers(8, 64),
            "norm": ["layer", "batch", "none"],
        },
        trials_per_study=8,
    )
    adam, sgd = (Halton().suggest(study, [], 8) for study in round.studies)
    for one, other in zip(adam, sgd, strict=True):
        assert one.unit["width"] == other.unit["width"]
        assert one.unit["norm"] == other.unit["norm"]
        assert one.unit["optimizer.adam.learning_rate"] == other.unit["optimizer.sgd.learning_rate"]


def test_points_depend_on_seed_and_space_alone() -> None:
    study = study_of(3)
    renamed = dataclasses.replace(study, round="another")
    assert Halton().suggest(study, [], 5) == Halton().suggest(renamed, [], 5)
    assert not np.array_equal(cube(study, 5), cube(study_of(3, seed=1), 5))


def test_the_points_themselves() -> None:
    """A change of these points, by us or by scipy, must be seen: it changes every round."""
    points = cube(study_of(2), 3)
    engine = qmc.Halton(
        2, rng=np.random.Generator(np.random.PCG64(np.random.SeedSequence([0, 0x51])))
    )
    assert np.array_equal(points, engine.random(3))
    assert points.round(6).tolist() == [
        [0.183762, 0.688866],
        [0.683762, 0.022199],
        [0.433762, 0.355533],
    ]


@pytest.mark.parametrize("dimensions", [1, 4, 12, 19])
def test_an_appended_hyperparameter_leaves_the_columns_before_it(dimensions: int) -> None:
    before, after = cube(study_of(dimensions), 30), cube(study_of(dimensions + 1), 30)
    assert np.array_equal(before, after[:, :dimensions])


def test_appended_columns_leave_earlier_choices_too() -> None:
    few = study_of(nuisance={"a": choice(*"abcdefg"), "b": linear(0, 1)})
    more = study_of(nuisance={"a": choice(*"abcdefg"), "b": linear(0, 1), "c": choice(*"xyz")})
    pairs = zip(Halton().suggest(few, [], 20), Halton().suggest(more, [], 20), strict=True)
    assert all(f.configuration["a"] == m.configuration["a"] for f, m in pairs)


@pytest.mark.parametrize("values", [2, 3, 5])
def test_choices_get_equal_shares_in_a_first_column_of_their_size(values: int) -> None:
    others = {2: [], 3: ["o"], 5: ["o", "p"]}[values]
    columns = {name: linear(0, 1) for name in others}
    study = study_of(nuisance={**columns, "kind": choice(*range(values))})
    for count in range(1, 40):
        picked = [s.configuration["kind"] for s in Halton().suggest(study, [], count)]
        shares = Counter(picked)
        assert max(shares.values()) - min(shares.get(v, 0) for v in range(values)) <= 1


def test_choices_get_nearly_equal_shares_in_any_column() -> None:
    columns = {f"k{size}": choice(*range(size)) for size in (2, 3, 4, 7)}
    picked = [s.configuration for s in Halton().suggest(study_of(nuisance=columns), [], 200)]
    for size in (2, 3, 4, 7):
        shares = Counter(c[f"k{size}"] for c in picked)
        assert max(abs(n - 200 / size) for n in shares.values()) <= 6


def test_choices_are_recorded_at_the_middle_of_their_own_bin() -> None:
    study = study_of(nuisance={"kind": choice("a", "b", "c", "d")})
    orders = set()
    for seed in range(20):
        found = Halton().suggest(dataclasses.replace(study, seed=seed), [], 4)
        orders.add(tuple(s.configuration["kind"] for s in found))
        assert all(
            s.unit["kind"] == study.space[0].range.unit(s.configuration["kind"]) for s in found
        )
    assert len(orders) > 10


def test_each_branch_has_a_sequence_of_its_own() -> None:
    study = study_of(
        nuisance={
            "optimizer": given(
                {
                    "adam": {"rate": linear(0, 1), "beta1": linear(0, 1)},
                    "sgd": {"rate": linear(0, 1)},
                }
            ),
            "decay": linear(0, 1),
        }
    )
    found = Halton().suggest(study, [], 40)
    assert [s.configuration["optimizer"] for s in found] == ["adam", "sgd"] * 20
    for branch in (found[::2], found[1::2]):
        for name in ("decay", "rate"):
            below = sum(s.configuration[name] < 0.5 for s in branch)
            assert 8 <= below <= 12, name
    assert found[0].configuration["decay"] != found[1].configuration["decay"]


def test_a_scientific_range_is_covered_evenly() -> None:
    study = study_of(
        scientific={"dropout": linear(0, 1)}, nuisance={"rate": log(1, 2), "b": log(1, 2)}
    )
    drawn = [s.configuration["dropout"] for s in Halton().suggest(study, [], 32)]
    assert Counter(math.floor(d * 16) for d in drawn) == {cell: 2 for cell in range(16)}


def test_nothing_to_search_repeats_one_configuration() -> None:
    study = study_of(fixed={"width": 3})
    assert [s.configuration for s in Halton().suggest(study, [], 3)] == [{"width": 3}] * 3
    assert Halton().suggest(study, [], 0) == []


def test_beyond_twenty_dimensions_sobol_points_are_taken_and_said() -> None:
    study = study_of(21)
    assert Halton().generator(study).startswith("scrambled Sobol, scipy ")
    assert Halton().generator(study_of(20)).startswith("scrambled Halton, scipy ")
    whole = Halton().suggest(study, [], 20)  # not a power of two, and no warning
    assert Halton().suggest(study, claimed(whole[:7]), 13) == whole[7:]
    assert Halton().suggest(study, [], 1) == whole[:1]
    halves = [sum(s.unit[f"x{i}"] < 0.5 for s in whole) for i in range(21)]
    assert all(8 <= half <= 12 for half in halves)


def test_ten_thousand_hyperparameters() -> None:
    kinds = [log(1, 2), log_from_one(0.5, 0.9), choice("a", "b"), integers(1, 8)]
    study = study_of(nuisance={f"h{i}": kinds[i % 4] for i in range(10_000)})
    (suggestion,) = Halton().suggest(study, [], 1)
    assert len(suggestion.configuration) == 10_000


def test_more_dimensions_than_there_are_sequences() -> None:
    with pytest.raises(DesignError, match="21201 is the most that quasi-random points exist for"):
        Halton().suggest(study_of(21_202), [], 1)
