"""What holds a step up, in worlds where it is known, and silence where nothing does."""

from __future__ import annotations

import pytest

from tunewright.probes.throughput.knee import Rate, Seen, judge


def rate(size: int, examples_per_s: float) -> Rate:
    return Rate(size, examples_per_s, 0.99 * examples_per_s, 1.01 * examples_per_s)


def seen(size: int, real: float, cached: float | None = None, busy: float | None = None) -> Seen:
    return Seen(rate(size, real), None if cached is None else rate(size, cached), busy, 0.0)


@pytest.mark.parametrize(
    "world, kind",
    [
        ([seen(8, 100, busy=0.3), seen(16, 190, busy=0.7), seen(32, 195, busy=0.99)], "none"),
        ([seen(8, 100), seen(16, 190), seen(32, 195)], "none"),
        ([seen(8, 100, 102), seen(16, 190, 195), seen(32, 195, 200)], "none"),
        ([seen(8, 100, 200), seen(16, 110, 390), seen(32, 111, 700)], "input"),
        ([seen(8, 100, 103), seen(16, 190, 250), seen(32, 195, 400)], "input"),
        ([seen(8, 100, busy=0.2), seen(16, 130, busy=0.3), seen(32, 135, busy=0.4)], "launch"),
    ],
)
def test_verdicts(world: list[Seen], kind: str) -> None:
    found = judge(world, knee=16)
    assert found.kind == kind
    assert (found.message is not None) == (kind != "none")


def test_communication_is_seen_over_one_process() -> None:
    world = [seen(8, 100), seen(16, 190), seen(32, 195)]
    found = judge(world, 16, processes=4, efficiency=0.5)
    assert found.kind == "communication"
    assert found.message.facts == {"processes": 4, "times": 2.0, "efficiency": 0.5}
    assert judge(world, 16, processes=4, efficiency=0.95).kind == "none"


def test_hidden_waits_are_named() -> None:
    waiting = Seen(rate(8, 100), None, 0.2, 3.0)
    assert judge([waiting], 8).message.facts["host_waits"] == 3
    assert "waits for it 3 times" in judge([waiting], 8).message.text
    assert "cannot launch" in judge([Seen(rate(8, 100), None, 0.2, 0.0)], 8).message.text
