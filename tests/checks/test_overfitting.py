from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from tests.checks.curve_worlds import FALLING, NOISES, known_curves, noise, results_of, rise, shape
from tests.checks.rates import agrees, at_most

from tunewright.actions import Advise, CheckRound, Declare, NextRound, ShowTrial
from tunewright.checks._curve_question import IMMATERIAL
from tunewright.checks.checklist import check
from tunewright.checks.overfitting import MEDIAN_LIMIT, got_worse, overfitting
from tunewright.design.objective import maximize, minimize
from tunewright.finding import NotJudged
from tunewright.messages import Message
from tunewright.stats.noise import noisy_curves

# E, correlation, sd: share of curves flagged when worse by 4.5 % from 40 % on, 15 % from 40 %,
# 15 % from 70 % (the published rates)
POWER = [
    (20, 0.0, 0.002, (0.50, 0.67, 0.28)),
    (20, 0.8, 0.01, (0.11, 0.45, 0.28)),
    (40, 0.0, 0.002, (0.95, 1.0, 0.97)),
    (40, 0.0, 0.01, (0.19, 0.96, 0.83)),
    (40, 0.8, 0.01, (0.21, 0.91, 0.84)),
    (100, 0.0, 0.01, (0.98, 1.0, 1.0)),
    (100, 0.8, 0.01, (0.20, 1.0, 1.0)),
    (100, 0.8, 0.03, (0.04, 0.41, 0.39)),
]


