"""The gradient's norm, clipping by it, and a record of it that never makes the step wait.

Log the unclipped norm at every step (playbook, "Gradient clipping"): outliers explain
instability, and their 90th percentile is where a clip threshold starts. Reading a number from the
device every step would cost more than computing it, so the numbers stay there until log time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from tunewright.errors import PipelineError

_HALF = (torch.float16, torch.bfloat16)


def gradients(parameters: Iterable[nn.Parameter]) -> list[Tensor]:
    """The gradients that there are."""
    return [p.grad for p in parameters if p.grad is not None]


def global_norm(tensors: Sequence[Tensor]) -> Tensor:
    """The Euclidean norm of all tensors together, on their device; 0 without tensors.

    One pass over all of them, in float32 at least. A loop of one norm per tensor launches a
    kernel for each of them.

    >>> global_norm([torch.tensor([3.0]), torch.tensor([[4.0]])])
    tensor(5.)
    """
    if not tensors:
        return torch.zeros(())
    precision = torch.float32 if tensors[0].dtype in _HALF else None
    norms = torch._foreach_norm(list(tensors), 2.0, dtype=precision)
    norm: Tensor = torch.linalg.vector_norm(torch.stack(norms))
    return norm


def clip_by_norm_(tensors: Sequence[Tensor], norm: Tensor, limit: float | Tensor) -> None:
    """Scale the tensors in place so that their norm, given as `norm`, is at most `limit`.

    The decision is made on the device: nothing is read back.
    """
    if not tensors:
        return
    # As torch computes it, bit for bit; 1e-6 keeps the result below the limit and 0 / 0 away.
    share = torch.clamp((norm + 1e-6).reciprocal() * limit, max=1.0)
    torch._foreach_mul_(list(tensors), share.to(tensors[0].dtype))


@dataclass(frozen=True)
class Reading:
    """One measurement of one step, read from the device."""

    step: int
    values: dict[str, float]


class Recorder:
    """The last measurements of each step, on the device until they are read.

    >>> recorder = Recorder(("train_loss", "gradient_norm"), length=2, device="cpu")
    >>> recorder.put(1, (torch.tensor(0.5), torch.tensor(2.0)))
    >>> recorder.read()
    [Reading(step=1, values={'train_loss': 0.5, 'gradient_norm': 2.0})]
    """

    def __init__(
        self, names: Sequence[str], length: int, device: torch.device | str, most: int = 0
    ) -> None:
        """Read it every `length` steps; it has room for `most` where a stretch is longer."""
        if length < 1:
            raise PipelineError("gradient.no_room", length=length)
        self.names = tuple(names)
        self.length = length
        self._rows = torch.zeros(max(length, most), len(self.names), device=device)
        self._place = torch.zeros(1, dtype=torch.long, device=device)
        self._steps: list[int] = []
        self._fetched: list[list[float]] | None = None  # columns, on the host already
        self._kept: list[Tensor] = []  # what `put` was given; stacking it waits until it is read

    @property
    def place(self) -> Tensor:
        """The row of the next step, counted on the device by `write`."""
        return self._place

    @property
    def row(self) -> int:
        """The row of the next step, as the host counts."""
        return len(self._steps)

    @property
    def full(self) -> bool:
        """Whether it is to be read before the next `put`."""
        return len(self._steps) >= self.length

    def full_after(self, count: int) -> bool:
        """Whether it is to be read after so many more steps."""
        return len(self._steps) + count >= self.length

    def put(self, step: int, values: Sequence[Tensor]) -> None:
        """Keep the measurements of a step, in the order of the names; nothing is launched."""
        self.count(step)
        self._kept += values

    def write(self, values: Sequence[Tensor]) -> None:
        """The device's part of `put`, for a captured step: the place is counted on the device."""
        self._rows.index_copy_(0, self._place, torch.stack(tuple(values)).float()[None])
        self._place += 1

    def count(self, step: int) -> None:
        """The host's part of `put`."""
        if self.full:
            raise PipelineError("gradient.not_read", count=len(self._steps), step=step)
        self._steps.append(step)

    def count_all(self, steps: range) -> None:
        """The host's part of a whole stretch."""
        if len(self._steps) + len(steps) > len(self._rows):
            raise PipelineError("gradient.not_read", count=len(self._steps), step=steps[0])
        self._steps += steps

    def fetch(self) -> None:
        """Wait for the device and copy the measurements; the next reading waits for nothing."""
        self._fetched = self.rows().T.tolist()

    @property
    def fetched(self) -> bool:
        """Whether the next reading has its numbers."""
        return self._fetched is not None

    def rows(self) -> Tensor:
        """The rows not read yet, on the device: (steps, names)."""
        if self._kept:
            return torch.stack(self._kept).float().view(len(self._steps), len(self.names))
        return self._rows[: len(self._steps)]

    def read(self, rows: Tensor | None = None) -> list[Reading]:
        """Every measurement since the last reading; this waits for the device, once.

        `rows` stands in for its own rows, when they were averaged over ranks first.
        """
        steps, columns = self.read_columns(rows)
        each = zip(*columns.values(), strict=True)
        return [
            Reading(step, dict(zip(self.names, row, strict=True)))
            for step, row in zip(steps, each, strict=True)
        ]

    def read_columns(self, rows: Tensor | None = None) -> tuple[list[int], dict[str, list[float]]]:
        """The same as the steps and, for each name, the values at them."""
        numbers = self._fetched
        if numbers is None:
            numbers = (self.rows() if rows is None else rows).T.tolist()
        steps, self._steps, self._fetched = self._steps, [], None
        self._kept.clear()
        self._place.zero_()
        return steps, dict(zip(self.names, numbers, strict=True))


def clipped_share(norms: Sequence[float], limit: float) -> float:
    """The share of steps that clipping at `limit` changed.

    Above 0.5 clipping is a disguised lower learning rate (playbook): lower that instead.

    >>> clipped_share([0.5, 1.5, 2.0, 0.9], limit=1.0)
    0.5
    """
    return sum(norm > limit for norm in norms) / len(norms) if norms else 0.0
