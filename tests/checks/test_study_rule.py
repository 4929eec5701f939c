from __future__ import annotations

import pytest

from tunewright.checks._curve_question import (
    IMMATERIAL,
    Reading,
    TrialFacts,
    in_rank_order,
    judge_readings,
)
from tunewright.store.trial import Trial


def reading(number: int, flagged: bool = False, z: float = 0.0) -> Reading[TrialFacts]:
    trial = Trial(
        number=number, study=0, index=number, configuration={}, unit={}, status="completed"
    )
    return Reading(trial, z, flagged, 100, TrialFacts(number))


def flags(*numbers: int, of: int = 16) -> list[Reading[TrialFacts]]:
    return [reading(k, k in numbers, 9.0 if k in numbers else 0.0) for k in range(of)]


@pytest.mark.parametrize(
    ("readings", "verdict", "because", "flagged", "of_top"),
    [
        (flags(), "ok", "", [], 0),
        (flags(0), "warn", "best", [0], 1),
        (flags(0, 2), "warn", "best", [0, 2], 2),
        (flags(3), "note", "one", [3], 1),
        (flags(2, 4), "warn", "several", [2, 4], 2),
        (flags(9), "ok", "", [9], 0),
        (flags(8, 9), "ok", "", [8, 9], 0),
        (flags(8, 9, 12), "warn", "many", [8, 9, 12], 0),
        (flags(0, of=1), "warn", "best", [0], 1),
    ],
)
def test_flags_become_a_verdict(readings, verdict, because, flagged, of_top) -> None:
    said = judge_readings(readings)
    assert (said.verdict, said.because, said.flagged_of_top) == (verdict, because, of_top)
    assert [r.facts.trial for r in said.flagged] == flagged


def test_weaker_trials_may_count_less() -> None:
    assert judge_readings(flags(8, 9, 12), many="note").verdict == "note"
    assert judge_readings(flags(2, 4), many="note").verdict == "warn"


def test_five_that_agree_speak_without_a_flag() -> None:
    agreeing = [reading(k, z=2.5) for k in range(3)] + [reading(3), reading(4, z=IMMATERIAL)]
    said = judge_readings(agreeing, median_limit=2.2)
    assert (said.verdict, said.because, said.median_z) == ("warn", "median", 2.5)
    assert [r.trial.number for r in said.speakers] == [0, 1, 2, 3]
    assert judge_readings(agreeing, median_limit=2.6).verdict == "ok"
    assert judge_readings(agreeing[:4], median_limit=2.2).median_z is None


def test_readings_follow_the_rank_of_their_trials() -> None:
    readings = flags(of=4)
    ranked = [readings[k].trial for k in (2, 0, 3, 1)]
    assert [r.trial.number for r in in_rank_order(readings, ranked)] == [2, 0, 3, 1]
