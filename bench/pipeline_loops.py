"""The training loops that bench/pipeline.py compares: by hand, ours, Accelerate and Lightning."""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import torch
from pipeline_models import Workload
from pipeline_turns import Paced
from torch import nn

from tunewright.design.schedule import Cosine
from tunewright.pipeline import AdamW, FitConfig, fit

RATE = 1e-4
LIGHTNING = next(
    (name for name in ("lightning", "pytorch_lightning") if importlib.util.find_spec(name)), ""
)


def fresh(work: Workload, device: torch.device) -> nn.Module:
    torch.manual_seed(0)
    return work.model().to(device)


def bare(work: Workload, device: torch.device, pace: Paced, norm: bool = True) -> None:
    """The loop one would write by hand: nothing but training, and a loss printed now and then."""
    model, total = fresh(work, device), pace.total
    cuda = device.type == "cuda"
    optimizer = torch.optim.AdamW(model.parameters(), RATE, fused=True if cuda else None)
    half = torch.autocast(device.type, torch.bfloat16) if work.precision == "bf16" else None
    size, position = len(work.data[0]), 0
    order = torch.randperm(size).to(device)
    for step in pace.steps(total):
        rate = RATE * 0.5 * (1 + math.cos(math.pi * (step - 1) / total))
        for group in optimizer.param_groups:
            group["lr"] = rate
        if position + work.batch_size > size:
            order, position = torch.randperm(size).to(device), 0
        ids = order[position : position + work.batch_size]
        position += work.batch_size
        batch = tuple(part[ids] for part in work.data)
        optimizer.zero_grad(set_to_none=True)
        with half or nullcontext():
            loss = work.loss(model, batch)
        loss.backward()
        if norm:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 100 == 0:
            loss.item()


def ours(work: Workload, device: torch.device, pace: Any, steps: int, **changes: Any) -> Any:
    config = FitConfig(
        max_train_steps=steps,
        batch_size=work.batch_size,
        base_learning_rate=RATE,
        optimizer=AdamW(),
        schedule=Cosine(),
        clip_norm=1.0,
        precision=work.precision,
        **changes,
    )
    return fit(fresh(work, device), work.loss, work.data, config, run=pace)


def with_accelerate(work: Workload, device: torch.device, pace: Paced) -> None:
    from accelerate import Accelerator
    from accelerate.state import AcceleratorState

    AcceleratorState._reset_state(reset_partial_state=True)  # one model's precision at a time
    accelerator = Accelerator(mixed_precision="bf16" if work.precision == "bf16" else "no")
    model = fresh(work, device)
    optimizer = torch.optim.AdamW(model.parameters(), RATE, fused=device.type == "cuda" or None)
    model, optimizer = accelerator.prepare(model, optimizer)
    size = len(work.data[0])
    for _ in pace.steps(pace.total):
        ids = torch.randint(size, (work.batch_size,), device=device)
        optimizer.zero_grad(set_to_none=True)
        with accelerator.autocast():
            loss = work.loss(model, tuple(part[ids] for part in work.data))
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def with_lightning(work: Workload, device: torch.device, pace: Paced) -> None:
    lightning = importlib.import_module(LIGHTNING)

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.inner = fresh(work, device)

        def training_step(self, batch: Any, index: int) -> torch.Tensor:
            return work.loss(self.inner, batch)

        def configure_optimizers(self) -> Any:
            # Lightning refuses to clip under mixed precision when the optimizer is fused.
            fused = device.type == "cuda" and work.precision != "bf16"
            return torch.optim.AdamW(self.inner.parameters(), RATE, fused=fused or None)

    class Feed(torch.utils.data.IterableDataset):
        def __iter__(self) -> Iterator[Any]:
            size = len(work.data[0])
            for _ in pace.steps(pace.total):
                ids = torch.randint(size, (work.batch_size,), device=device)
                yield tuple(part[ids] for part in work.data)

    trainer = lightning.Trainer(
        max_steps=pace.total,
        accelerator="gpu" if device.type == "cuda" else "cpu",
        devices=1,
        precision="bf16-mixed" if work.precision == "bf16" else "32-true",
        gradient_clip_val=1.0,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Module(), torch.utils.data.DataLoader(Feed(), batch_size=None))
