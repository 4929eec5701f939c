"""The figures of a report in the order they are read, each with its heading."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tunewright.errors import NotFound
from tunewright.finding import Finding
from tunewright.present import figures as plots
from tunewright.present.figures.figure import Figure
from tunewright.store.results import Results

Figures = tuple[Figure[Any], ...]
Findings = Sequence[Finding] | None


def _isolation(results: Results, findings: Findings) -> Figures:
    del findings
    names: Sequence[str | None] = list(results.round.scientific) or [None]
    return tuple(plots.isolation(results, name) for name in names)


CHAPTERS: dict[str, tuple[str, Callable[[Results, Findings], Figures]]] = {
    "axis": ("Every trial along every hyperparameter", lambda r, _: (plots.axis(r),)),
    "isolation": ("What the scientific hyperparameters do", _isolation),
    "curves": ("Training curves of the best trials", lambda r, _: (plots.curves(r),)),
    "best_step": ("When the best value was reached", lambda r, _: (plots.best_step(r),)),
    "gradient_norm": ("Gradient norms", lambda r, _: (plots.gradient_norm(r),)),
    "best_of_k": ("Have we sampled enough?", lambda r, _: (plots.best_of_k(r),)),
    "sensitivity": ("Which hyperparameters matter", lambda r, f: (plots.sensitivity(r, f),)),
}


@dataclass(frozen=True)
class Chapter:
    """One heading of a report with its figures."""

    kind: str  # of the figures
    heading: str
    figures: Figures
    missing: str = ""  # why there is none


def chapters(
    results: Results, findings: Findings = None, only: Sequence[str] = tuple(CHAPTERS)
) -> Iterator[Chapter]:
    """Every chapter of a report, or why these results cannot fill it."""
    for kind, (heading, figures) in CHAPTERS.items():
        if kind in only:
            try:
                yield Chapter(kind, heading, figures(results, findings))
            except NotFound as error:
                yield Chapter(kind, heading, (), str(error))
