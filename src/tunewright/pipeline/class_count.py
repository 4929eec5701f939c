"""How many examples of each class are right? For rare classes a share misleads, a count does not.

"Sensitivity rose by 0.05" may be a single example (playbook, "Choosing a sample for periodic
evaluation"), so classes are reported as "k of m" with Wilson's interval.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from tunewright.errors import PipelineError
from tunewright.pipeline.confidence import Interval, wilson

_RARE = 30  # fewer examples than this: the share alone means little


@dataclass(frozen=True)
class ClassCount:
    """The correct examples of one class.

    >>> print(ClassCount(label=7, correct=3, total=4))
    class 7: 3 of 4 correct (0.30 to 0.95), rare
    """

    label: int
    correct: int
    total: int

    @property
    def interval(self) -> Interval:
        """The share that is correct, with Wilson's interval."""
        return wilson(self.correct, self.total)

    @property
    def rare(self) -> bool:
        """Whether the class has fewer than 30 examples."""
        return self.total < _RARE

    def __str__(self) -> str:
        low, high = self.interval.low, self.interval.high
        text = (
            f"class {self.label}: {self.correct} of {self.total} correct ({low:.2f} to {high:.2f})"
        )
        return text + (", rare" if self.rare else "")


def class_counts(correct: Tensor, labels: Tensor) -> tuple[ClassCount, ...]:
    """Correct and total per class, from one 0 or 1 and one label per example.

    >>> [str(c) for c in class_counts(torch.tensor([1, 0, 1]), torch.tensor([5, 5, 9]))]
    ['class 5: 1 of 2 correct (0.09 to 0.91), rare', 'class 9: 1 of 1 correct (0.21 to 1.00), rare']
    """
    if correct.shape != labels.shape or labels.dim() != 1:
        raise PipelineError(
            "metrics.correctness_shape", shape=tuple(correct.shape), labels=tuple(labels.shape)
        )
    if not bool(((correct == 0) | (correct == 1)).all()):
        raise PipelineError("metrics.correctness_not_binary")
    classes, index = torch.unique(labels.cpu(), return_inverse=True)
    totals = torch.bincount(index, minlength=len(classes))
    rights = torch.bincount(index[correct.cpu() == 1], minlength=len(classes))
    return tuple(
        ClassCount(*row)
        for row in zip(classes.tolist(), rights.tolist(), totals.tolist(), strict=True)
    )


def class_changes(before: Iterable[ClassCount], after: Iterable[ClassCount]) -> tuple[str, ...]:
    """What changed per class, in words; a change of fewer than 2 examples is given no difference.

    >>> was = [ClassCount(0, 50, 100), ClassCount(1, 3, 20)]
    >>> now = [ClassCount(0, 70, 100), ClassCount(1, 4, 20)]
    >>> for line in class_changes(was, now):
    ...     print(line)
    class 0: 50 -> 70 of 100 correct (+0.20)
    class 1: 3 -> 4 of 20 correct (fewer than 2 examples: no change to speak of)
    """
    earlier = {count.label: count for count in before}
    lines = []
    for count in after:
        was = earlier.get(count.label)
        if was is None or was.total != count.total:
            lines.append(f"{count} (not comparable: another set of examples)")
            continue
        moved = count.correct - was.correct
        meaning = (
            f"{moved / count.total:+.2f}"
            if abs(moved) >= 2
            else "fewer than 2 examples: no change to speak of"
        )
        lines.append(
            f"class {count.label}: {was.correct} -> {count.correct} of {count.total} correct "
            f"({meaning})"
        )
    return tuple(lines)
