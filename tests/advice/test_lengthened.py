from __future__ import annotations

from typing import Any

import pytest

from tunewright.advice.extend import changes_for_length
from tunewright.design.longer_schedule import stretch
from tunewright.design.names import Meaning
from tunewright.design.schedule import Constant, Cosine, Warmup
from tunewright.errors import DesignError
from tunewright.messages import Message


def made(new: int = 5000, **configuration: Any) -> Any:
    return changes_for_length(configuration, Meaning(), 1000, new)


def test_a_linear_decay_keeps_its_steps() -> None:
    kept = made(schedule="linear", decay_steps=400)
    assert (kept.values, kept.notes) == ({}, ())
    share = made(schedule="linear", decay_steps_factor=0.4)
    assert share.values == {"decay_steps_factor": 0.08}  # 400 of 5000
    whole = made(schedule="linear", decay_fraction=1.0)
    assert whole.values == {"decay_fraction": 0.2}


def test_a_decay_whose_length_cannot_be_told_is_stretched_and_says_so() -> None:
    kept = made(schedule="linear")
    assert kept.values == {}
    facts = {"name": "schedule", "value": "linear", "new": 5000}
    assert kept.rule == Message("schedule.whole_stretched", facts)
    assert [note.code for note in kept.notes] == ["schedule.no_decay_steps"]


def test_a_cosine_is_stretched_and_a_constant_stays() -> None:
    for schedule, known in (("cosine", Cosine()), ("constant", Constant())):
        assert made(schedule=schedule).rule == stretch(known, 1000, 5000).rule
    warm = stretch(Warmup(100, Cosine()), 1000, 5000).rule
    assert made(schedule="Cosine", warmup_steps=100).rule == warm


def test_rsqrt_is_refused_or_replaced() -> None:
    with pytest.raises(DesignError, match=r"would spend \d+% of the 99000 extra steps") as refused:
        made(new=100_000, schedule="rsqrt")
    assert "Let the program take decay_steps" in str(refused.value)
    other = made(schedule="rsqrt", timescale=100, decay_steps=0, end_factor=0.0)
    assert other.values["schedule"] == "linear"
    assert other.values["decay_steps"] == 900
    assert other.values["end_factor"] == pytest.approx(0.316, abs=0.001)
    assert other.dropped == ("timescale",)
    assert [note.code for note in other.notes] == ["schedule.new_family"]


def test_what_is_not_known_is_kept_with_a_note() -> None:
    assert made().rule == Message("schedule.not_named")
    assert made().notes == (Message("schedule.check_own", {"extra": 4000}),)
    odd = made(schedule="warmdown_twice")
    assert (odd.rule.code, odd.notes[0].code) == ("schedule.kept", "schedule.unknown")
    assert "'warmdown_twice'" in odd.rule.text
    assert made(schedule=3).values == {}
