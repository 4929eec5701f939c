"""How far a running trial is, as its store knows it: for those who do not run it themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from tunewright.store.read_round import Attempt
from tunewright.store.results import Results
from tunewright.store.trial import Trial


@dataclass(frozen=True)
class Standing:
    """How far a running trial is, as far as the store knows."""

    step: int | None  # the last one logged; None: nothing is logged yet
    total: int | None  # max_train_steps by meaning
    seconds: float  # since this attempt began
    rate: float | None  # steps per second of this attempt

    @property
    def left_s(self) -> float | None:
        """The time to the last step at this rate; None where that is not known."""
        if self.step is None or self.total is None or not self.rate or self.step > self.total:
            return None
        return (self.total - self.step) / self.rate


def standing(
    results: Results, trial: Trial, attempts: Sequence[Attempt], now: datetime | None = None
) -> Standing | None:
    """How far a trial is; None unless it runs."""
    running = [one for one in attempts if not one.outcome and one.began is not None]
    if trial.status != "running" or not running:
        return None
    attempt = running[-1]
    assert attempt.began is not None
    seconds = max(0.0, ((now or datetime.now(UTC)) - attempt.began).total_seconds())
    last = [int(curve.steps[-1]) for curve in trial.curves.values() if len(curve)]
    step = max(last, default=None)
    total = trial.configuration.get(results.meaning.name("max_train_steps"))
    done = 0 if step is None else step - attempt.start_step
    rate = done / seconds if done > 0 and seconds > 0 else None
    return Standing(step, total if type(total) is int else None, seconds, rate)
