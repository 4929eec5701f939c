"""The figures of a report in the order they are read, each with its heading."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tunewright.errors import NotFound
from tunewright.finding import Finding
from tunewright.messages import Message, Text
from tunewright.present import figures as plots
from tunewright.present.figures.figure import Figure
from tunewright.store.results import Results

Figures = tuple[Figure[Any], ...]
Findings = Sequence[Finding] | None


def _isolation(results: Results, findings: Findings) -> Figures:
    del findings
    names: Sequence[str | None] = list(results.round.scientific) or [None]
    return tuple(plots.isolation(results, name) for name in names)


CHAPTERS: dict[str, Callable[[Results, Findings], Figures]] = {
    "isolation": _isolation,
    "progress": lambda r, _: (plots.progress(r),),
    "axis": lambda r, _: (plots.axis(r),),
    "sensitivity": lambda r, f: (plots.sensitivity(r, f),),
    "pair": lambda r, f: (plots.pair(r, findings=f),),
    "curves": lambda r, _: (plots.curves(r),),
    "best_of_k": lambda r, _: (plots.best_of_k(r),),
    "best_step": lambda r, _: (plots.best_step(r),),
    "gradient_norm": lambda r, _: (plots.gradient_norm(r),),
}


@dataclass(frozen=True)
class Chapter:
    """One heading of a report with its figures."""

    kind: str  # of the figures
    figures: Figures
    missing: str = ""  # why there is none

    @property
    def heading(self) -> Text:
        """What the figures show."""
        return Message(f"figure.title.{self.kind}").text


def chapters(
    results: Results, findings: Findings = None, only: Sequence[str] = tuple(CHAPTERS)
) -> Iterator[Chapter]:
    """Every chapter of a report, or why these results cannot fill it."""
    for kind, figures in CHAPTERS.items():
        if kind in only:
            try:
                made = figures(results, findings)
            except NotFound as error:
                yield Chapter(kind, (), str(error))
                continue
            kept = tuple(figure for figure in made if not figure.empty)
            # the caption of an empty figure explains why
            yield Chapter(kind, kept, "" if kept else made[0].says)
