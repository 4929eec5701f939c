"""How much memory does a batch size take? A straight line through a few small ones.

Weights, gradients and optimizer state take the same at every batch size; activations grow with it.
So small batches, which cannot run out of memory, predict where the limit will be reached, and one
real step there confirms it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

STRAIGHT = 0.05  # misfit, of the growth, up to which a line is believed
FLAT = 0.002  # growth over the whole ladder, of its peak, below which memory does not depend on it


@dataclass(frozen=True)
class MemoryPoint:
    """What one batch size took."""

    batch_size: int
    peak_mb: float


@dataclass(frozen=True)
class MemoryModel:
    """Peak memory as a line in the batch size."""

    fixed_mb: float
    mb_per_example: float
    misfit: float  # the largest distance of a point from the line, of the growth

    @property
    def straight(self) -> bool:
        """Whether predictions from it may be tried."""
        return self.misfit <= STRAIGHT and self.mb_per_example > 0

    def peak_mb(self, batch_size: int) -> float:
        """What a batch size will take."""
        return self.fixed_mb + self.mb_per_example * batch_size

    def largest(self, limit_mb: float, multiple: int = 1) -> int:
        """The largest multiple that stays within the limit; 0 if none does.

        >>> MemoryModel(1000.0, 2.0, 0.0).largest(5000.0, multiple=8)
        2000
        """
        if self.mb_per_example <= 0:
            raise ValueError("memory does not grow with the batch size")
        most = max(0, int((limit_mb - self.fixed_mb) / self.mb_per_example))
        return most - most % multiple

    def through(self, point: MemoryPoint) -> MemoryModel:
        """The line of the same fixed part that goes through a point measured far out."""
        slope = (point.peak_mb - self.fixed_mb) / point.batch_size
        return MemoryModel(self.fixed_mb, slope, self.misfit)


def flat(points: Sequence[MemoryPoint]) -> bool:
    """Whether memory does not depend on the batch size, as far as the ladder went."""
    peaks = [point.peak_mb for point in points]
    return max(peaks) - min(peaks) <= FLAT * max(peaks)


def fit_line(points: Sequence[MemoryPoint]) -> MemoryModel:
    """The line through the largest sizes: small ones hide below what is allocated anyway.

    >>> fit_line([MemoryPoint(b, 300.0 + 2 * b) for b in (1, 2, 4, 8)])
    MemoryModel(fixed_mb=300.0, mb_per_example=2.0, misfit=0.0)
    """
    used = sorted(points, key=lambda point: point.batch_size)[-3:]
    if len(used) < 2:
        return MemoryModel(used[0].peak_mb, 0.0, 0.0)
    middle = sum(point.batch_size for point in used) / len(used)
    mean = sum(point.peak_mb for point in used) / len(used)
    square = sum((point.batch_size - middle) ** 2 for point in used)
    slope = sum((p.batch_size - middle) * (p.peak_mb - mean) for p in used) / square
    model = MemoryModel(mean - slope * middle, slope, 0.0)
    growth = max(abs(used[-1].peak_mb - used[0].peak_mb), 1e-9)
    misfit = max(abs(model.peak_mb(p.batch_size) - p.peak_mb) for p in used) / growth
    return MemoryModel(model.fixed_mb, slope, misfit if misfit > 1e-9 else 0.0)
