"""What `fit` is asked to do: the frozen settings of one training, checked before any compute."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from tunewright.design.schedule import Constant, Schedule
from tunewright.errors import PipelineError
from tunewright.messages import Message
from tunewright.pipeline.hosts import Host
from tunewright.pipeline.optimizer import AdamW, Optimizer

Precision = Literal["fp32", "tf32", "bf16", "fp16"]
_HALVES = {"bf16": torch.bfloat16, "fp16": torch.float16}
# (model, batch) -> the mean loss, or one loss per example, which fit averages by their weights
Loss = Callable[[nn.Module, Any], Tensor]


@dataclass(frozen=True, kw_only=True)
class FitConfig:
    """How to train; the names are the playbook's."""

    max_train_steps: int  # updates; a prepended warm-up comes on top
    batch_size: int  # examples per update, of all processes together
    base_learning_rate: float  # the schedule's factor is 1 here
    optimizer: Optimizer = field(default_factory=AdamW)  # or a function of the model
    schedule: Schedule = field(default_factory=Constant)  # simple first; a decay once it is tuned
    clip_norm: float | None = None  # the gradient's norm is at most this; None: not clipped
    precision: Precision = "fp32"  # of the arithmetic; weights are kept in fp32
    accumulate: int = 1  # parts a batch is cut into; saves memory, never time
    average_decay: float | None = None  # Polyak averaging of the weights, e.g. 0.999; evaluated
    compile: bool = False  # torch.compile of the loss function with the model in it
    capture: bool = False  # the whole step as one CUDA graph, where that is possible
    workers: int = 0  # processes that load a map-style dataset ahead
    prefetch: int | None = None  # batches made ahead; None: where it changes nothing; 0: none
    log_every: int = 100  # steps between two readings of what the device measured

    def __post_init__(self) -> None:
        """Refuse what cannot be trained, every problem at once."""
        problems = [
            f"{name}={value!r} must be a whole number from {least}"
            for name, least in (
                ("max_train_steps", 1),
                ("batch_size", 1),
                ("accumulate", 1),
                ("workers", 0),
                ("log_every", 1),
            )
            if type(value := getattr(self, name)) is not int or value < least
        ]
        if self.prefetch is not None and (type(self.prefetch) is not int or self.prefetch < 0):
            problems.append(f"prefetch={self.prefetch!r} must be a whole number from 0, or None")
        if not _positive(self.base_learning_rate):
            problems.append(f"base_learning_rate={self.base_learning_rate!r} must be above 0")
        if self.clip_norm is not None and not _positive(self.clip_norm):
            problems.append(f"clip_norm={self.clip_norm!r} must be above 0, or None to not clip")
        if self.average_decay is not None and not 0 <= self.average_decay < 1:
            problems.append(f"average_decay={self.average_decay!r} must lie in 0 <= decay < 1")
        if not (callable(self.optimizer) or hasattr(self.optimizer, "build")):
            problems.append(
                f"optimizer={self.optimizer!r} is neither one of pipeline.optimizer nor a function "
                'of the model; by name: optimizer.named("adamw")'
            )
        if not hasattr(self.schedule, "learning_rate"):
            problems.append(
                f"schedule={self.schedule!r} is none of design.schedule; by name: "
                'schedule.from_json("cosine")'
            )
        if problems:
            raise PipelineError("fit.bad_configuration", problems="; ".join(problems))

    def check(self, device: torch.device, host: Host) -> None:
        """Refuse what this device and this number of processes cannot do."""
        check_precision(self.precision, device)
        parts = host.world * self.accumulate
        if self.batch_size % parts:
            raise PipelineError(
                "fit.batch_not_divisible",
                batch_size=self.batch_size,
                world=host.world,
                accumulate=self.accumulate,
                parts=parts,
            )

    def learning_rate(self, step: int) -> float:
        """The learning rate of update `step`."""
        return self.schedule.learning_rate(step, self.base_learning_rate, self.max_train_steps)

    def learning_rates(self, steps: range) -> list[float]:
        """The learning rates of these updates, as `learning_rate` gives each."""
        schedule: Any = self.schedule
        total = self.max_train_steps
        if getattr(type(schedule), "learning_rate", None) is not Constant.learning_rate:
            return [self.learning_rate(step) for step in steps]  # a user's own kind of schedule
        try:
            factors = _factors(schedule, total, steps)
        except TypeError:  # a schedule with a list in it has no hash
            factors = [schedule.factor(step, total) for step in steps]
        return [self.base_learning_rate * factor for factor in factors]

    @property
    def notes(self) -> tuple[Message, ...]:
        """What a reader of the results should know about these settings."""
        if self.accumulate == 1:
            return ()
        return (Message("fit.note.accumulation", {"accumulate": self.accumulate}),)


@lru_cache(maxsize=8)
def _factors(schedule: Schedule, max_train_steps: int, steps: range) -> list[float]:
    """The schedule's factors, made once for all trials of a process that share a schedule."""
    return [schedule.factor(step, max_train_steps) for step in steps]


def _positive(value: object) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and value > 0
    )


# ---- in which numbers is trained
#
#     fp32    float32 throughout
#     tf32    float32, whose matrix products round their inputs to 10 bits (Ampere and later)
#     bf16    autocast to bfloat16; weights and optimizer state stay float32
#     fp16    autocast to float16, the loss scaled so that small gradients survive


def check_precision(precision: str, device: torch.device) -> None:
    """Refuse a precision that the device has not."""
    if precision not in get_args(Precision):
        raise PipelineError(
            "precision.unknown", precision=precision, known=", ".join(get_args(Precision))
        )
    if precision == "bf16" and device.type == "cuda" and not torch.cuda.is_bf16_supported():
        raise PipelineError("precision.no_bf16", device=torch.cuda.get_device_name(device))


def autocast(
    precision: Precision, device: torch.device, *, cache: bool = True
) -> AbstractContextManager[object]:
    """The forward pass runs inside it. `cache=False` for a captured step: weights cast inside the
    graph must be cast at every replay."""
    if precision not in _HALVES:
        return nullcontext()
    return torch.autocast(device.type, dtype=_HALVES[precision], cache_enabled=cache)


def loss_scaler(precision: Precision, device: torch.device) -> torch.amp.GradScaler | None:
    """The scaler that fp16 needs."""
    return torch.amp.GradScaler(device.type) if precision == "fp16" else None


@contextmanager
def matrix_products(precision: Precision) -> Iterator[None]:
    """Set how float32 matrix products and convolutions round on CUDA, and put it back after."""
    before = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    try:
        torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
        torch.backends.cudnn.allow_tf32 = precision == "tf32"
        yield
    finally:
        torch.set_float32_matmul_precision(before[0])
        torch.backends.cudnn.allow_tf32 = before[1]
