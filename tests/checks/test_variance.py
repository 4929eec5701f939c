from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.checks.space_worlds import covers

from tunewright.actions import Repeat
from tunewright.checks.variance import optimism, spread, variance
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.testing import Bowl, World, results

ROUND = Round("r", goal="?", nuisance={"learning_rate": log(1e-4, 1e-1)}, trials_per_study=12)
WORLD = World(Bowl({"learning_rate": 0.5}), noise_sd=0.02)


def test_repeats_tell_the_trial_variance() -> None:
    (finding,) = variance(results(ROUND, WORLD, repeats={0: 8, 3: 8}))
    assert finding.verdict == "ok"
    found = finding.evidence.spread
    assert found.low < 0.02 < found.high
    assert (found.repeats, found.groups) == (16, 2)
    assert finding.evidence.optimism > 0
    assert finding.evidence.picked_among == 12
    (own,) = finding.evidence.study_sd
    assert own.study == "all" and own.sd > 0


@pytest.mark.parametrize("times", [0, 2])
def test_without_repeats_it_asks_for_them(times: int) -> None:
    (finding,) = variance(results(ROUND, WORLD, repeats={0: times}))
    assert finding.verdict == "cannot_judge"
    assert finding.evidence.spread is None
    assert (finding.evidence.most_repeats, finding.evidence.needed) == (times, 3)
    assert finding.actions == (Repeat("r", times=5),)


@pytest.mark.parametrize(
    ("repeats", "kind", "published"),
    [(5, "normal", 0.98), (5, "skew", 0.94), (5, "t3", 0.96), (10, "outlier", 0.85)],
)
def test_the_interval_covers_as_published(repeats: int, kind: str, published: float) -> None:
    assert covers(repeats, kind, 300) / 300 == pytest.approx(published, abs=0.06)


def test_the_spread_is_pooled_within_groups() -> None:
    found = spread([[1.0, 2.0, 3.0], [11.0, 12.0, 13.0], [5.0, 9.0]])
    assert found is not None
    assert (found.sd, found.repeats, found.groups) == (1.0, 6, 2)
    assert spread([[1.0, 2.0]]) is None


@pytest.mark.parametrize("surface", [1.0, 3.0])
def test_the_optimism_of_the_best_is_about_right(surface: float) -> None:
    said, true = [], []
    for seed in range(150):
        random = np.random.default_rng(seed)
        truth = surface * random.normal(size=20)
        seen = truth + random.normal(size=20)
        said.append(optimism(seen, 1.0))
        true.append(truth[seen.argmin()] - seen.min())
    assert np.mean(said) == pytest.approx(np.mean(true), abs=0.35)


def test_a_spread_of_the_same_pipeline_is_not_measured_again() -> None:
    old = results(ROUND, WORLD, repeats={0: 6})
    wide = {"learning_rate": log(1e-3, 1.0)}
    later = replace(ROUND, name="later", nuisance=wide, continues="r")
    (found,) = variance(replace(results(later, WORLD), earlier=(old,)))
    assert (found.verdict, found.evidence.known_from, found.actions) == ("ok", "r", ())
    assert found.evidence.spread == variance(old)[0].evidence.spread
    longer = replace(later, fixed={"max_train_steps": 5000})  # another pipeline
    (found,) = variance(replace(results(longer, WORLD), earlier=(old,)))
    assert (found.verdict, found.evidence.known_from) == ("cannot_judge", "")
    assert found.actions == (Repeat("later", times=5),)