def test_the_reference_numbers_are_reproduced() -> None:
    found = got_worse(noisy_curves(known_curves()))
    np.testing.assert_allclose(found.z, [5.8944508899, 0.0, 1.6354298155], rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(found.rise, [0.0375175582, 0.0, 0.0008594284], rtol=1e-7, atol=1e-12)
    assert found.flagged.tolist() == [True, False, False]


@pytest.mark.parametrize(("evaluations", "correlation", "sd", "published"), POWER)
def test_power_is_the_published_one(
    evaluations: int, correlation: float, sd: float, published: Sequence[float]
) -> None:
    rng = np.random.default_rng(evaluations)
    for (by, since), rate in zip([(0.045, 0.4), (0.15, 0.4), (0.15, 0.7)], published, strict=True):
        values = rise(evaluations, by, since) + sd * noise(rng, 200, evaluations, correlation)
        flagged = int(got_worse(noisy_curves(values)).flagged.sum())
        # broad means find more than the narrow ones of the publication
        assert flagged > 200 * rate or agrees(flagged, 200, rate), (by, since, flagged / 200)


def null_flags(
    evaluations: int, correlation: float, curves: int, seed: int
) -> dict[tuple[str, str, float], int]:
    rng = np.random.default_rng(seed)
    return {
        (name, kind, sd): int(
            got_worse(
                noisy_curves(
                    shape(name, evaluations)
                    + sd * noise(rng, curves, evaluations, correlation, kind)
                )
            ).flagged.sum()
        )
        for name in FALLING
        for kind in NOISES
        for sd in (0.002, 0.01, 0.03)
    }


# mean over cells and worst cell, in per cent (the published rates)
@pytest.mark.parametrize(
    ("evaluations", "correlation", "mean", "worst"),
    [(20, 0.0, 0.0, 0.3), (20, 0.8, 0.22, 2.5), (40, 0.5, 0.05, 0.5), (100, 0.8, 0.27, 4.3)],
)
def test_curves_that_only_fall_are_left_alone(
    evaluations: int, correlation: float, mean: float, worst: float
) -> None:
    flags = null_flags(evaluations, correlation, 40, seed=evaluations)
    assert at_most(sum(flags.values()), 40 * len(flags), mean / 100)
    cell = max(flags, key=lambda c: flags[c])
    assert at_most(flags[cell], 40, max(worst, 2.0) / 100), cell


@pytest.mark.parametrize(("evaluations", "published"), [(20, 0.25), (40, 0.95)])
def test_five_trials_together_see_what_one_cannot(evaluations: int, published: float) -> None:
    rng = np.random.default_rng(3)
    values = rise(evaluations, 0.045, 0.4) + 0.01 * noise(rng, 1000, evaluations, 0.0)
    found = got_worse(noisy_curves(values))
    z = np.where(found.matters, found.z, IMMATERIAL).reshape(200, 5)
    together = int((np.median(z, axis=1) > MEDIAN_LIMIT).sum())
    assert agrees(together, 200, published, slack=0.05)
    assert found.flagged.mean() < 0.5 * together / 200


@pytest.mark.parametrize("correlation", [0.0, 0.8])
@pytest.mark.parametrize("evaluations", [20, 40, 100])
def test_five_trials_together_are_rarely_wrong(evaluations: int, correlation: float) -> None:
    rng = np.random.default_rng(4)
    for name in ("fast", "two_plateaus"):
        for kind in ("gauss", "growing", "to_zero"):
            values = shape(name, evaluations) + 0.01 * noise(
                rng, 1000, evaluations, correlation, kind
            )
            found = got_worse(noisy_curves(values))
            z = np.where(found.matters, found.z, IMMATERIAL).reshape(200, 5)
            assert at_most(int((np.median(z, axis=1) > MEDIAN_LIMIT).sum()), 200, 0.02)


def world(count: int = 8, by: float = 0.15, evaluations: int = 60, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    levels = 0.02 * np.arange(count)[:, None]  # the first trial is the best
    return rise(evaluations, by, 0.4) + levels + 0.005 * noise(rng, count, evaluations, 0.3)


def training(count: int = 8, evaluations: int = 60, by: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(9)
    falling = shape("power_half", evaluations) if by == 0 else rise(evaluations, by, 0.4)
    return falling + 0.005 * noise(rng, count, evaluations, 0.3)


def test_overfitting_is_named_where_training_goes_on_falling() -> None:
    (found,) = overfitting(results_of({"valid_error": world(), "train_loss": training()}))
    assert (found.verdict, found.evidence.kind) == ("warn", "overfitting")
    assert (found.evidence.because, found.evidence.shown.trial) == ("best", 0)
    regularisers = ["weight_decay", "dropout", "label_smoothing"]
    assert found.actions == (
        Advise("regularise_first", {"regularisers": regularisers}),
        NextRound("depth"),
    )


def test_worse_in_training_too_is_instability() -> None:
    (found,) = overfitting(results_of({"valid_error": world(), "train_loss": training(by=0.2)}))
    assert (found.verdict, found.evidence.kind) == ("warn", "training too")
    # a rise that lasts is what `training_bug` warns about, `instability` is silent
    made = results_of({"valid_error": world(), "train_loss": training(by=0.2)})
    assert found.actions == (
        CheckRound("depth"),
        Advise("see_finding", {"check": "training_bug"}),
    )
    assert {f.check for f in check(made) if f.verdict == "warn"} >= {"training_bug"}


def test_without_a_training_loss_it_says_what_is_missing() -> None:
    (found,) = overfitting(results_of({"valid_error": world()}))
    assert (found.verdict, found.evidence.kind) == ("warn", "unknown")
    assert Declare("train_loss") in found.actions


def test_curves_that_fall_are_ok() -> None:
    (found,) = overfitting(results_of({"valid_error": world(by=0.0), "train_loss": training()}))
    assert (found.verdict, found.actions) == ("ok", ())


def test_an_accuracy_is_judged_the_other_way_round() -> None:
    results = results_of(
        {"accuracy": 1 - world(), "train_loss": training()}, objective=maximize("accuracy")
    )
    (found,) = overfitting(results)
    assert found.verdict == "warn"
    best, end = found.evidence.flagged[0].best, found.evidence.flagged[0].end
    assert 0.6 < end < best - 0.08 < 0.8


def test_it_is_expected_where_a_regulariser_is_compared() -> None:
    results = results_of(
        {"valid_error": world(), "train_loss": training()},
        scientific={"dropout": [0.0, 0.5]},
    )
    assert {found.verdict for found in overfitting(results)} == {"note"}
    assert overfitting(results)[0].evidence.compared == ("dropout",)


def test_each_scientific_value_gets_its_own_answer() -> None:
    values = world(count=12)
    values[1::2] = world(count=6, by=0.0)
    results = results_of(
        {"valid_error": values, "train_loss": training(12)}, scientific={"layers": [1, 2]}
    )
    assert [(f.about, f.verdict) for f in overfitting(results)] == [
        ("layers=1", "warn"),
        ("layers=2", "ok"),
    ]


def test_one_of_the_five_best_is_a_note_and_two_are_a_warning() -> None:
    falling = world(by=0.0)
    for count, verdict in ((1, "note"), (2, "warn")):
        values = falling.copy()
        values[2 : 2 + count] = world()[2 : 2 + count]
        (found,) = overfitting(results_of({"valid_error": values, "train_loss": training()}))
        assert found.verdict == verdict


def test_overfitting_in_any_trial_is_a_note() -> None:
    values = world(count=20, by=0.0)
    values[10:] = world(count=20)[10:]
    (found,) = overfitting(results_of({"valid_error": values, "train_loss": training(20)}))
    assert (found.verdict, found.evidence.shown, found.evidence.judged) == ("note", None, 10)
    seen = found.evidence.elsewhere
    assert (seen.judged, seen.trials, seen.by_chance) == (10, tuple(range(10, 20)), False)
    assert seen.shown.kind == "overfitting"
    assert found.actions[0] == ShowTrial("depth", seen.shown.trial)


def test_a_single_clear_one_far_below_is_a_note_too() -> None:
    values = world(count=20, by=0.0)
    values[19] = rise(60, 0.5, 0.4) + 0.3
    (found,) = overfitting(results_of({"valid_error": values, "train_loss": training(20)}))
    assert (found.verdict, found.evidence.elsewhere.trials) == ("note", (19,))


def test_the_other_trials_of_healthy_studies_are_silent() -> None:
    notes = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        levels = 0.02 * np.arange(40)[:, None]
        name = ("power_half", "fast", "slow")[seed % 3]
        values = shape(name, 100) + levels + 0.01 * noise(rng, 40, 100, 0.3)
        (found,) = overfitting(results_of({"valid_error": values}))
        notes += found.evidence.elsewhere is not None and not found.evidence.elsewhere.by_chance
    assert notes <= 2


def test_the_best_that_escape_by_small_rates_are_named() -> None:
    values = world(count=20, by=0.0) + 0.01 * np.arange(20)[:, None]
    values[10:] = world(count=20)[10:] + 0.3
    curves = {"valid_error": values, "train_loss": training(20)}
    small = [{"learning_rate": 1e-3 * (1 + n) if n < 10 else 0.1 * n} for n in range(20)]
    seen = overfitting(results_of(curves, configurations=small))[0].evidence.small_rates
    assert (seen.name, seen.best) == ("learning_rate", 3e-3)
    assert seen.others > 1 and seen.p < 0.01
    mixed = [{"learning_rate": 1e-3 * (1 + 7 * n % 20)} for n in range(20)]
    assert overfitting(results_of(curves, configurations=mixed))[0].evidence.small_rates is None


def test_twenty_evaluations_are_judged_by_five_trials_together() -> None:
    rng = np.random.default_rng(1)
    levels = 0.02 * np.arange(8)[:, None]
    values = rise(20, 0.045, 0.4) + levels + 0.004 * noise(rng, 8, 20, 0.0)
    (found,) = overfitting(results_of({"valid_error": values}))
    assert (found.verdict, found.evidence.because) == ("warn", "median")
    quiet = shape("fast", 20) + levels + 0.004 * noise(rng, 8, 20, 0.0)
    (found,) = overfitting(results_of({"valid_error": quiet}))
    assert (found.verdict, found.evidence.points) == ("ok", 20)
    assert found.words.evidence  # so few points limit the verdict


@pytest.mark.parametrize(
    ("curves", "objective", "code"),
    [
        ({"valid_error": world(evaluations=40)[:, :12]}, None, "judge.few_points"),
        ({"train_loss": world()}, minimize("train_loss"), "judge.metric_not_logged"),
        ({"valid_error": np.ones((6, 50))}, None, "judge.never_learned"),
    ],
)
def test_what_cannot_be_judged_has_a_reason(curves, objective, code) -> None:
    (found,) = overfitting(results_of(curves, objective=objective))
    assert (found.verdict, found.evidence.why.code) == ("cannot_judge", code)


def test_a_metric_that_stands_for_validation_is_asked_for() -> None:
    results = results_of({"train_loss": world()}, objective=minimize("train_loss"))
    (found,) = overfitting(results)
    assert found.actions == (Declare("valid_loss"),)


def test_a_round_without_completed_trials_cannot_be_judged() -> None:
    values = world()
    values[:, 5] = np.nan
    (found,) = overfitting(results_of({"valid_error": values}))
    assert found.evidence == NotJudged(Message("judge.no_completed_trial"))


@pytest.mark.parametrize(("evaluations", "sd", "least"), [(30, 0.03, 0.5), (51, 0.03, 0.85)])
def test_broad_means_find_large_rises_in_rough_curves_of_few_evaluations(
    evaluations: int, sd: float, least: float
) -> None:
    rough = sd * noise(np.random.default_rng(7), 200, evaluations, 0.0)
    assert got_worse(noisy_curves(rise(evaluations, 0.2, 0.4) + rough)).flagged.mean() >= least
    flagged = [
        got_worse(noisy_curves(shape(name, evaluations) + rough)).flagged.sum() for name in FALLING
    ]
    assert at_most(int(sum(flagged)), 200 * len(FALLING), 0.01)


def test_a_study_whose_rises_only_broad_means_see_is_explained() -> None:
    rough = 0.03 * noise(np.random.default_rng(8), 8, 30, 0.0)
    curves = rise(30, 0.2, 0.4) + rough + 0.01 * np.arange(8)[:, None]
    (finding,) = overfitting(results_of({"valid_error": curves}))
    assert finding.verdict == "warn"
    assert finding.evidence.kind == "unknown" and finding.evidence.shown is not None


def test_a_rise_counts_from_three_standard_errors_and_some_for_short_curves() -> None:
    """With 80 evaluations the level is 3.5: a rise just above it is flagged."""
    random = np.random.default_rng(1)
    late = np.concatenate([np.zeros(40), np.linspace(0, 1, 40)])
    heights = np.linspace(0.0, 0.05, 60)[:, None]
    values = shape("fast", 80) + heights * late + 0.01 * noise(random, 60, 80, 0.0)
    found = got_worse(noisy_curves(values))
    above = found.matters & (found.z > 3.5) & (found.z < 4.4)
    assert above.any() and found.flagged[above].all()
