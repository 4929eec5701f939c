"""Trial, study and data variance: what each says of known worlds, and how surely."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.launches.arms import arm, repeats_of, round_results
from tests.launches.rounds_of_worlds import asked, ran

from tunewright.actions import MeasureVariance, Repeat
from tunewright.design.ranges import linear
from tunewright.design.round import Round
from tunewright.errors import DesignError
from tunewright.launches.arm import Arm
from tunewright.launches.variance import (
    FILE,
    by_split,
    examples_of,
    from_halves,
    from_replicates,
    of_gain,
    of_value,
    study_spread_of_gain,
    variances_of as variance,
)
from tunewright.messages import Message
from tunewright.stats.best_of_k import best_of
from tunewright.stats.spread import chi_square_interval
from tunewright.store.results import Results
from tunewright.testing import Bowl, World, results

REPEATS = {7: [0.20, 0.21, 0.19, 0.20, 0.22], 6: [0.24, 0.25, 0.23]}


def test_trial_variance_is_pooled_over_repeats_and_leaves_the_trial_out():
    found = variance(round_results(REPEATS))
    groups = [np.array(values) for values in REPEATS.values()]
    squares = sum(((own - own.mean()) ** 2).sum() for own in groups)
    assert found.trial.sd == pytest.approx(np.sqrt(squares / 6))
    assert found.trial.freedom == 6
    assert found.trial.low < found.trial.sd < found.trial.high
    assert "trial" not in found.missing
    assert found.trial.how == Message("variance.repeats", {"repeats": 8})


def test_what_is_not_known_says_how_to_know_it():
    found = variance(round_results({}))
    assert found.trial is None
    assert found.missing["trial"] == Repeat("depth", times=5)
    assert found.missing["study"].command == "tunewright variance depth --studies 3"
    assert set(found.missing) == {"trial", "study", "data", "splits"}
    assert str(found) == str(Message("variance.nothing_known"))


def test_the_interval_of_an_sd_covers_skewed_noise():
    random = np.random.default_rng(5)
    drawn = np.exp(0.75 * random.standard_normal((1500, 5)))
    true = float(np.sqrt((np.exp(0.75**2) - 1) * np.exp(0.75**2)))
    whole = third = 0
    for row in drawn:
        sd = float(row.std(ddof=1))
        low, high = chi_square_interval(sd, 4)
        whole += low <= true <= high
        low, high = chi_square_interval(sd, max(1.0, 4 / 3))
        third += low <= true <= high
    assert whole / 1500 < 0.76  # stated 0.68: why a third of the freedom is used
    assert third / 1500 > 0.90


def studied(seed: int, trials: int = 16, noise: float = 0.05, shift: float = 0.0) -> Results:
    """A round of two settings that share their points, one worse by `shift`."""
    round = Round(
        "widths",
        goal="Is wide better?",
        scientific={"wide": [0, 1]},
        nuisance={"x": linear(0.0, 1.0), "y": linear(0.0, 1.0)},
        trials_per_study=trials,
        seed=seed,
    )
    world = World(
        Bowl({"x": 0.5, "y": 0.5}),
        effect=lambda study: shift * study.scientific["wide"],
        noise_sd=noise,
        evaluations=2,
        seed=seed,
    )
    return results(round, world)


def test_study_variance_from_halves_is_about_right_and_refused_below_eight():
    one = studied(0)
    found = from_halves(one, 0)
    losses = [t.value for t in one.of(0)]
    assert found.sd == pytest.approx(best_of(losses, 8).sd)
    assert (found.low, found.high) == pytest.approx((found.sd / 2, found.sd * 2))
    assert from_halves(studied(0, trials=7), 0) is None
    rounds = [studied(seed) for seed in range(40)]
    bests = [min(t.value for t in own.of(0)) for own in rounds]
    ratios = [from_halves(own, 0).sd / np.std(bests, ddof=1) for own in rounds]
    assert 0.6 < float(np.median(ratios)) < 2.2


def test_replicate_studies_cover_the_truth():
    bests = np.array([min(t.value for t in studied(seed).of(0)) for seed in range(60)])
    true = float(bests.std(ddof=1))
    covered = 0
    for first in range(0, 60, 5):
        sd = float(bests[first : first + 5].std(ddof=1))
        low, high = chi_square_interval(sd, 4)
        covered += low <= true <= high
    assert covered >= 9  # of 12; stated 90 %
    found = from_replicates([studied(seed) for seed in range(3)], 0)
    assert found.sd == pytest.approx(bests[:3].std(ddof=1))
    assert from_replicates([studied(0), studied(1)], 0) is None
    replicated = variance(studied(0), [studied(1), studied(2)]).study["wide=0"]
    assert replicated.how == Message("variance.studies", {"studies": 3})


def test_the_luck_of_a_gain_is_smaller_where_the_points_are_shared():
    quiet = studied(3, trials=24, noise=0.002, shift=0.03)
    luck = study_spread_of_gain(quiet, 1, quiet, 0)
    alone = [from_halves(quiet, study).sd for study in (0, 1)]
    assert luck.sd < float(np.hypot(*alone))
    apart = study_spread_of_gain(
        quiet, 1, replace(quiet, round=replace(quiet.round, name="other")), 0
    )
    assert apart.sd > luck.sd
    again = [studied(seed, shift=0.03) for seed in range(4)]
    replicated = study_spread_of_gain(again[0], 1, again[0], 0, again)
    assert replicated.freedom == 3
    assert study_spread_of_gain(studied(0, trials=6), 1, studied(0, trials=6), 0) is None


def test_right_and_wrong_answers_give_mcnemars_variance():
    random = np.random.default_rng(7)
    a, b = (random.random((2, 1000)) < 0.9).astype(float)
    gained, lost = int(((b == 1) & (a == 0)).sum()), int(((b == 0) & (a == 1)).sum())
    mcnemar = (gained + lost - (gained - lost) ** 2 / 1000) / 1000**2
    assert of_gain(b, a).sd == pytest.approx(np.sqrt(mcnemar), rel=2e-3)
    assert of_gain(b, b).sd == 0
    assert of_value(b).sd == pytest.approx(b.std(ddof=1) / np.sqrt(1000))


def test_shared_examples_know_the_difference_better_than_either_value():
    random = np.random.default_rng(8)
    hard = random.exponential(size=500)
    a, b = hard + 0.05 * random.standard_normal((2, 500))
    assert of_gain(b, a).sd < 0.1 * of_value(b).sd
    bootstrapped = of_gain(b, a, statistic=lambda x: float(x.mean()))
    assert bootstrapped.sd == pytest.approx(of_gain(b, a).sd, rel=0.15)
    median = of_gain(b, a, statistic=lambda x: float(np.median(x)))
    assert median.sd > 0
    runs = of_gain(np.stack([b, b]), np.stack([a, a]))
    assert runs.sd == pytest.approx(of_gain(b, a).sd)


def test_data_variance_of_differences_is_calibrated():
    random = np.random.default_rng(9)
    gaps, stated = [], []
    for _ in range(400):
        difficulty = random.random(300)
        a, b = (random.random((2, 300)) < 0.5 + 0.4 * difficulty).astype(float)
        gaps.append(b.mean() - a.mean())
        stated.append(of_gain(b, a).sd)
    assert float(np.mean(stated)) == pytest.approx(float(np.std(gaps)), rel=0.12)


def test_examples_must_be_shared_finite_and_many():
    with pytest.raises(DesignError, match="the same ones, in the same order"):
        of_gain(np.ones(100), np.ones(99))
    with pytest.raises(DesignError, match="at least 30"):
        of_value([1.0] * 10)
    with pytest.raises(DesignError, match="finite"):
        of_value([np.nan] * 50)


def test_splits_show_what_the_data_do():
    splits = (1, 2, 3, 4)
    found = by_split(arm([0.7, 0.8, 0.75, 0.9], splits=splits))
    assert found.sd == pytest.approx(np.std([0.7, 0.8, 0.75, 0.9], ddof=1))
    assert by_split(arm([0.7, 0.8], splits=(1, 2))) is None
    known = variance(round_results({}), splits=arm([0.7, 0.8, 0.75, 0.9], splits=splits))
    assert known.splits == found
    assert "splits" not in known.missing


def test_what_trials_kept_per_example_is_read_from_their_folders(tmp_path):
    made = round_results({7: [0.2, 0.21, 0.22]})
    folders = {t.identity: f"r1/{t.number}" for t in made.recorded}
    repeats = [replace(t, folder=f"r1/7.repeat{k}") for k, t in enumerate(made.recorded_repeats, 1)]
    made = replace(
        made,
        root=str(tmp_path),
        recorded=tuple(replace(t, folder=folders[t.identity]) for t in made.recorded),
        recorded_repeats=tuple(repeats),
    )
    assert examples_of(made, made.repeats(7)) is None
    random = np.random.default_rng(10)
    for k in (1, 2, 3):
        (tmp_path / f"r1/7.repeat{k}").mkdir(parents=True)
        np.save(tmp_path / f"r1/7.repeat{k}" / FILE, random.random(100) < 0.8)
    (tmp_path / "r1/6").mkdir()
    np.save(tmp_path / "r1/6" / FILE, random.random(100))
    assert len(examples_of(made, made.repeats(7))) == 100
    found = variance(made)
    assert found.data.how == Message("variance.examples_of_runs", {"examples": 100, "runs": 3})
    # the errors of one run, which are independent of those of the others, are not averaged away
    runs = [np.load(tmp_path / f"r1/7.repeat{k}" / FILE) for k in (1, 2, 3)]
    one = np.sqrt(np.mean([np.var(run, ddof=1) for run in runs]) / 100)
    assert found.data.sd == pytest.approx(one)
    assert of_value(np.mean(runs, axis=0)).sd < 0.7 * one
    assert found.data_of_gain.how == Message("variance.shared_examples", {"examples": 100})
    (tmp_path / "r1/7.repeat3" / FILE).write_bytes(b"not an array")
    with pytest.raises(DesignError, match="not an array"):
        examples_of(made, made.repeats(7))
    np.save(tmp_path / "r1/7.repeat3" / FILE, np.ones(99))
    with pytest.raises(DesignError, match="different numbers"):
        examples_of(made, made.repeats(7))


def test_repeats_of_several_splits_make_one_arm():
    first = repeats_of(round_results({7: [0.2]}), 7)
    second = repeats_of(round_results({7: [0.21]}, round=replace(first.results.round, seed=1)), 7)
    both = Arm.of([first, second])
    assert both.splits == (0, 1)
    assert both.values == (0.2, 0.21)


def test_a_variance_that_is_shown_is_not_called_unknown():
    few = variance(round_results({}))
    assert not few.study and few.missing["study"] == MeasureVariance("depth", studies=3)
    halves = variance(ran(asked(), World(Bowl({"learning_rate": 0.5}), evaluations=2)))
    assert set(halves.study) == {"all"} and "study" not in halves.missing
    assert halves.rough == {"study": MeasureVariance("first", studies=3)}  # only about known
