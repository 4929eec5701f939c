"""A launch on one small validation set: the error of the measurement is part of the gain's."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tunewright.design.objective import minimize
from tunewright.errors import DesignError
from tunewright.launches.arm import Arm, of_measurement
from tunewright.launches.decide import decide
from tunewright.stats.measurement import SHARED, sd_of_difference

OBJECTIVE = minimize("error")
GOOD = Arm("new", (0.081, 0.080, 0.082, 0.081, 0.080), OBJECTIVE)
BASE = Arm("old", (0.085, 0.086, 0.084, 0.085, 0.086), OBJECTIVE)


def with_sd(arm: Arm, sd: float, examples: int | None = 1000, **more: object) -> Arm:
    return replace(arm, measured_sd=sd, examples=examples, **more)  # type: ignore[arg-type]


def test_a_gain_within_the_measurement_is_not_launched() -> None:
    assert decide(GOOD, BASE).verdict == "launch"
    small = decide(with_sd(GOOD, 0.009), with_sd(BASE, 0.009))
    assert small.verdict == "keep" and small.sources == ("trial", "data")
    assert small.interval is not None and small.interval[0] < 0
    included = next(r for r in small.reasons if r.code == "launch.variance_included")
    assert included.facts["sd"] == pytest.approx(sd_of_difference(0.009, 0.009))
    large = decide(with_sd(GOOD, 0.0009, 100_000), with_sd(BASE, 0.0009, 100_000))
    assert large.verdict == "launch" and large.probability is not None


def test_runs_on_several_splits_show_it_themselves() -> None:
    splits = (1, 2, 3, 4, 5)
    arms = [with_sd(arm, 0.009, splits=splits) for arm in (GOOD, BASE)]
    assert of_measurement(*arms) is None
    assert decide(*arms).sources == ("trial",)


def test_what_is_known_of_one_arm_alone_adds_nothing() -> None:
    assert of_measurement(with_sd(GOOD, 0.009), BASE) is None
    assert decide(with_sd(GOOD, 0.009), BASE).sources == ("trial",)
    assert of_measurement(with_sd(GOOD, 0.0), with_sd(BASE, 0.0)) is None
    unknown = of_measurement(with_sd(GOOD, 0.01, None), with_sd(BASE, 0.01, None))
    assert unknown is not None and unknown.how.facts["examples"] is None and str(unknown.how)


def test_an_arm_with_a_wrong_standard_deviation_is_refused() -> None:
    with pytest.raises(DesignError) as error:
        with_sd(GOOD, -1.0)
    assert error.value.code == "measured.bad_sd"


def test_equal_arms_on_a_small_shared_set_are_launched_as_seldom_as_promised() -> None:
    """Two equally good programs, whose errors on one validation set differ by chance."""
    random = np.random.default_rng(0)
    sd = 0.0134
    launched = {True: 0, False: 0}
    for _ in range(300):
        arms = []
        for label in ("new", "old"):
            level = 0.1 + math.sqrt(1 - SHARED) * sd * random.standard_normal()
            arms.append(Arm(label, tuple(level + 0.003 * random.standard_normal(5)), OBJECTIVE))
        for told in launched:
            own, other = (with_sd(arm, sd, 500) if told else arm for arm in arms)
            launched[told] += decide(own, other).verdict == "launch"
    assert launched[False] > 75, "a quarter and more: the set decides"
    assert launched[True] <= 45, "10 % promised"
