from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.checks.space_worlds import halton, speaks

from tunewright.actions import RunTrials
from tunewright.checks.density import Reference, density, sampling
from tunewright.design.objective import maximize
from tunewright.design.ranges import linear, log
from tunewright.design.round import Round
from tunewright.finding import Finding
from tunewright.store.results import Results
from tunewright.testing import Bowl, World, results

WIDE = {name: linear(0.0, 1.0) for name in "abcd"}
BOWL = Bowl(dict.fromkeys("abcd", 0.5))


def asked(world: Any, *, repeats: dict[int, int] | None = None, **changes: Any) -> list[Finding]:
    settings: dict[str, Any] = {"goal": "?", "nuisance": WIDE, "trials_per_study": 16, **changes}
    return density(results(Round("r", **settings), world, repeats=repeats))


def test_too_few_trials_for_the_difference_to_detect() -> None:
    (finding,) = asked(BOWL, detect=0.001)
    assert finding.verdict == "warn"
    assert finding.actions[0] == RunTrials("r", trials_per_study=32)
    assert finding.evidence.reference == Reference(0.001, "detect")
    assert finding.evidence.repeat_sd > 0.001


def test_enough_for_a_larger_one() -> None:
    (finding,) = asked(BOWL, detect=0.2)
    assert finding.verdict == "ok"
    assert finding.evidence.good_region.trials >= 3
    assert [one.k for one in finding.evidence.best_of_k] == [1, 2, 3, 5, 8, 13, 16]


def test_without_a_difference_that_matters_it_only_tells_the_numbers() -> None:
    (finding,) = asked(BOWL)
    assert finding.verdict == "note"
    assert finding.evidence.reference is None


def test_the_gap_between_settings_or_the_trial_variance_serve_as_difference() -> None:
    world = World(BOWL, effect=lambda s: 0.5 * s.number)
    found = asked(world, scientific={"act": ["relu", "gelu"]})
    assert {f.evidence.reference.source for f in found} == {"between_settings"}
    assert found[0].evidence.reference.size == pytest.approx(0.5)
    (noisy,) = asked(World(BOWL, noise_sd=0.2), repeats={0: 5})
    assert noisy.evidence.reference.source == "trial_sd"


def by_hand(made: Results, within: float) -> int:
    losses = [trial.value for trial in made.trials if trial.value is not None]
    return sum(value <= min(losses) + within for value in losses)


def test_the_trials_in_the_good_region_are_counted_by_what_matters() -> None:
    for detect, verdict in ((0.001, "warn"), (0.2, "ok")):
        made = results(
            Round("r", goal="?", nuisance=WIDE, trials_per_study=16, detect=detect), BOWL
        )
        (finding,) = density(made)
        near = finding.evidence.good_region
        assert (finding.verdict, near.by, near.within) == (verdict, "detect", 2 * detect)
        assert near.trials == by_hand(made, 2 * detect)
        assert finding.to_data()["evidence"]["good_region"]["trials"] == near.trials
        assert any(str(near.trials) in line for line in finding.words.evidence[1:])  # printed


def test_without_a_difference_that_matters_noise_or_the_spread_define_the_good_region() -> None:
    few = Round("r", goal="?", nuisance=WIDE, trials_per_study=16)
    noisy = results(few, World(BOWL, evaluations=60, curve_sd=0.01))
    near = density(noisy)[0].evidence.good_region
    assert near.by == "late_evaluations"
    assert near.within == pytest.approx(2 * 0.01, rel=0.5)
    assert near.trials == by_hand(noisy, near.within)
    short = results(few, World(BOWL, evaluations=2))  # no curve that noise could be read from
    near = density(short)[0].evidence.good_region
    assert near.by == "tenth_of_spread"
    assert near.trials == by_hand(short, near.within) >= 1


def test_the_count_is_of_the_objective_to_maximise_too() -> None:
    own = World(BOWL, objective=maximize("accuracy"))
    made = results(Round("r", goal="?", nuisance=WIDE, trials_per_study=16, detect=0.05), own)
    values = [trial.value for trial in made.trials if trial.value is not None]
    near = density(made)[0].evidence.good_region
    assert near.trials == sum(value >= max(values) - 0.1 for value in values)


def test_five_trials_say_nothing() -> None:
    (finding,) = asked(BOWL, trials_per_study=5)
    assert finding.verdict == "cannot_judge"


def test_the_gains_by_hand() -> None:
    seen = sampling([0.0, 1.0, 2.0, 3.0])
    assert seen.half.mean == pytest.approx(2 / 3)
    assert seen.last_gain == pytest.approx(2 / 3)
    assert seen.gain_before == pytest.approx(1.5 - 2 / 3)
    assert seen.expected_gain == pytest.approx(0.6 * 2 / 3)
    assert seen.gain_interval == (0.0, pytest.approx(1.5 * 3.0))  # of four, the worst is the last
    assert sampling([*range(10)]).gain_interval[1] == pytest.approx(1.5 * 5)


def test_the_interval_covers_what_doubling_gains_and_the_average_is_about_right() -> None:
    """Surfaces with one ruling axis: at least 90 of 100 gains, and no wild average."""
    covered, gained, predicted = 0, 0.0, 0.0
    for seed in range(100):
        units = halton(seed, 32, 6)
        random = np.random.default_rng([seed, 8])
        at = random.uniform(0.2, 0.8, 6)
        losses = (units[:, 0] - at[0]) ** 2 + 0.3 * ((units[:, 1:3] - at[1:3]) ** 2).sum(axis=1)
        losses += 0.02 * random.normal(size=32)
        seen = sampling(losses[:16])
        gain = losses[:16].min() - losses.min()
        covered += gain <= seen.gain_interval[1]
        gained, predicted = gained + gain, predicted + seen.expected_gain
    assert covered >= 86
    assert 0.5 < gained / predicted < 2.0


def test_a_study_that_is_too_small_states_the_interval() -> None:
    (finding,) = asked(BOWL, detect=0.001)
    low, high = finding.evidence.gain_interval
    assert low == 0.0 < finding.evidence.expected_gain <= high
    assert len(finding.headline.split()) <= 12
    assert f"{high:.1g}" in finding.headline


def test_it_speaks_where_doubling_gains_and_not_where_it_does_not() -> None:
    # published: below .25 of the reference .00 to .08, above one .83 to .99
    for count in (16, 30):
        spoke, gained, _ = speaks(count, surface=3.0, reference=3.0, studies=40)
        assert gained < 0.25
        assert spoke <= 4
    spoke, gained, promised = speaks(10, surface=30.0, reference=3.0, studies=40)
    assert gained > 1
    assert spoke >= 33
    assert promised == pytest.approx(gained, rel=0.4)


def test_a_rate_searched_on_a_log_scale_alone() -> None:
    (finding,) = asked(
        Bowl({"learning_rate": 0.5}), nuisance={"learning_rate": log(1e-4, 1e-1)}, detect=0.05
    )
    assert finding.verdict == "ok"
    assert np.isfinite(finding.evidence.expected_gain)


def test_an_objective_to_maximise_is_told_in_its_own_units() -> None:
    own = World(BOWL, objective=maximize("accuracy"))
    made = results(Round("r", goal="?", nuisance=WIDE, trials_per_study=16), own)
    (finding,) = density(made)
    best = finding.evidence.best_of_k[-1]
    assert best.mean == pytest.approx(made.best().value)
    assert list(best.quantiles) == sorted(best.quantiles)
    means = [one.mean for one in finding.evidence.best_of_k]
    assert means == sorted(means)  # the best of more is higher
    assert finding.evidence.last_gain >= 0
