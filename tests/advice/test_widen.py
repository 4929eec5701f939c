from __future__ import annotations

import pytest
from tests.launches.rounds_of_worlds import REFERENCE, asked, ran

from tunewright.advice.widen import reaching, widen
from tunewright.checks.boundary import boundary
from tunewright.checks.checklist import check
from tunewright.design.conditions import given
from tunewright.design.ranges import Choice, integers, linear, log
from tunewright.store.joined import joined
from tunewright.testing import Bowl, World

WORLD = World(Bowl({"learning_rate": 1.05, "beta1": 0.5}), noise_sd=0.005)


def warned(verdicts: list[str]) -> int:
    return verdicts.count("warn")


@pytest.mark.parametrize("which", [0, 1])
def test_after_the_widening_the_optimum_is_inside_and_the_check_is_silent(which: int) -> None:
    """Both ways: the whole wider space, and only from where the best lie."""
    silent = 0
    for seed in range(20):
        first = ran(asked(seed=seed), WORLD)
        proposals = widen(first, check(first))
        if not proposals:
            silent += 1  # the check misses about one in twenty
            continue
        wide = proposals[which].round
        assert wide is not None
        rate = wide.nuisance["learning_rate"]
        assert rate.low <= 1e-4 * 10**3.15 <= rate.high
        again = joined(ran(wide, WORLD), first)
        silent += not any(
            f.verdict == "warn" and "learning_rate" in f.evidence.proposed for f in boundary(again)
        )
    assert silent >= 18


def test_the_cheaper_way_keeps_the_density_and_saves_trials() -> None:
    first = ran(asked(), WORLD)
    whole, beyond = (one.round for one in widen(first, check(first)))
    assert whole is not None and beyond is not None
    assert (whole.trials_per_study, beyond.trials_per_study) == (32, 17)
    assert beyond.nuisance["learning_rate"].high == whole.nuisance["learning_rate"].high == 1.0
    assert beyond.nuisance["learning_rate"].low >= 5e-3


def test_a_conditional_range_is_widened_where_it_stands() -> None:
    rates = {"learning_rate": REFERENCE["learning_rate"]}
    nuisance = {"act": given({"a": rates, "b": rates}), "beta1": REFERENCE["beta1"]}
    first = ran(asked(scientific={"act": ["a", "b"]}, nuisance=nuisance), WORLD)
    wide = widen(first, check(first))[0].round
    assert wide is not None
    ranges = {h.column: str(h.range) for study in wide.studies for h in study.space}
    assert ranges["act.a.learning_rate"] == "log(0.0001, 1)"
    assert ranges["beta1"] == str(REFERENCE["beta1"])


def test_an_ordered_list_gets_a_value_more() -> None:
    world = World(
        Bowl({"learning_rate": 0.5, "beta1": 0.5}),
        effect=lambda s: -0.3 * s.number,
        noise_sd=0.01,
    )
    first = ran(asked(scientific={"layers": [1, 2, 3]}), world)
    wide = widen(first, check(first))[0].round
    assert wide is not None
    assert wide.scientific["layers"] == Choice((1, 2, 3, 4))
    assert wide.trials_per_study == 24  # per study, of which there is one more


def test_no_warning_no_widening() -> None:
    first = ran(asked(), World(Bowl({"learning_rate": 0.5, "beta1": 0.5}), noise_sd=0.005))
    assert widen(first, check(first)) == []


def test_hulls_and_shares() -> None:
    assert log(1e-4, 1).hull(log(1e-5, 0.1)) == log(1e-5, 1)
    assert integers(1, 4).hull(integers(2, 8)) == integers(1, 8)
    assert linear(0, 2).covered(linear(0, 1)) == 0.5
    # both ends widened: all of it
    assert reaching(log(1e-4, 0.1), log(1e-5, 1), log(1e-3, 0.01)) == log(1e-5, 1)
    assert reaching(log(1e-4, 0.1), log(1e-5, 0.1), log(1e-4, 1e-3)) == log(1e-5, 1e-3)
