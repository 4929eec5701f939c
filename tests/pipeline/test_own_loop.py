"""`captured_step`: loops that are not `fit`, alone, in a pack's stand-in, and resumed."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest
import torch
from tests.execution import packed_programs as programs
from tests.execution.packed_rounds import interrupted, lived, resumed

from tunewright.errors import PipelineError
from tunewright.execution.executors.executor import Noted
from tunewright.execution.executors.local import Local
from tunewright.execution.executors.packed import Packed
from tunewright.pipeline import captured_step
from tunewright.pipeline.alone import Alone
from tunewright.pipeline.stretch import OwnProcess


class CpuLane(OwnProcess):
    """The stand-in of a pack with nobody else in it."""

    on_cpu = True

    def __init__(self) -> None:
        self.stretches: list[int] = []

    def refuse(self, reason: str) -> None:
        raise AssertionError(reason)

    def replay(self, *parts, then=None) -> None:
        self.stretches += [count for _, count in parts]
        super().replay(*parts, then=then)

    def release(self):
        return nullcontext()


def trained(lane: CpuLane | None, log_every: int = 7) -> tuple[dict, torch.Tensor, list[int]]:
    torch.manual_seed(0)
    net = torch.nn.Linear(4, 1)
    x = torch.randn(64, 4)
    ids, rates = torch.randint(64, (600, 8)), torch.linspace(0.1, 0.01, 600)
    optimizer = torch.optim.SGD(net.parameters(), lr=torch.tensor(0.1))
    run = Alone(seed=1)
    run.lane = lane  # type: ignore[attr-defined]

    def update(batch: torch.Tensor, rate: torch.Tensor) -> list[torch.Tensor]:
        optimizer.param_groups[0]["lr"].copy_(rate)
        loss = (net(x[batch]) - x[batch].sum(1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return [loss, net.weight.norm() + 0.0 * torch.rand(())]

    def rows(first: int, count: int) -> tuple[torch.Tensor, ...]:
        part = slice(first - 1, first - 1 + count)
        return ids[part], rates[part]

    due = list(
        captured_step(
            update,
            rows,
            run=run,
            max_train_steps=600,
            metrics=("train_loss", "norm"),
            optimizer=optimizer,
            log_every=log_every,
        )
    )
    return dict(run.curves), net.weight.detach().clone(), due


def test_replays_train_and_log_as_single_updates_do() -> None:
    lane = CpuLane()
    alone, packed = trained(None), trained(lane)
    assert alone[0] == packed[0] and torch.equal(alone[1], packed[1])
    assert alone[2] == packed[2] and packed[2][-1] == 600
    assert len(packed[0]["norm"]) == 600 and max(lane.stretches) > 1
    assert sum(lane.stretches) == 597  # three warm it up


def test_what_is_measured_does_not_depend_on_the_reading() -> None:
    assert trained(CpuLane(), 7)[0] == trained(CpuLane(), 50)[0]


@pytest.mark.parametrize(
    "update, rows, metrics, code",
    [
        (lambda row: row.sum(), lambda first, count: (), ("loss",), "captured_step.bad_rows"),
        (
            lambda row: row.sum(),
            lambda first, count: (torch.ones(3, 2),),
            ("loss",),
            "captured_step.bad_rows",
        ),
        (
            lambda row: row.sum(),
            lambda first, count: (torch.ones(count, 2),),
            ("a", "a"),
            "captured_step.bad_metrics",
        ),
        (
            lambda row: row.sum(),
            lambda first, count: (torch.ones(count, 2),),
            ("a", "b"),
            "captured_step.count",
        ),
    ],
)
def test_bad_arguments_are_refused(update, rows, metrics, code) -> None:
    with pytest.raises(PipelineError) as caught:
        list(captured_step(update, rows, run=Alone(), max_train_steps=5, metrics=metrics))
    assert caught.value.code == code


def test_a_loop_of_its_own_trains_in_a_pack_as_alone(tmp_path: Path) -> None:
    settings = [{"learning_rate": rate} for rate in (0.01, 0.03, 0.1)]
    pack = Packed(trials=3, device="cpu")
    together = lived(pack, programs.own_loop, tmp_path / "packed", settings)
    one_by_one = lived(
        Local(workers=1, devices=[]), programs.own_loop, tmp_path / "alone", settings
    )
    assert [t.outcome for t in together] == ["completed"] * 3
    assert [e for t in together for e in t.events if isinstance(e, Noted)] == []
    assert [t.curves for t in together] == [t.curves for t in one_by_one]


def test_it_resumes_in_the_other_kind_of_process(tmp_path: Path) -> None:
    configuration = {"steps": 20_000}
    pack = Packed(trials=2, device="cpu")
    saved = interrupted(pack, programs.own_loop, tmp_path / "a", configuration)
    assert 0 < saved < 20_000
    alone = Local(workers=1, devices=[])
    later = resumed(alone, programs.own_loop, tmp_path / "a", configuration)
    (whole,) = lived(alone, programs.own_loop, tmp_path / "b", [configuration])
    assert later["valid_error"][1][-1] == whole.curves["valid_error"][1][-1]
    assert later["train_loss"][1][-50:] == whole.curves["train_loss"][1][-50:]
