"""Worlds in which the validation set is too small to tell the best trials apart, and others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tunewright as tw
from tunewright.checks.comparison import ComparisonEvidence, comparison
from tunewright.checks.density import DensityEvidence, density
from tunewright.checks.step_variance import StepVarianceEvidence, step_variance
from tunewright.checks.validation_size import ValidationSizeEvidence, validation_size
from tunewright.checks.variance import VarianceEvidence, variance
from tunewright.finding import Finding
from tunewright.stats.measurement import examples_for, own_sd, sd_of_difference
from tunewright.store.results import Results
from tunewright.testing import Bowl, World, results

RATES = tw.Round("rates", goal="?", nuisance={"lr": tw.log(1e-4, 1e-1)}, trials_per_study=24)


def world(examples: int, share: float = 0.2, **more: object) -> World:
    """An error rate of about `share`, measured on so many examples."""
    sd = (share * (1 - share) / examples) ** 0.5
    given = {"measured_sd": sd, "measured_n": examples, "noise_sd": own_sd(sd), **more}
    return World(Bowl({"lr": 0.5}), **given)  # type: ignore[arg-type]


def asked(found: Results) -> Finding:
    (one,) = validation_size(found)
    return one


def of(finding: Finding) -> ValidationSizeEvidence:
    assert isinstance(finding.evidence, ValidationSizeEvidence)
    return finding.evidence


def test_it_is_silent_where_nothing_is_known_of_the_measurement() -> None:
    assert validation_size(results(RATES, World(Bowl({"lr": 0.5}), noise_sd=0.01))) == []


@pytest.mark.parametrize("seed", range(5))
def test_a_small_set_is_too_small_for_what_the_round_wants_to_detect(seed: int) -> None:
    wanted = replace(RATES, detect=0.01)
    small = asked(results(wanted, world(400, seed=seed)))
    assert small.verdict == "warn"
    evidence = of(small)
    assert evidence.source == "detect" and evidence.wanted == 0.01
    assert evidence.resolves == pytest.approx(2 * sd_of_difference(0.02, 0.02))
    assert evidence.needed == examples_for(400, evidence.resolves, 0.01) == 3200
    assert small.actions[0].to_data()["facts"]["examples"] == 3200
    large = asked(results(wanted, world(4000, seed=seed)))
    assert large.verdict == "ok" and of(large).needed is None and large.actions == ()


@pytest.mark.parametrize("seed", range(5))
def test_without_a_declared_difference_it_is_a_note(seed: int) -> None:
    small = asked(results(RATES, world(100, seed=seed)))
    assert small.verdict == "note" and of(small).source == "best_to_fifth"
    needed = of(small).needed
    assert needed is not None and needed > 100
    large = asked(results(RATES, world(10**7, seed=seed)))
    assert large.verdict == "ok"


def test_more_examples_do_not_help_where_seeds_differ_by_more() -> None:
    wanted = replace(RATES, detect=0.01)
    found = asked(results(wanted, world(400, noise_sd=0.1), repeats={0: 8}))
    assert of(found).seeds_matter_more and found.verdict == "note"


def test_picking_among_noisy_evaluations_is_optimistic() -> None:
    flat = world(100, curve="fast", evaluations=50, curve_sd=0.002)
    assert of(asked(results(RATES, flat))).optimism > 0.005
    last = replace(flat, objective=tw.minimize("valid_error", at="last"))
    assert of(asked(results(RATES, last))).optimism == 0.0


def test_settings_closer_than_the_measurement_resolves_are_not_separated() -> None:
    settings = replace(RATES, scientific={"depth": [1, 2]})

    def better(study: object) -> float:
        return 0.01 * float(study.scientific["depth"] == 1)  # type: ignore[attr-defined]

    known, unknown = (
        comparison(results(settings, World(Bowl({"lr": 0.5}), effect=better, measured_sd=sd)))[0]
        for sd in (0.02, 0.0)
    )
    assert isinstance(known.evidence, ComparisonEvidence)
    assert isinstance(unknown.evidence, ComparisonEvidence)
    assert unknown.evidence.pairs[0].verdict == "worse"
    assert known.evidence.pairs[0].verdict == "not_distinguishable"
    assert known.evidence.pairs[0].resolves == pytest.approx(2 * sd_of_difference(0.02, 0.02))
    far = results(settings, World(Bowl({"lr": 0.5}), effect=better, measured_sd=0.002))
    assert comparison(far)[0].evidence.pairs[0].verdict == "worse"  # type: ignore[attr-defined]


def test_density_and_late_jumps_are_compared_with_what_measurement_makes_of_equal_trials() -> None:
    settings = replace(RATES, scientific={"depth": [1, 2]})
    made = World(Bowl({"lr": 0.5}), noise_sd=0.001, measured_sd=0.05, evaluations=60, curve_sd=0.01)
    recorded = results(settings, made)
    for finding in density(recorded):
        assert isinstance(finding.evidence, DensityEvidence)
        assert finding.evidence.reference is not None
        assert finding.evidence.reference.source == "measurement"
    for finding in step_variance(recorded):
        assert isinstance(finding.evidence, StepVarianceEvidence)
        assert finding.evidence.compared_with is not None
        assert finding.evidence.compared_with.size >= sd_of_difference(0.05, 0.05)


def test_the_best_value_is_optimistic_even_without_repeats() -> None:
    (known,) = variance(results(RATES, world(100)))
    (unknown,) = variance(results(RATES, replace(world(100), measured_sd=0.0)))
    assert isinstance(known.evidence, VarianceEvidence)
    assert isinstance(unknown.evidence, VarianceEvidence)
    assert known.verdict == unknown.verdict == "cannot_judge"
    assert unknown.evidence.optimism is None
    assert known.evidence.optimism is not None and known.evidence.optimism > 0.005
    assert known.evidence.picked_among == 24


def test_how_many_examples() -> None:
    assert examples_for(1000, 0.004, 0.001) == 16000
    assert examples_for(10, 0.01, 0.01) == 10
    assert np.isclose(sd_of_difference(0.004, 0.0), 0.002)
