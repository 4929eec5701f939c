from __future__ import annotations

from typing import Any

import pytest

from tunewright.advice.lengthened import lengthened
from tunewright.design.names import Meaning
from tunewright.errors import DesignError


def made(new: int = 5000, **configuration: Any) -> Any:
    return lengthened(configuration, Meaning(), 1000, new)


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
    assert kept.rule == "schedule = 'linear' stretched to 5000 steps"
    assert "takes no decay_steps" in kept.notes[0]


def test_a_cosine_is_stretched_and_a_constant_stays() -> None:
    assert made(schedule="cosine").rule == "the same base rate, the cosine stretched to 5000 steps"
    assert made(schedule="constant").rule == "the rate stays constant"
    assert made(schedule="Cosine", warmup_steps=100).rule.startswith("warm-up stays 100 steps; ")


def test_rsqrt_is_refused_or_replaced() -> None:
    with pytest.raises(DesignError, match=r"would spend \d+% of the 99000 extra steps") as refused:
        made(new=100_000, schedule="rsqrt")
    assert "Let the program take decay_steps" in str(refused.value)
    other = made(schedule="rsqrt", timescale=100, decay_steps=0, end_factor=0.0)
    assert other.values["schedule"] == "linear"
    assert other.values["decay_steps"] == 900
    assert other.values["end_factor"] == pytest.approx(0.316, abs=0.001)
    assert other.dropped == ("timescale",)
    assert "tune it again" in other.notes[0]


def test_what_is_not_known_is_kept_with_a_note() -> None:
    assert "no schedule is among the hyperparameters" in made().rule
    assert "nothing is known of this schedule" in made(schedule="warmdown_twice").notes[0]
    assert made(schedule=3).values == {}
