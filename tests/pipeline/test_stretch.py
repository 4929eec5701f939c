"""Stretches: how long they are, what lies in their tables, and when a snapshot is due."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tests.execution.driving import OBJECTIVE, assignment
from torch import nn

from tunewright.design.names import Meaning
from tunewright.design.schedule import Cosine
from tunewright.execution.handle import Control, Handle
from tunewright.pipeline import FitConfig, fit
from tunewright.pipeline.alone import Alone
from tunewright.pipeline.stretch import (
    SAVE_EVERY_S,
    OwnProcess,
    Repeated,
    SaveTimes,
    Spans,
    Tables,
    lane_of,
    stretch_length,
)


class Calendar:
    """A run that evaluates and saves at given steps."""

    def __init__(self, evals: set[int], saves: set[int]) -> None:
        self.evals, self.saves = evals, saves

    def eval_due(self, step: int) -> bool:
        return step in self.evals

    def save_due(self, step: int) -> bool:
        return step in self.saves


@pytest.mark.parametrize(
    "first, room, evaluates, expected",
    [
        (1, 100, True, (8, False)),  # up to the evaluation
        (1, 5, True, (5, False)),  # up to a full recorder
        (1, 100, False, (12, True)),  # evaluations do not matter, the save does
        (13, 100, False, (8, False)),  # up to the last step
    ],
)
def test_a_stretch_ends_at_the_first_reading(first, room, evaluates, expected) -> None:
    run = Calendar({8, 16}, {12})
    assert stretch_length(run, first, room, 20, evaluates) == expected


def test_snapshots_are_due_by_step_and_time() -> None:
    now = [0.0]
    saving = SaveTimes(lambda: now[0])
    saving.ask(True, now=False)
    assert not saving.due  # a moment after the start
    saving.ask(True, now=True)
    assert saving.due  # the last step, or a stop request
    saving.note_written()
    now[0] = SAVE_EVERY_S
    saving.ask(False, now=False)
    assert not saving.due
    saving.ask(True, now=False)
    assert saving.due


def test_tables_hold_ids_and_rates_of_the_rows_in_use() -> None:
    layer = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(
        [{"params": [layer.weight]}, {"params": [layer.bias], "lr_scale": 0.5}], lr=1.0
    )
    place = torch.zeros(1, dtype=torch.long)
    ids = torch.arange(40).view(20, 2)
    tables = Tables(
        lambda first, count: (ids[first : first + count],),
        lambda steps: [1.0 / step for step in steps],
        optimizer,
        place,
        length=4,
        last_step=20,
    )
    tables.fill(5, 2, row=0)
    tables.fill(7, 2, row=2)
    for row, step in enumerate((5, 6, 7, 8)):
        place.fill_(row)
        tables.set_rate()
        assert tables.item()[0].tolist() == ids[step].tolist()
        assert [group["lr"] for group in optimizer.param_groups] == [1.0 / step, 0.5 / step]


class CpuLane:
    """The stand-in of a pack, with nobody else in it."""

    on_cpu = True

    def __init__(self) -> None:
        self.stretches: list[int] = []

    def enter(self) -> None:
        pass

    def admit(self) -> None:
        pass

    def refuse(self, reason: str) -> None:
        raise AssertionError(reason)

    def replay(self, *parts, then=None) -> None:
        ((graph, count),) = parts
        assert isinstance(graph, Repeated)
        self.stretches.append(count)
        OwnProcess().replay(*parts, then=then)

    def release(self):
        return nullcontext()


@pytest.mark.parametrize("weighted", [False, True])
def test_stretches_train_as_single_steps_do(weighted: bool) -> None:
    """The same data order, rates and random numbers; only the host's work differs."""
    x = torch.randn(100, 6, generator=torch.Generator().manual_seed(1))
    y, found, lane = (x[:, 0] > 0).long(), [], CpuLane()
    weights = torch.linspace(0.1, 1.0, len(x)) if weighted else None

    def loss(made: nn.Module, batch) -> torch.Tensor:
        kind = "none" if weighted else "mean"
        return nn.functional.cross_entropy(made(batch[0]), batch[1], reduction=kind)

    for own in (None, lane):
        run = Alone(seed=3)
        run.lane = own  # type: ignore[attr-defined]
        torch.manual_seed(0)
        made = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Dropout(0.3), nn.Linear(8, 2))
        terms = FitConfig(
            max_train_steps=120,
            batch_size=16,
            base_learning_rate=0.01,
            schedule=Cosine(),
            capture=True,
            log_every=7,
        )
        fit(made, loss, (x, y), terms, run=run, weights=weights)
        found.append((run.curves, made.state_dict()))
    assert max(lane.stretches) >= 14 and sum(lane.stretches) == 117  # three warm the step up
    assert found[0][0] == found[1][0]
    assert all(torch.equal(a, found[1][1][name]) for name, a in found[0][1].items())


def test_a_run_without_a_lane_has_its_process_for_itself() -> None:
    assert isinstance(lane_of(object()), OwnProcess)


def test_quick_stretches_grow_and_slow_ones_shrink_in_whole_readings() -> None:
    spans = Spans(usual=300, most=1_000)
    seen = []
    for seconds in (0.1, 0.1, 0.1, 0.5, 2.0, 2.0, 2.0):
        spans.took(seconds)
        seen.append(spans.steps)
    assert seen == [600, 900, 900, 900, 300, 300, 300]


@pytest.mark.parametrize("evaluates, lengths", [(True, [20, 10, 10]), (False, [30, 30, 30])])
def test_the_times_of_a_trial_are_found_without_asking_for_every_step(
    evaluates: bool, lengths: list[int], tmp_path: Path
) -> None:
    """300 steps: a save is due every 30; evaluations every 20, as the assignment has it."""
    own = replace(assignment(tmp_path, {"max_train_steps": 300}), eval_every=20)
    run = Handle(own, OBJECTIVE, Meaning({}), lambda event: None)
    found, first = [], 1
    for _ in range(3):
        count, saves = stretch_length(run, first, 300, 300, evaluates)
        last = first + count - 1
        assert saves == (last % 30 == 0)
        found.append(count)
        first += count
    assert found == lengths
    Control(run).ask_stop()
    assert stretch_length(run, first, 300, 300, evaluates) == (1, True)
