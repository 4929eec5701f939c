from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.launches.rounds_of_worlds import asked, ran

from tunewright.advice.length import agreement, agreement_of, truncated
from tunewright.design.objective import maximize
from tunewright.design.ranges import linear
from tunewright.design.round import Round
from tunewright.errors import DesignError
from tunewright.store.curves import Batch, Curves, pack
from tunewright.store.results import Results
from tunewright.store.trial import Trial
from tunewright.testing import Bowl, Walled, World

DATA = Path(__file__).parents[2].parent / "shared" / "data"
WORLD = World(Bowl({"learning_rate": 0.5, "beta1": 0.5}), noise_sd=0.005, evaluations=20)


def test_the_same_ranking_agrees() -> None:
    short, long = ran(asked(), WORLD), ran(asked(fixed={"max_train_steps": 4000}), WORLD)
    found = agreement(short, long)
    assert (found.of, found.ranked, found.overlap, found.top) == ("configurations", 24, 5, 5)
    assert found.correlation == pytest.approx(1.0)
    assert found.agrees is True
    assert found.regret == 0
    assert found.says.startswith("24 configurations in both rounds: rank correlation 1.00")


def test_a_reversed_ranking_does_not() -> None:
    values = np.linspace(0, 1, 20)
    found = agreement_of(values, -values)
    assert found.agrees is False
    assert (found.overlap, found.regret) == (0, 1.0)


def test_few_things_cannot_be_told() -> None:
    assert agreement_of(np.arange(4.0), np.arange(4.0)).agrees is None
    assert "too few" in agreement_of(np.arange(4.0), np.arange(4.0)).says
    assert agreement_of(np.zeros(9), np.arange(9.0)).correlation is None
    assert agreement_of(np.array([]), np.array([])).regret is None


def test_settings_are_compared_where_no_configuration_is_shared() -> None:
    arms = {"scientific": {"layers": [1, 2, 3, 4, 5, 6]}}
    world = replace(WORLD, effect=lambda s: 0.1 * s.number)
    short = ran(asked(**arms), world)
    long = ran(asked(**arms, seed=9, trials_per_study=4), world)
    found = agreement(short, long)
    assert (found.of, found.ranked, found.agrees) == ("settings", 6, True)


def test_the_interval_covers() -> None:
    """Pairs of normal values with a known correlation: the interval of ranks holds it in 90 %."""
    random, true, covered = np.random.default_rng(0), 0.6, 0
    ranks = 6 / np.pi * np.arcsin(true / 2)  # Spearman's correlation of normal values
    for _ in range(400):
        a = random.normal(size=24)
        b = true * a + np.sqrt(1 - true**2) * random.normal(size=24)
        low, high = agreement_of(a, b).interval or (0.0, 0.0)
        covered += low <= ranks <= high
    assert 0.86 <= covered / 400 <= 0.95


def test_truncated_curves_are_judged_anew() -> None:
    long = ran(asked(), replace(WORLD, curve="slow"))
    half = truncated(long, 500)
    assert all(t.curves["valid_error"].steps[-1] == 500 for t in half.trials)
    assert half.best().value > long.best().value
    assert half.best().best_step == 500
    with pytest.raises(DesignError, match="at least one step"):
        truncated(long, 0)


def test_what_diverged_later_has_not_diverged_yet() -> None:
    surface = Walled(Bowl({"learning_rate": 0.5}), {"learning_rate": 1.0}, above=0.8)
    long = ran(asked(), replace(WORLD, surface=surface))
    assert long.counts["infeasible"] > 0
    assert "infeasible" not in truncated(long, 400).counts
    assert truncated(long, 600).counts["infeasible"] == long.counts["infeasible"]


def baker() -> Results:
    """615 residual networks on Tiny ImageNet, one validation accuracy an epoch, 150 epochs."""
    folder = DATA / "baker2018" / "deep_resnets_tinyimagenet"
    if not folder.exists():
        pytest.skip("the recorded tuning data is not beside the repository")
    polars = pytest.importorskip("polars")
    curves = polars.read_parquet(folder / "curves.parquet").sort("step")
    trials = []
    for (config, seed, metric), own in curves.partition_by(
        ["config_id", "seed", "metric"], as_dict=True, include_key=False
    ).items():
        if seed == 0:
            points = {metric: (own["step"].to_numpy(), own["value"].to_numpy().astype(float))}
            number = len(trials)
            trials.append(
                Trial(
                    number=number,
                    study=0,
                    index=None,
                    configuration={"config": config},
                    unit={},
                    status="completed",
                    curves=Curves([Batch(1, 0, pack(points))]),
                )
            )
    round = Round(
        "baker",
        goal="Which of these networks is best?",
        nuisance={"rate": linear(0.0, 1.0)},
        trials_per_study=len(trials),
    )
    return Results.from_parts(round, maximize("valid/accuracy"), trials)


def test_rankings_of_recorded_curves_truncated_and_extended() -> None:
    """The longer the short training, the better it ranks; a tenth already tells good from bad."""
    long = baker()
    last = max(int(t.curves["valid/accuracy"].steps[-1]) for t in long.trials)
    found = {
        share: agreement(truncated(long, round(share * last)), long, top=30)
        for share in (0.1, 0.2, 0.5, 0.9)
    }
    correlations = [one.correlation or 0.0 for one in found.values()]
    assert correlations == sorted(correlations)
    assert found[0.9].agrees and found[0.9].overlap > 2 * found[0.1].overlap
    assert found[0.1].overlap > 3 * found[0.1].by_chance
    # what a choice made early costs, in accuracy
    assert (found[0.1].regret or 0.0) >= (found[0.9].regret or 0.0)
