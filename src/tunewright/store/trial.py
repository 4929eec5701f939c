"""A trial: one configuration, what became of it, and its curves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tunewright.design.ranges import Value
from tunewright.measured import Measured
from tunewright.messages import Message, markup, words
from tunewright.store.curves import Curves

# `pruned`: stopped early because it did not look promising, so its value is unknown (censored);
# it is neither infeasible nor failed
# "unmeasured" is judged, never stored: it completed, without the metric that is asked for now
Status = Literal["pending", "running", "completed", "infeasible", "failed", "pruned", "unmeasured"]
ENDED: tuple[Status, ...] = ("completed", "infeasible", "failed", "pruned", "unmeasured")
MOST_SHOWN = 12  # hyperparameters of a trial printed on one line


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One configuration of a study as stored, judged by the results' objective."""

    number: int | None  # round-wide, from 0; a repeat has none
    study: int  # the study's number in its round
    index: int | None  # position in the study's sequence; None when added by hand
    configuration: Mapping[str, Value]  # empty until an adaptive search has filled it
    unit: Mapping[str, float]  # column -> position in the unit cube
    status: Status  # how its training ended, or that it has not
    reason: Message | None = None  # why infeasible, failed or pruned
    value: float | None = None  # the objective; None unless completed
    best_step: int | None = None  # the step the value was reached at
    # every logged metric by its name
    curves: Curves = field(default_factory=lambda: Curves(()), repr=False, compare=False)
    seed: int = 0  # all its seeds follow from it
    attempts: int = 0  # that began
    seconds: float = 0.0  # training time over all attempts
    command: str = ""  # trains it again, at a shell in its project
    started: str = ""  # the command line or the call of the program, as it was started
    parent: int | None = None  # a repeat: the number of the trial it repeats
    identity: int = 0  # the store's key
    folder: str = ""  # relative to the store's folder of trials
    detail: str = field(default="", repr=False)  # traceback or log tail of a failed trial
    search: str = ""  # which search suggested it; analyses of edges use non-adaptive ones only
    origin: tuple[str, int] | None = None  # joined from an earlier round: its name, number there
    peak_memory_mb: float | None = None  # with everything it started; None: not measured
    applied: Mapping[str, Any] | None = None  # the values its program reports it used
    measured: Measured | None = None  # the value with its uncertainty, where that was logged

    @property
    def shown_number(self) -> int | str | None:
        """Its number as `tunewright trial` finds it: joined trials have their own round's."""
        return self.number if self.origin is None else f"{self.origin[1]} of {self.origin[0]}"

    @property
    def _headline(self) -> str:
        facts = {"number": self.shown_number, "status": self.status, "value": self.value}
        return Message("card.trial", {**facts, "step": self.best_step}).text

    def __repr__(self) -> str:
        """What became of it and its configuration, on one line; without curves."""
        shown = words.settings(dict(list(self.configuration.items())[:MOST_SHOWN]))
        more = ", ..." if len(self.configuration) > MOST_SHOWN else ""
        return words.one_line(f"<{self._headline} ({shown}{more})>")

    def _repr_html_(self) -> str:
        """A card for a notebook: what became of it, its configuration, what it took."""
        labels = {
            "seconds": words.duration(self.seconds) if self.seconds else None,
            "memory": None if self.peak_memory_mb is None else words.megabytes(self.peak_memory_mb),
            "seed": self.seed,
            "attempts": self.attempts if self.attempts > 1 else None,
        }
        facts = {**dict(self.configuration)}
        said = [str(self.reason or "")]
        said += [f"{Message(f'card.label.{n}')}: {v}" for n, v in labels.items() if v is not None]
        again = [(self.command, "")] if self.command else []
        return markup.card(self._headline, said, facts=facts, actions=again)

    def bound_of(self, metric: str) -> float | None:
        """The best value of a metric that it could still reach when it was pruned, if known."""
        facts = self.reason.facts if self.status == "pruned" and self.reason is not None else {}
        found = facts.get("bound") if facts.get("metric") == metric else None
        return float(found) if isinstance(found, int | float) else None

    @property
    def ended(self) -> bool:
        """Whether anything more can happen to it."""
        return self.status in ENDED
