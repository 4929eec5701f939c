"""When to evaluate and when to save: functions of the step alone, so that all trials agree."""

from __future__ import annotations

EVALUATIONS = 100  # over a whole training
SNAPSHOTS = 10  # periodic ones, over a whole training


def period(max_train_steps: int, times: int) -> int:
    """Every how many steps something happens that should happen about `times` times.

    >>> period(500, EVALUATIONS), period(30, EVALUATIONS)
    (5, 1)
    """
    return max(1, max_train_steps // times)


def due(step: int, max_train_steps: int, times: int) -> bool:
    """Whether it happens at this step: at every multiple of the period, and always at the last.

    >>> [step for step in range(1, 26) if due(step, 25, times=3)]
    [8, 16, 24, 25]
    """
    return step == max_train_steps or step % period(max_train_steps, times) == 0
