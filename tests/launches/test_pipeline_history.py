"""The history of a pipeline's trial variance: what counts, and when it expires."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from tests.launches.arms import round_results

from tunewright.launches.lineage import Group, Launched, Pipeline, Place, groups_of, history_of

DAY = datetime(2026, 1, 1, tzinfo=UTC)
PIPELINE = Pipeline("minimize valid_error (best)", {"max_train_steps": 100})
VALUES = (0.2, 0.21, 0.19, 0.2, 0.22)


def group(trial: int = 7, values=VALUES, pipeline: Pipeline = PIPELINE, day: int = 0) -> Group:
    return Group("depth", trial, values, pipeline, DAY + timedelta(days=day))


def launched(day: int, dropped: bool = False, trial: int = 99) -> Launched:
    place = Place("width", trial, {})
    decision = {"verdict": "keep", "history_sd": 0.01, "history_dropped": dropped}
    written = DAY + timedelta(days=day)
    return Launched(day, written, place, place, "keep", decision, "me@host", "", "", "")


def test_groups_are_pooled_by_their_degrees_of_freedom():
    other = (0.3, 0.32, 0.31)
    found = history_of([group(), group(6, other)], PIPELINE)
    squares = sum(np.square(np.array(v) - np.mean(v)).sum() for v in (VALUES, other))
    assert found.sd == pytest.approx(np.sqrt(squares / 6))
    assert found.weight == pytest.approx(7 * 6 / 13)
    assert (found.runs, found.groups) == (8, 2)


def test_the_pair_that_is_compared_is_left_out():
    assert history_of([group()], PIPELINE, without=[("depth", 7)]) is None
    assert history_of([group()], PIPELINE, without=[("depth", 6)]) is not None
    assert history_of([], PIPELINE) is None


@pytest.mark.parametrize(
    "other",
    [
        replace(PIPELINE, objective="minimize valid_error (last)"),
        replace(PIPELINE, settings={"max_train_steps": 200}),
        replace(PIPELINE, settings={"max_train_steps": 100, "batch_size": 64}),
        replace(PIPELINE, settings={"max_train_steps": 100, "optimizer": "adam"}),
    ],
)
def test_a_major_change_starts_a_new_history(other):
    assert history_of([group(pipeline=other)], PIPELINE) is None
    assert history_of([group(pipeline=other)], other) is not None


def test_it_expires_after_ten_launches_unless_it_was_seen_again():
    ten, eleven = ([launched(day) for day in range(1, n + 1)] for n in (10, 11))
    assert history_of([group()], PIPELINE, past=ten) is not None
    assert history_of([group()], PIPELINE, past=eleven) is None
    seen = [replace(one, candidate=Place("depth", 7, {})) for one in eleven[4:5]]
    assert history_of([group()], PIPELINE, past=[*eleven, *seen]) is not None


def test_two_contradictions_running_end_it():
    once = [launched(1), launched(2, dropped=True)]
    twice = [*once, launched(3, dropped=True)]
    assert history_of([group()], PIPELINE, past=once) is not None
    assert history_of([group()], PIPELINE, past=twice) is None
    assert history_of([group(day=4)], PIPELINE, past=twice) is not None
    settled = [*twice, launched(4)]
    assert history_of([group()], PIPELINE, past=settled) is not None


def test_only_tuned_configurations_that_vary_count():
    # trials of a study get better with their number: 7 is the best of its study, 1 the worst
    results = round_results({7: VALUES, 1: (0.5, 0.9, 0.1), 6: (0.2, 0.2, 0.2)})
    found = groups_of(results, DAY)
    assert [(own.round, own.trial) for own in found] == [("depth", 7)]
    assert found[0].pipeline.like(PIPELINE)
