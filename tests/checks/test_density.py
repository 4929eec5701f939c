from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.checks.space_worlds import speaks

from tunewright.actions import RunTrials
from tunewright.checks.density import Reference, density, sampling
from tunewright.design.objective import maximize
from tunewright.design.ranges import linear, log
from tunewright.design.round import Round
from tunewright.finding import Finding
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
    assert finding.evidence.good_region >= 3
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


def test_five_trials_say_nothing() -> None:
    (finding,) = asked(BOWL, trials_per_study=5)
    assert finding.verdict == "cannot_judge"


def test_the_gains_by_hand() -> None:
    seen = sampling([0.0, 1.0, 2.0, 3.0])
    assert seen.half.mean == pytest.approx(2 / 3)
    assert seen.last_gain == pytest.approx(2 / 3)
    assert seen.gain_before == pytest.approx(1.5 - 2 / 3)
    assert seen.expected_gain == pytest.approx(0.5 * min(2 / 3, (1.5 - 2 / 3) / 2))


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
