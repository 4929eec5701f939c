from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from tests.launches.rounds_of_worlds import REFERENCE, asked, ran

from tunewright.advice.widen import around_the_best, narrow, size
from tunewright.design.ranges import Choice, Range, integers, linear, log, log_from_one
from tunewright.messages import Message
from tunewright.testing import Bowl, World


@pytest.mark.parametrize("noise_sd", [0.005, 0.05])
def test_the_optimum_stays_inside_and_the_space_shrinks(noise_sd: float) -> None:
    inside, sizes = 0, []
    for seed in range(60):
        at = np.random.default_rng(seed).uniform(0.1, 0.9, 2)
        optimum = dict(zip(("learning_rate", "beta1"), at.tolist(), strict=True))
        world = World(Bowl(optimum), noise_sd=noise_sd, evaluations=2)
        made = ran(asked(seed=seed, trials_per_study=16), world)
        ranges = {**REFERENCE, **around_the_best(made)}
        inside += all(
            ranges[name].low <= REFERENCE[name].value(x) <= ranges[name].high
            for name, x in optimum.items()
        )
        sizes.append(size(made, around_the_best(made)))
    assert inside >= 57
    assert np.mean(sizes) < 0.4


def test_what_does_not_matter_keeps_its_range() -> None:
    nuisance = {name: REFERENCE[name] for name in ("learning_rate", "epsilon")}
    world = World(Bowl({"learning_rate": 0.5}), noise_sd=0.001)
    kept = sum(
        "epsilon" not in around_the_best(ran(asked(nuisance=nuisance, seed=seed), world))
        for seed in range(20)
    )
    assert kept >= 14


def test_the_proposal_says_what_is_left_of_the_space() -> None:
    made = ran(asked(), World(Bowl({"learning_rate": 0.5, "beta1": 0.5}), noise_sd=0.005))
    (proposal,) = narrow(made, [])
    assert proposal.round is not None
    assert proposal.round.trials_per_study == 24
    assert proposal.reason.facts["left"] == size(made, around_the_best(made))
    assert set(proposal.reason.facts["ranges"]) == {"learning_rate", "beta1"}
    change = proposal.round.change
    assert change == Message("change.narrower", {"names": ["learning_rate", "beta1"]})


def test_too_few_trials_are_not_narrowed_around() -> None:
    assert narrow(ran(asked(trials_per_study=6), World(Bowl({"beta1": 0.5}))), []) == []


RANGES = [log(1e-4, 1e-1), linear(-1.0, 3.0), log_from_one(0.8, 0.999), integers(1, 512, log=True)]


@settings(max_examples=100, deadline=None)
@given(
    range=st.sampled_from(RANGES),
    low=st.floats(0, 0.7),
    width=st.floats(0.15, 0.3),
    inside=st.floats(0, 1),
)
def test_a_cut_holds_what_lies_between_and_nothing_outside_the_range(
    range: Range, low: float, width: float, inside: float
) -> None:
    part = range.narrow(low, low + width)
    assert part is not None and not isinstance(part, Choice) and not isinstance(range, Choice)
    assert range.low <= part.low < part.high <= range.high
    between = range.value(low + inside * width)
    rounding = 1e-9 * (range.high - range.low)  # the ends are written with few digits
    assert part.low - rounding <= between <= part.high + rounding


def test_a_list_is_not_cut() -> None:
    assert Choice((1, 2, 3)).narrow(0.0, 0.5) is None
