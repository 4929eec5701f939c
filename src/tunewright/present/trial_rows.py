"""The trials of a report: best first, then why the others have no value."""

from __future__ import annotations

from dataclasses import dataclass

from tunewright.messages import words
from tunewright.present.answer import settings
from tunewright.present.terminal.round_page import without_fixed
from tunewright.store.results import Results
from tunewright.store.trial import Trial

MOST = 300  # rows; an export has all of them


@dataclass(frozen=True)
class Row:
    """One trial as a reader sees it."""

    number: int | str | None
    study: str
    status: str
    value: str
    best_step: str
    configuration: str
    why: str  # infeasible or failed
    again: str  # the command that reproduces it


@dataclass(frozen=True)
class TrialRows:
    """The rows shown, and how many trials there are."""

    rows: tuple[Row, ...]
    trials: int

    @property
    def left_out(self) -> int:
        """How many trials are not shown."""
        return self.trials - len(self.rows)


def trial_rows(results: Results, most: int = MOST) -> TrialRows:
    """The best trials, then infeasible, failed, pruned, running and pending ones."""
    order = {"infeasible": 1, "failed": 2, "pruned": 3, "running": 4, "pending": 5}
    rest = [t for t in results.trials if t.value is None]
    rest.sort(key=lambda t: (order.get(t.status, 6), t.number or 0))
    ranked = [*results.top(len(results.trials)), *rest]
    hidden = (*without_fixed(results.round), *results.round.scientific)
    return TrialRows(tuple(_row(results, t, hidden) for t in ranked[:most]), len(ranked))


def _row(results: Results, trial: Trial, hidden: tuple[str, ...]) -> Row:
    return Row(
        trial.shown_number,
        results.studies[trial.study].label,
        trial.status,
        words.number(trial.value),
        "-" if trial.best_step is None else str(trial.best_step),
        words.settings(settings(trial.configuration, hidden)),
        str(trial.reason or ""),
        trial.command,
    )
