"""What holds a step up, in worlds where it is known, and silence where nothing does."""

from __future__ import annotations

import pytest

from tunewright.probes.throughput.size_answer import judge
from tunewright.probes.throughput.size_sweep import SizeRow
from tunewright.probes.throughput.timing import Timing


def timing(size: int, examples_per_s: float) -> Timing:
    """Windows whose throughput has an interval of one percent to either side."""
    step_s = size / examples_per_s
    return Timing(1, (step_s / 1.01, *[step_s] * 4, step_s / 0.99), True)


def seen(
    size: int,
    real: float,
    cached: float | None = None,
    busy: float | None = None,
    host_waits: float = 0.0,
) -> SizeRow:
    without_input = None if cached is None else timing(size, cached)
    return SizeRow(size, timing(size, real), None, None, None, without_input, busy, host_waits)


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
def test_verdicts(world: list[SizeRow], kind: str) -> None:
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
    waiting = seen(8, 100, busy=0.2, host_waits=3.0)
    assert judge([waiting], 8).message.facts["host_waits"] == 3
    assert "waits for it 3 times" in judge([waiting], 8).message.text
    assert "cannot launch" in judge([seen(8, 100, busy=0.2)], 8).message.text
