"""What bench/pipeline.py checks before it times: captured equals eager, and waits for nothing."""

from __future__ import annotations

import dataclasses
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import torch
from pipeline_loops import ours
from pipeline_models import Workload
from torch import nn

from tunewright.pipeline import hosts


def correctness(device: torch.device, made: list[Workload]) -> tuple[list[str], bool]:
    """Captured against eager, a captured step that never waits, and steps that cannot be."""
    lines, good = [], True
    checks: list[tuple[str, Callable[[], str]]] = [
        *((work.name, lambda w=work: _captured_equals_eager(w, device)) for work in made),
        ("no step waits for the device", lambda: _no_waiting(made[0], device)),
        ("a step that reads its loss", lambda: _falls_back(made[0], device, _reading)),
        ("a step that cannot be captured", lambda: _falls_back(made[0], device, _waiting)),
        ("after these", lambda: _captured_equals_eager(made[0], device)),
    ]
    for name, check in checks:
        try:
            lines.append(f"- {name}: {check()}: ok")
        except Exception as error:
            good = False
            lines.append(f"- {name}: WRONG: {type(error).__name__}: {error}")
            traceback.print_exc()
    return lines, good


def _captured_equals_eager(work: Workload, device: torch.device) -> str:
    eager = ours(work, device, None, 60)
    captured = ours(work, device, None, 60, capture=True)
    assert captured.captured, captured.notes
    pairs = zip(eager.curves["train_loss"], captured.curves["train_loss"], strict=True)
    worst = max(abs(a - b) / abs(a) for (_, a), (_, b) in pairs)
    limit = 1e-3 if work.precision == "tf32" else 2e-2
    assert worst < limit, f"losses differ by {worst:.1e}, more than {limit:g}"
    return f"losses of 60 captured steps differ from eager ones by at most {worst:.1e}"


class Strict:
    """A trial's handle under which waiting for the device is an error, from step 20 to the last."""

    def __init__(self) -> None:
        self.folder, self.restored, self.start_step = None, None, 0
        self.seeds = hosts.seeds(0)

    def steps(self, total: int) -> Iterator[int]:
        try:
            for step in range(1, total + 1):
                strict = 20 <= step < total  # at the last one the numbers are read
                torch.cuda.set_sync_debug_mode("error" if strict else "default")
                yield step
        finally:
            torch.cuda.set_sync_debug_mode("default")

    def log(self, step: int, metrics: dict[str, float]) -> None:
        pass

    def eval_due(self, step: int) -> bool:
        return False

    def save_due(self, step: int) -> bool:
        return False


def _no_waiting(work: Workload, device: torch.device) -> str:
    ours(work, device, Strict(), 90)
    captured = ours(work, device, Strict(), 90, capture=True)
    assert captured.captured, captured.notes
    return "70 eager and 70 captured steps ran with waiting forbidden"


def _falls_back(work: Workload, device: torch.device, change: Any) -> str:
    fallen = ours(_with_loss(work, change(work)), device, None, 60, capture=True)
    assert not fallen.captured and len(fallen.curves["train_loss"]) == 60
    return fallen.notes[0]


def _reading(work: Workload) -> Any:
    def reads(model: nn.Module, batch: Any) -> torch.Tensor:
        loss = work.loss(model, batch)
        return loss if loss.item() > 0 else -loss

    return reads


def _waiting(work: Workload) -> Any:
    def waits(model: nn.Module, batch: Any) -> torch.Tensor:
        torch.cuda.synchronize()
        return work.loss(model, batch)

    return waits


def _with_loss(work: Workload, loss: Any) -> Workload:
    return dataclasses.replace(work, loss=loss)
