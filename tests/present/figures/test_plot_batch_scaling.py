"""The figure of the critical-batch probe says what the studies found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tunewright.present.figures.probe_plots import batch_scaling
from tunewright.probes.critical_batch import CriticalBatch, SizePoint


def point(size: int, steps: float | None, high: float | None, problems=()) -> SizePoint:
    return SizePoint(size, steps, steps, high, 5, 20, 18, 1.0, {}, problems, (), "round")


FOUND = CriticalBatch(
    verdict="inside",
    message="",
    settings={},
    metric="valid_error",
    goal=0.05,
    critical_batch_size=60.0,
    low=40.0,
    high=None,
    smallest_steps=100.0,
    sizes=(point(16, 500.0, 600.0), point(64, 210.0, None), point(256, 120.0, 150.0, ("no",))),
)


def test_each_size_stands_with_its_luck_and_whether_it_counts():
    data = batch_scaling(FOUND).data
    assert [(p.batch_size, p.steps, p.high, p.valid) for p in data.points] == [
        (16, 500.0, 600.0, True),
        (64, 210.0, None, True),
        (256, 120.0, 150.0, False),
    ]
    assert "critical batch size about 60" in batch_scaling(FOUND).says


@pytest.mark.parametrize(
    "answer",
    [
        FOUND,
        replace(FOUND, critical_batch_size=None),
        replace(FOUND, low=None, high=4e4),
        replace(FOUND, sizes=(point(16, None, None),)),
        CriticalBatch(verdict="unknown", message="", settings={}),
    ],
)
def test_it_is_drawn_whatever_was_found(answer, tmp_path):
    assert batch_scaling(answer).save(tmp_path / "scaling.svg").stat().st_size > 1000
