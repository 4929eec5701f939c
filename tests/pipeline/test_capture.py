"""Captured steps equal eager ones, and what cannot be captured goes on and says why.

Most of this needs a CUDA device and is skipped elsewhere.
"""

from __future__ import annotations

import pytest
import torch
from torch import nn

from tunewright.design.schedule import Cosine
from tunewright.pipeline import SGD, AdamW, FitConfig, NAdamW, Nesterov, fit, hosts
from tunewright.pipeline.batches import Batch
from tunewright.pipeline.capture import _alike, _copied, obstacle
from tunewright.pipeline.hosts import Host

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
CPU, CUDA = torch.device("cpu"), torch.device("cuda", 0)


def loss(model: nn.Module, batch) -> torch.Tensor:
    return nn.functional.cross_entropy(model(batch[0]), batch[1])


def model(dropout: float = 0.0) -> nn.Module:
    torch.manual_seed(0)
    made = nn.Sequential(
        nn.Linear(6, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(dropout), nn.Linear(32, 2)
    )
    return made.cuda()


def data() -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.randn(100, 6, generator=torch.Generator().manual_seed(1))
    return x.cuda(), (x[:, 0] > 0).long().cuda()


def config(**changes) -> FitConfig:
    settings = {
        "max_train_steps": 40,
        "batch_size": 16,
        "base_learning_rate": 0.01,
        "schedule": Cosine(),
        "clip_norm": 0.5,
        "log_every": 7,
    }
    return FitConfig(**{**settings, **changes})


@needs_cuda
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"optimizer": Nesterov()},
        {"optimizer": SGD()},
        {"optimizer": NAdamW()},
        {"optimizer": AdamW(form="playbook")},
        {"accumulate": 2, "average_decay": 0.9},
        {"precision": "bf16"},
        {"precision": "fp16"},
    ],
    ids=lambda changes: "-".join(map(str, changes)) or "plain",
)
def test_captured_equals_eager(changes: dict) -> None:
    eager = fit(model(), loss, data(), config(**changes))
    captured = fit(model(), loss, data(), config(capture=True, **changes))
    assert captured.captured and not captured.notes[len(eager.notes) :]
    tolerance = 1e-5 if changes.get("precision", "fp32") == "fp32" else 1e-2
    for name in ("train_loss", "gradient_norm"):
        for (_, a), (_, b) in zip(eager.curves[name], captured.curves[name], strict=True):
            assert a == pytest.approx(b, rel=tolerance, abs=tolerance)


@needs_cuda
@pytest.mark.parametrize("where", ["host tensors", "dataset"])
def test_captured_from_the_hosts_memory(where: str) -> None:
    x, y = (part.cpu() for part in data())
    source = (x, y) if where == "host tensors" else list(zip(x, y, strict=True))
    eager = fit(model(), loss, source, config())
    captured = fit(model(), loss, source, config(capture=True))
    assert captured.captured
    for (_, a), (_, b) in zip(
        eager.curves["train_loss"], captured.curves["train_loss"], strict=True
    ):
        assert a == pytest.approx(b, rel=1e-5)


def reads(made: nn.Module, batch) -> torch.Tensor:
    value = loss(made, batch)
    return value * (1.0 if value.item() > 0 else 2.0)


def waits(made: nn.Module, batch) -> torch.Tensor:
    torch.cuda.synchronize()  # not announced beforehand: the capture itself fails
    return loss(made, batch)


@needs_cuda
@pytest.mark.parametrize("precision", ["fp32", "fp16"])
@pytest.mark.parametrize(
    "step, words", [(reads, "test_capture.py:"), (waits, "the step cannot be captured")]
)
def test_what_cannot_be_captured_goes_on_with_the_reason(step, words: str, precision: str) -> None:
    eager = fit(model(0.5), step, data(), config(precision=precision))
    asked = fit(model(0.5), step, data(), config(capture=True, precision=precision))
    assert not asked.captured and words in asked.notes[0].facts["reason"]
    # The dropout goes on as if nothing had been tried.
    for (_, a), (_, b) in zip(eager.curves["train_loss"], asked.curves["train_loss"], strict=True):
        assert a == pytest.approx(b, rel=1e-4, abs=1e-4)
    torch.cuda.empty_cache()
    again = fit(model(), loss, data(), config(capture=True))
    assert again.captured  # and the device is as good as before


class Strict:
    """A trial's handle under which waiting for the device is an error, from step 10 to the last."""

    folder, restored, start_step, seeds = None, None, 0, hosts.seeds(0)

    def steps(self, total: int):
        try:
            for step in range(1, total + 1):
                strict = 10 <= step < total  # at the last one the numbers are read
                torch.cuda.set_sync_debug_mode("error" if strict else "default")
                yield step
        finally:
            torch.cuda.set_sync_debug_mode("default")

    def log(self, step: int, metrics: dict) -> None:
        self.last = step

    def eval_due(self, step: int) -> bool:
        return False

    def save_due(self, step: int) -> bool:
        return False


@needs_cuda
@pytest.mark.parametrize("capture", [False, True])
@pytest.mark.parametrize("where", ["device", "host"])
def test_nothing_on_the_way_of_a_step_waits_for_the_device(capture: bool, where: str) -> None:
    source = data() if where == "device" else tuple(part.cpu() for part in data())
    run = Strict()
    fitted = fit(model(), loss, source, config(capture=capture, log_every=40), run=run)
    assert fitted.captured == capture and run.last == 40


@needs_cuda
def test_dropout_differs_between_replays() -> None:
    made = nn.Sequential(nn.Dropout(0.5), nn.Linear(6, 2, bias=False)).cuda()
    seen = fit(
        made,
        lambda m, batch: m(torch.ones_like(batch[0])).square().mean(),
        data(),
        config(capture=True, base_learning_rate=1e-12, optimizer=SGD()),
    )
    assert seen.captured and len({round(v, 6) for _, v in seen.curves["train_loss"]}) > 20


def test_obstacles_known_beforehand() -> None:
    weights = [nn.Parameter(torch.ones(1))]
    plain = torch.optim.SGD(weights, 0.1)
    assert "this one is cpu" in obstacle(CPU, Host(), None, plain)
    assert "2 processes" in obstacle(CUDA, Host(0, 2), None, plain)
    assert "is a number" in obstacle(CUDA, Host(), None, plain)
    scaler = torch.amp.GradScaler("cpu")
    assert "use bf16" in obstacle(CUDA, Host(), scaler, NAdamW().build(weights, 0.1))


def test_static_tensors_take_what_fits_and_refuse_the_rest() -> None:
    static = Batch(({"x": torch.zeros(2, 3)}, "name"), torch.zeros(2))
    item = Batch(({"x": torch.ones(2, 3)}, "name"), torch.full((2,), 5.0))
    assert _copied(static, item)
    assert torch.equal(static.content[0]["x"], torch.ones(2, 3)) and static.shares[0] == 5
    for other in (
        Batch(({"x": torch.ones(3, 3)}, "name"), torch.ones(2)),
        Batch(({"x": torch.ones(2, 3).double()}, "name"), torch.ones(2)),
        Batch(({"y": torch.ones(2, 3)}, "name"), torch.ones(2)),
        Batch(({"x": torch.ones(2, 3)}, "other"), torch.ones(2)),
        Batch(({"x": torch.ones(2, 3)},), torch.ones(2)),
        Batch(({"x": torch.ones(2, 3)}, "name"), None),
        torch.ones(2),
    ):
        assert not _alike(static, other, [])
